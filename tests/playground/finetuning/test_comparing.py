"""Comparisons that are fair, that survive being killed, and that leave files from which they can be made again."""

import csv
import io
import json
import os
import re
import shlex
import signal
import subprocess
import sys
from dataclasses import fields, replace
from functools import cache
from itertools import product
from xml.etree import ElementTree

import pytest
import torch

from playground import cli
from playground.cli.compare import _table as lines_of
from playground.errors import UserError
from playground.finetuning import Comparison, PaintedCell, TrialEvent, find_strategy, find_task, strategies
from playground.finetuning.comparing.budget_matching import (
    FIXED,
    GRID,
    cost,
    held_at_rest,
    list_published,
    matched_steps,
    rescale_cells,
    search_rate,
    with_rate,
)
from playground.finetuning.comparing.compare import compare, judge_curve
from playground.finetuning.comparing.spec import ComparisonSpec
from playground.finetuning.report.notebook import values_of
from playground.finetuning.report.page import FILES, Origin, Report, against, csv_text, page, table
from playground.finetuning.run import trials as running
from playground.finetuning.run.measure import Result
from playground.finetuning.run.record import TrialRecord, fingerprint, identity, key, read_outcome, write_outcome
from playground.finetuning.run.trainer import Base, FinetuneConfig, Finetuner, numbered
from playground.finetuning.run.tune import StepEvent, tune
from playground.finetuning.strategy.find import knobs_of
from playground.finetuning.strategy.parse import read, spell, split
from playground.models import Architecture
from playground.training import checkpoint, train
from playground.training.data import BatchSampler
from tests.runs import ROOT, becomes, learner_of, reviews, run_of, tiny
from widgets.static.comparison import markup, untouched
from widgets.static.svg import outcomes

SENTIMENT = find_task("sentiment")
SETTING = FinetuneConfig(steps=6, batch_size=4)


@cache
def base_of(entry="RoBERTa"):
    learner = learner_of(entry, model={"layers": 2})
    feed = BatchSampler.of(reviews(), 16, 8, 0, learner.device)
    for step in range(3):
        learner.learn(learner.batch(feed.at(step)))
    return Base(learner, feed.evaluation(8), tokenizer=reviews().tokenizer, task=SENTIMENT)


@cache
def texts(count=24, seed=0, split="train"):
    return SENTIMENT.load(reviews().tokenizer, count, seed, split)


def compared(*lines, record=None, train_sizes=(8,), seeds=2, task=None, **more):
    spec = ComparisonSpec(strategies=lines, train_sizes=train_sizes, seeds=seeds, steps=6, **more)
    return list(compare(base_of(), reviews().tokenizer, spec, task=task, batch_size=4, record=record))


def last_of(*lines, **more):
    *_, last = compared(*lines, **more)
    assert isinstance(last, Comparison)
    return last


def numbers(comparison):
    return {name: some for (labels, name), some in curve(comparison).items() if labels == comparison.labels}


def curve(comparison):
    return {
        (labels, name): [(o.accuracy, o.forgetting, o.moved) for o in some]
        for labels, outcomes in comparison.curve.items()
        for name, some in outcomes.items()
    }


# a strategy in one line


LINES = ("full", "full + L2-SP", "mine = gradual unfreezing + L2-SP [embeddings 1-3 x0; top 2-6 x0.5]", "my = adapters")
LINES += ("LoRA(rank=8)", "full + EWC(strength=2, rows=8) [top 2-6 x0.5]", "mine (2) = full + L2-SP(strength=0.5)")


@pytest.mark.parametrize("line", [*LINES, *strategies()])
def test_a_strategy_is_written_and_read_back(line):
    assert spell(read(line)) == line
    assert read(spell(read(line))) == read(line)


@pytest.mark.parametrize("name", [name for name, strategy in strategies().items() if knobs_of(strategy)])
def test_every_knob_of_a_strategy_is_turned_by_name(name):
    for knob, k in knobs_of(find_strategy(name)).items():
        values = k.choices or ((False, True) if isinstance(k.default, bool) else (k.low, k.high))
        other = next(value for value in values if value != k.default)
        made = find_strategy(f"{name}({knob}={other})")
        assert knobs_of(made)[knob].default == other != k.default
        assert {n: v.default for n, v in knobs_of(made).items() if n != knob} == {
            n: v.default for n, v in knobs_of(find_strategy(name)).items() if n != knob
        }
        assert identity(made) != identity(find_strategy(name)), "a record does not mix them up"
        assert find_strategy(made.name) == made


def test_lists_are_cut_at_the_commas_between_strategies():
    assert split("full, EWC(strength=2, rows=8),LoRA(rank=2),") == ["full", "EWC(strength=2, rows=8)", "LoRA(rank=2)"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("LoRA(size=2)", "LoRA has no knob 'size'; its knobs are: rank"),
        ("LoRA(rank=0)", "rank is 0; it must lie between 1 and 64"),
        ("full(rank=2)", "its knobs are: none"),
        ("full [embeddings 1-3]", "'embeddings 1-3' is not a painted cell"),
        ("full [top 1-2 x0] tail", "is not a strategy; write it like"),
        ("full [top 1-2 x1e999e]", "is not a painted cell"),
        ("a;b = full", "The name 'a;b' cannot be used"),
        ("= full", "The name '' cannot be used"),
        ("nope", "no strategy named 'nope'"),
    ],
)
def test_a_line_that_cannot_be_read_is_one_sentence(line, said):
    with pytest.raises(UserError, match=re.escape(said)):
        read(line)


@pytest.mark.parametrize("name", strategies())
def test_the_rows_that_can_be_painted_are_those_of_the_optimiser(name):
    strategy = strategies()[name]
    run = Finetuner(base_of(), strategy, numbered(texts(), base_of()), SETTING, 0)
    assert strategy.rows(base_of().learner.model.shape) == tuple(run.groups)


def test_a_painted_plan_is_what_the_optimiser_uses():
    line = "mine = full + L2-SP [embeddings 1-6 x0; encoder layer 1 3-4 x0.5]"
    outcome = last_of(line, seeds=1).outcomes["mine"][0]
    assert outcome.rates[0].tolist() == [0.0] * 6
    assert outcome.rates[1].tolist() == pytest.approx([4e-3, 4e-3, 2e-3, 2e-3, 4e-3, 4e-3])
    assert outcome.moved[0] == 0.0 < outcome.moved[1]


# looks on the way


def test_looking_changes_nothing_and_ends_where_the_outcome_is():
    plain = list(tune(base_of(), find_strategy("full"), texts(), texts(100, 0, "test"), SETTING, 0))
    looked = list(tune(base_of(), find_strategy("full"), texts(), texts(100, 0, "test"), replace(SETTING, looks=3), 0))
    assert [e.loss for e in plain[:-1]] == [e.loss for e in looked[:-1]]
    assert (plain[-1].accuracy, plain[-1].forgetting) == (looked[-1].accuracy, looked[-1].forgetting)
    looks = [e.look for e in looked[:-1] if e.look]
    assert [e.step for e in looked[:-1] if e.look] == [2, 4, 6]
    assert (looks[-1].accuracy, looks[-1].forgetting) == (looked[-1].accuracy, looked[-1].forgetting)
    assert looks[-1].moved == looked[-1].moved


@pytest.mark.parametrize(
    ("name", "unchanged"), [("adapters", True), ("LoRA", True), ("prefix tuning", True), ("full", False)]
)
def test_whether_old_outputs_are_the_same_bits_is_measured(name, unchanged):
    assert last_of(name, seeds=1).outcomes[name][0].unchanged is unchanged


# fair


def test_a_head_alone_costs_its_own_two_passes_beyond_reading():
    train = texts()
    tokens = SETTING.batch_size * float(train.tokens.lengths.float().mean())
    full, frozen = (cost(base_of(), find_strategy(n), train, SETTING) for n in ("full", "feature-based"))
    assert full.tokens == frozen.tokens == pytest.approx(tokens * SETTING.steps)
    body = sum(p.numel() for n, p in base_of().learner.model.named_parameters() if ".blocks." in n and p.dim() > 1)
    head = 2 * 16
    looks = 2 * 4 * float(train.tokens.lengths.float().mean()) * 16
    assert frozen.flops == pytest.approx((2 * body + 4 * head + looks) * frozen.tokens)
    assert full.flops == pytest.approx((6 * body + 6 * head + 3 * looks) * full.tokens)


def test_what_is_frozen_at_the_top_still_passes_gradients_down():
    steps = FinetuneConfig(steps=4, batch_size=4)
    bottom = read("full [encoder layer 2 1-4 x0]")
    top = read("full [encoder layer 1 1-4 x0; embeddings 1-4 x0]")
    assert cost(base_of(), bottom, texts(), steps).flops > cost(base_of(), top, texts(), steps).flops


@pytest.mark.parametrize("match", ["tokens", "flops"])
def test_matched_trials_cost_the_same_within_one_step(match):
    setting = FinetuneConfig(steps=40, batch_size=4)
    first = find_strategy("full")
    for name in ("replay", "feature-based", "auxiliary LM loss"):
        other = find_strategy(name)
        steps = matched_steps(base_of(), first, other, texts(), setting, match)
        wanted = getattr(cost(base_of(), first, texts(), setting), match)
        one = getattr(cost(base_of(), other, texts(), replace(setting, steps=1)), match)
        got = getattr(cost(base_of(), other, texts(), replace(setting, steps=steps)), match)
        assert abs(got - wanted) <= 2.5 * max(one, wanted / 40), (name, steps)


@pytest.mark.slow
def test_a_frozen_model_gets_more_steps_for_the_same_operations():
    last = last_of("full", "feature-based", "mine = feature-based [task head 1-6 x1]", match="flops")
    steps = {name: got.steps for name, got in last.allotted.items()}
    assert steps["full"] == 6 < steps["feature-based"] == steps["mine"]
    assert [o.plan.shape[1] for o in last.outcomes["mine"]] == [steps["mine"]] * 2


def test_a_strategy_that_trains_nothing_is_none_to_match_the_others_with():
    with pytest.raises(UserError, match=r"match is 'flops', but .* zero-shot prompting, trains nothing"):
        last_of("zero-shot prompting", "full", match="flops")
    assert last_of("full", "zero-shot prompting", match="flops", seeds=1).allotted["full"].steps == 6


def test_it_is_said_where_a_strategy_would_need_more_steps_than_it_gets(monkeypatch):
    monkeypatch.setattr("playground.finetuning.comparing.budget_matching.MOST_TIMES", 2)
    last = last_of("full", "feature-based", match="flops", seeds=1)
    assert last.allotted["feature-based"].steps == 12
    said = "feature-based gets 2 times the steps of the first, not more, so its flops are fewer."
    assert [line for line in last.notices if "times the steps" in line] == [said]


def test_painted_cells_keep_their_share_of_the_steps():
    cells = (PaintedCell("encoder layer 2", 1, 3, 0.0), PaintedCell("encoder layer 2", 4, 6, 2.0))
    painted = find_strategy("full").paint(*cells)
    assert [(c.first, c.last) for c in rescale_cells(painted, 12, 6).painted] == [(1, 6), (7, 12)]
    assert rescale_cells(painted, 3, 6).plan(painted.rows(Architecture()), 3).shape == (4, 3)


def test_rates_are_the_strategys_the_same_for_all_or_the_papers():
    lora = find_strategy("LoRA")
    assert (with_rate(lora, "own").rate, with_rate(lora, "fixed").rate, with_rate(lora, "published").rate) == (
        1e-2,
        FIXED,
        5e-4,
    )
    assert with_rate(find_strategy("top layer only"), "published").rate == FIXED, (
        "no rate was published: it keeps its own"
    )


def test_it_is_said_which_rates_are_published_where_and_which_are_ours():
    chosen = [find_strategy(name) for name in ("LoRA", "feature-based", "zero-shot", "full + L2-SP")]
    assert list_published(chosen) == (
        "Published: LoRA 0.0005 (github.com/microsoft/LoRA, examples/NLU, RoBERTa base on MNLI); full + L2-SP 2e-05 "
        "(github.com/google-research/bert, README, MRPC, for full alone). Not stated in any source that we found, "
        "so ours: feature-based 0.01."
    )
    assert list_published(chosen[1:2]).startswith("Published: none of these. Not stated")


def test_every_trial_says_whose_rate_it_took_and_only_what_differs_here_sets_it_apart():
    facts = {rates: last_of("full", "adapters", lr_policy=rates, seeds=1).facts() for rates in ("fixed", "published")}
    assert [s["rate_from"] for s in facts["fixed"]["strategies"]] == ["one for all", "one for all"]
    first = facts["published"]["strategies"][0]
    assert (first["rate_from"], first["rate_where"]) == ("published", "github.com/google-research/bert, README, MRPC")
    assert "learning rate" not in facts["fixed"]["differences"][0], "one rate for all is no difference"
    assert "learning rate: 2e-05 vs. 0.0003" in facts["published"]["differences"][0]
    matched = last_of("full", "feature-based", match="flops", seeds=1)
    steps = [str(matched.allotted[name].steps) for name in ("full", "feature-based")]
    assert ("steps", *steps) in matched.facts()["unlike"][0]["things"]


def test_what_a_step_holds_is_what_autograd_keeps():
    held = {name: last_of(name, seeds=1).allotted[name].held for name in ("full", "feature-based")}
    sizes = {name: 4 * last_of(name, seeds=1).outcomes[name][0].trainable for name in ("full", "feature-based")}
    for name, size in sizes.items():
        assert held[name]["learning"] == 3 * size, "a gradient and two running means for every weight that learns"
    assert 0 < held["feature-based"]["activations"] < held["full"]["activations"]
    rests = held_at_rest(base_of().learner.model)
    assert rests["learning"] == rests["activations"] == 0 < rests["weights"]


def test_a_search_has_the_same_budget_for_all_and_never_sees_the_texts_it_judges_by(monkeypatch):
    seen = []

    def watched(base, strategy, train, test, setting, seed):
        rows = [{tuple(r) for r in part.tokens.ids.tolist()} for part in (train, test)]
        seen.append((strategy.rate, len(train.labels), len(test.labels), not rows[0] & rows[1]))
        return tune(base, strategy, train, test, setting, seed)

    monkeypatch.setattr("playground.finetuning.comparing.budget_matching.tune", watched)
    for name in ("full", "adapters"):
        seen.clear()
        assert search_rate(base_of(), find_strategy(name), texts(16), SETTING, 0) in GRID
        assert [rate for rate, *_ in seen] == list(GRID)
        assert {(a, b) for _, a, b, _ in seen} == {(12, 4)}
    with pytest.raises(UserError, match="train_size is 6"):
        search_rate(base_of(), find_strategy("full"), texts(6), SETTING, 0)


@pytest.mark.slow
def test_several_numbers_of_labels_make_a_curve():
    last = last_of("full", "feature-based", train_sizes=(16, 4))
    assert (list(last.curve), last.labels) == ([4, 16], 16)
    facts = last.facts()
    assert [p["labels"] for p in facts["curve"]] == [4, 16]
    assert facts["curve"][1]["strategies"][0]["accuracy"] == facts["strategies"][0]["accuracy"]
    assert numbers(last) == numbers(last_of("full", "feature-based", train_sizes=(16,)))


def test_every_strategy_is_held_against_the_first_with_an_interval():
    none = torch.zeros(1, 1)

    def some(*values):
        return tuple(Result(v, 0.0, 1, 1, 0.0, ("task head",), none, none, (0.0,)) for v in values)

    three = {"a": some(0.5, 0.6, 0.7), "b": some(0.6, 0.71, 0.79), "c": some(0.55, 0.58, 0.75)}
    better, noise = judge_curve({8: three})[1][8]
    assert better["comparisons"] == 3, "both against the first, and the best against the runner-up"
    assert (better["name"], better["against"], better["larger"], better["said"]) == ("b", "a", True, "better")
    assert better["difference"] == pytest.approx(0.1)
    assert better["low"] < better["difference"] < better["high"]
    assert better["low"] == pytest.approx(0.1 - 4.303 * 0.01 / 3**0.5, abs=1e-3)
    assert noise["larger"] is False
    [equal] = judge_curve({8: {"a": some(0.5, 0.6), "b": some(0.6, 0.7)}})[1][8]
    assert (equal["larger"], equal["low"], equal["seeds_needed"]) == (False, None, 6)
    assert equal["said"].startswith("2 exactly equal gaps say nothing about the noise")
    assert "within the noise" in noise["said"] and f"about {noise['seeds_needed']} seeds" in noise["said"]


# killed and resumed


def test_an_outcome_comes_back_to_the_last_bit():
    outcome = last_of("layer mix", seeds=1).outcomes["layer mix"][0]
    back = read_outcome(json.loads(json.dumps(write_outcome(outcome))))
    tensors = {name: getattr(outcome, name) for name in ("plan", "rates", "mix")}
    assert all(torch.equal(getattr(back, name), tensor) for name, tensor in tensors.items())
    assert replace(back, **tensors) == outcome


@pytest.mark.slow
def test_trials_that_are_known_are_not_run_again(tmp_path):
    record = TrialRecord.open(tmp_path, resume=False)
    whole = last_of("full", "feature-based", record=record, lr_policy="tuned")
    events = compared("full", "feature-based", record=TrialRecord.open(tmp_path, resume=True), lr_policy="tuned")
    assert not [e for e in events if isinstance(e, TrialEvent) and isinstance(e.event, StepEvent)]
    assert numbers(events[-1]) == numbers(whole)
    more = compared("full", "feature-based", seeds=3, record=TrialRecord.open(tmp_path, resume=True), lr_policy="tuned")
    assert {e.seed for e in more[:-1] if isinstance(e.event, StepEvent)} == {2}


@pytest.mark.parametrize("split", ["train", "test"])
def test_trials_are_run_again_where_labels_of_the_same_texts_changed(split, tmp_path):
    def turned(count, seed, part):
        items = SENTIMENT.items(count, seed, part)
        return [replace(item, right=1 - item.right) for item in items] if part == split else items

    last_of("full", record=TrialRecord.open(tmp_path, resume=False))
    other = replace(SENTIMENT, items=turned)
    resumed = last_of("full", task=other, record=TrialRecord.open(tmp_path, resume=True))
    assert numbers(resumed) == numbers(last_of("full", task=other))


def test_half_a_line_is_cut_off_and_the_trial_is_run_again(tmp_path):
    whole = last_of("full", "feature-based", record=TrialRecord.open(tmp_path, resume=False))
    path = tmp_path / TrialRecord.file
    path.write_bytes(path.read_bytes()[:-40])
    events = compared("full", "feature-based", record=TrialRecord.open(tmp_path, resume=True))
    assert len({(e.strategy.name, e.seed) for e in events[:-1] if isinstance(e.event, StepEvent)}) == 1
    assert numbers(events[-1]) == numbers(whole)
    assert len(path.read_text(encoding="utf-8").splitlines()) == 4
    TrialRecord.open(tmp_path, resume=False)
    assert path.read_text(encoding="utf-8") == ""


def test_a_trial_is_known_by_everything_on_which_its_numbers_depend():
    full = find_strategy("full")
    here = key(full, 0, 64, SETTING, "base")
    assert key(replace(full, name="other", idea="x"), 0, 64, SETTING, "base") == here
    others = [
        key(replace(full, rate=1e-3), 0, 64, SETTING, "base"), key(full, 1, 64, SETTING, "base"),
        key(full, 0, 32, SETTING, "base"), key(full, 0, 64, replace(SETTING, steps=7), "base"),
        key(full, 0, 64, SETTING, "other"),
        key(full.paint(PaintedCell("embeddings", 1, 2, 0.0)), 0, 64, SETTING, "base"),
    ]  # fmt: skip
    assert len({here, *others}) == 7
    gone, there = base_of(), replace(base_of(), rehearsal=lambda: base_of().held_out)
    assert fingerprint(gone) != fingerprint(there), "forgetting is measured on other rows"
    assert len({json.dumps(identity(s)) for s in strategies().values()}) == len(strategies())


@pytest.fixture
def trained(tmp_path, monkeypatch):
    """A folder with a tiny run, and the working directory beside it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    list(train(run_of(entry=tiny(model={"layers": 2}), out=tmp_path / "base", steps=4)))
    return tmp_path / "base"


@pytest.mark.guarded
@pytest.mark.slow
def test_a_comparison_that_is_killed_goes_on_where_it_was(trained, capsys):
    """Kill -9 while trials run: those that were finished are kept, and the end is the same as without."""
    quick = "--train-size 8 --seeds 3 --tuning-steps 30"
    asked = ["compare", "base", "--strategies", "full,full + L2-SP", *quick.split()]
    command = [sys.executable, "-m", "playground", *asked, "--out", "result"]
    log = trained.parent / "result" / TrialRecord.file
    home = os.environ | {"PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(command, cwd=trained.parent, env=home, stderr=subprocess.DEVNULL)
    assert becomes(lambda: process.poll() is not None or (log.exists() and log.read_text().count("\n") >= 2), 120)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    kept = log.read_text(encoding="utf-8").count("\n")
    assert 2 <= kept < 6
    times = [json.loads(line)["value"]["seconds"] for line in log.read_text(encoding="utf-8").splitlines()[:2]]
    assert cli.main([*asked, "--out", "result", "--resume", "--json"]) == 0
    resumed = json.loads(capsys.readouterr().out)
    assert [json.loads(line)["value"]["seconds"] for line in log.read_text().splitlines()[:2]] == times
    assert cli.main([*asked, "--out", "fresh", "--json"]) == 0
    fresh = json.loads(capsys.readouterr().out)
    for one, other in zip(resumed["strategies"], fresh["strategies"], strict=True):
        assert all(one[name] == other[name] for name in ("accuracy", "forgetting", "moved"))


# the result as files


@cache
def made():
    asked = ComparisonSpec("base", strategies=("full", "a <b> = adapters"), train_sizes=(4, 8), seeds=2, steps=6)
    last, origin = last_of(*asked.strategies, train_sizes=(4, 8)), Origin("RoBERTa", 0, 3, "reviews", "abc123")
    return Report(last, asked, origin, outcomes)


def test_the_table_has_a_row_for_every_trial_with_its_seed_and_the_corpus():
    rows = list(csv.DictReader(io.StringIO(table(made()).decode())))
    assert len(rows) == 2 * 2 * 2
    assert {(r["strategy"], r["seed"], r["labels"]) for r in rows} == {
        (s, k, n) for s in ("full", "a <b>") for k in "01" for n in "48"
    }
    assert {r["corpus_hash"] for r in rows} == {"abc123"}
    [first] = [r for r in rows if (r["strategy"], r["seed"], r["labels"]) == ("full", "0", "8")]
    assert float(first["accuracy"]) == made().comparison.outcomes["full"][0].accuracy


def test_a_table_for_a_spreadsheet_holds_no_formula():
    """The same as `csvText` of the page, whose test stands in tests/js."""
    cells = [['=HYPERLINK("x")', "+1+1", "@SUM(A1)", "\t=1", "\r=1", "-1+1"]]
    cells += [["a, b", 'so "x"', "-0.5", "1e-05", -3, "two\nlines"]]
    safe = [["'" + cell for cell in cells[0]], ["a, b", 'so "x"', "-0.5", "1e-05", "-3", "two\nlines"]]
    assert list(csv.reader(io.StringIO(csv_text(cells), newline=""))) == safe


def test_a_gap_is_in_the_unit_of_its_task():
    gap = {"name": "LoRA", "against": "full", "difference": 0.1, "low": None, "said": "better"}
    assert against(gap) == "LoRA against full: +0.100: better.", "which may be a correlation"


def test_the_page_needs_nothing_from_elsewhere_and_treats_names_as_text():
    said = page(made()).decode()
    assert "<script" not in said and "http" not in said.replace("http://www.w3.org/2000/svg", "")
    assert "a &lt;b&gt;" in said and "<b>" not in said
    for part in ("<svg", "<table", "abc123", "playground compare base", "95 % interval", "torch"):
        assert part in said, part


def test_the_picture_has_a_dot_for_every_trial_and_a_band_for_every_strategy():
    drawn = ElementTree.fromstring(FILES["comparison.svg"](made()))
    assert len(drawn.findall("{*}circle")) == 8
    texts = [text.text for text in drawn.findall("{*}text")]
    assert {"full", "a <b>", "accuracy on unseen texts", "forgetting in nats"} <= set(texts)
    assert len(drawn.findall("{*}rect")) == 1 + 2 * 2, "the paper, and the band of each strategy in each panel"


@cache
def without_head():
    """A base that cannot score words, such as a folder of a plain BertModel."""
    learner = learner_of("RoBERTa", model={"layers": 2, "lm_head": False})
    held_out = base_of().held_out
    return Base(learner, held_out, lambda: held_out, tokenizer=reviews().tokenizer, task=SENTIMENT)


def test_forgetting_that_is_not_measured_is_a_dash_and_null_and_never_0(tmp_path):
    spec = ComparisonSpec(strategies=("full", "feature-based", "adapters"), train_sizes=(4, 8), seeds=2, steps=4)

    def events():
        record = TrialRecord.open(tmp_path, resume=True)
        return list(compare(without_head(), reviews().tokenizer, spec, batch_size=4, looks=1, record=record))

    *trials, last = events()
    looks = [trial.event.look for trial in trials if isinstance(trial.event, StepEvent) and trial.event.look]
    assert looks and {look.forgetting for look in looks} == {None}
    report = Report(last, spec, Origin("RoBERTa", 0, 3, "a", "b"), outcomes)
    facts = json.loads(FILES["comparison.json"](report))
    points = [*facts["strategies"], *(s for point in facts["curve"] for s in point["strategies"])]
    assert {s["forgetting"] for s in points} == {None} == {s["plugged_in"] for s in facts["strategies"]}
    assert sum("Forgetting is not measured" in line for line in facts["notices"]) == 1
    assert page(report).decode().count("<td>–</td>") == markup(facts, differences=True).count("<td>–</td>") == 3
    assert "forgetting in" not in report.figure() and {row["forgetting"] for row in report.rows()} == {None}
    assert all(" – " in line for line in lines_of(facts)[2:5])
    assert "with the modules attached, the pre-training loss is not measured" in untouched(last)
    assert values_of(facts)["forgetting"]["8 labels, full"] == []
    assert not any(isinstance(trial.event, StepEvent) for trial in events()[:-1]), "the record has them all"


def test_which_rows_are_measured_does_not_depend_on_who_rehearses(trained, monkeypatch):
    """Where the text of a run is gone, the held-out rows are divided for all strategies alike."""
    saved = checkpoint.load(trained)

    def outcome(*lines):
        spec = ComparisonSpec(strategies=lines, train_sizes=(8,), seeds=1, steps=3)
        *_, last = compare(spec.start(saved), saved.tokenizer, spec, batch_size=4)
        return last.outcomes["full"][0].forgetting, [line for line in last.notices if "is missing" in line]

    for text, number in ((lambda _: reviews(), 0), (gone, 1)):
        monkeypatch.setattr("playground.finetuning.run.base.corpus_of", text)
        (alone, said), (among, also) = outcome("full"), outcome("full", "replay")
        assert alone == among
        assert len(said) == len(also) == number


def gone(_):
    raise UserError("It is not there any more.")


@pytest.mark.slow
def test_the_numbers_are_the_same_with_any_number_of_workers_and_threads(monkeypatch):
    lines, threads, tune = ("random start", "full"), [], running.tune

    def watched(*given):
        threads.append(torch.get_num_threads())
        return tune(*given)

    monkeypatch.setattr(running, "tune", watched)
    alone = curve(last_of(*lines, train_sizes=(4, 8)))
    torch.set_num_threads(2)
    try:
        for workers, company in product((1, 2), (lines, (*lines[::-1], "replay"))):
            assert curve(last_of(*company, train_sizes=(4, 8), workers=workers)).items() >= alone.items()
        assert torch.get_num_threads() == 2, "as it was"
    finally:
        torch.set_num_threads(1)
    assert len(threads) >= 12 and set(threads) == {1}


TURNED = {
    "task": "topic", "strategies": ("static and contextual", "mine = full + L2-SP [embeddings 1-2 x0]"),
    "train_sizes": (4, 8), "seeds": 2, "seed": 3, "steps": 5, "match": "flops", "lr_policy": "published",
    "input_format": "BERT", "parallelism": "vmap", "extra_encoders": ("base",), "then": ("topic", "entailment"),
    "max_length": 9,
}  # fmt: skip


@pytest.mark.parametrize("name", TURNED)
def test_the_command_line_asks_for_all_that_was_asked_for(trained, name, monkeypatch):
    assert set(TURNED) == {f.name for f in fields(ComparisonSpec)} - {"base", "workers"}, "which change no number"
    more = {"strategies": TURNED["strategies"]} if name == "extra_encoders" else {}
    spec, asked = ComparisonSpec("base", **{name: TURNED[name]} | more), []
    monkeypatch.setattr(ComparisonSpec, "start", lambda given, _: asked.append(given) or gone(given))
    assert cli.main(shlex.split(spec.command())[1:]) == 2
    assert [replace(each, base="base") for each in asked] == [spec]


@pytest.mark.slow
def test_the_command_line_on_the_page_makes_the_same_numbers_again(trained, capsys):
    line = ["compare", str(trained), "--strategies", "full,mine = full + L2-SP [embeddings 1-2 x0],adapters"]
    more = "--train-size 4,8 --seeds 2 --seed 3 --tuning-steps 5 --match flops --out first --json"
    assert cli.main([*line, *more.split()]) == 0
    said = json.loads(capsys.readouterr().out)
    words = shlex.split(said["provenance"]["command"])
    assert words[0] == "playground"
    assert cli.main([*words[1:], "--json"]) == 0
    again = json.loads(capsys.readouterr().out)
    for what in ("curve", "verdict", "differences", "against_first", "labels", "seeds"):
        assert again[what] == said[what], what


@pytest.mark.slow
def test_the_notebook_runs_by_papermill_and_finds_what_was_on_screen(trained, monkeypatch):
    """A kernel is started, which takes seconds; it works where the notebook lies, as in JupyterLab."""
    import nbformat  # two seconds, which no other test of this file needs
    import papermill

    quick = "--train-size 8 --seeds 2 --tuning-steps 5 --out result"
    assert cli.main(["compare", "base", "--strategies", "full,adapters", *quick.split()]) == 0
    path = trained.parent / "result" / "comparison.ipynb"
    nbformat.validate(nbformat.read(path, as_version=4))
    assert {"base", "strategies", "train_sizes", "seeds", "steps"} <= set(papermill.inspect_notebook(path))
    monkeypatch.setenv("PYTHONPATH", f"{ROOT}:{os.environ.get('PYTHONPATH', '')}")
    done = papermill.execute_notebook(
        path, path.with_name("done.ipynb"), kernel_name="python3", progress_bar=False, cwd=str(path.parent)
    )
    said = "".join(o.get("text", "") for c in done.cells for o in c.get("outputs", ()))
    assert "differ from those on screen by at most 0.0000" in said
