"""The command line: promised JSON, honest exit codes, one sentence for every mistake."""

import json
import re
import subprocess
import sys
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import NotRequired, TypedDict, is_typeddict

import pytest
import torch
from pydantic import ValidationError

from playground import cli
from playground.corpora import open_corpus
from playground.corpora.sources import read_name, sources
from playground.errors import UserError
from playground.finetuning import FIRST_CHOICE, strategies, tasks
from playground.inventory import inventory
from playground.knob import knobs
from playground.models import Architecture
from playground.objectives import GROUPS, find_objective, objectives
from playground.objectives.mask_overrides import to_json
from playground.trace.rebuild import SENTENCE
from playground.training.checkpoint import load
from playground.training.data import BatchSampler
from playground.training.observe.replay import load as load_replay
from playground.training.store import ready_made
from playground.training.store.metrics import EvaluationRow, StepRow
from playground.training.store.runs import Runs
from playground.training.train_state import TrainState
from playground.zoo import Recipe, entries, entry_named
from tests import json_keys
from tests.papers.test_survey_table import ROWS
from tests.runs import ENTRIES, every_entry_or_kind, reviews, tiny
from widgets.state.stage import by_hand
from widgets.state.stage.store import StageStore

ROOT = Path(__file__).parents[2]
SCRIPT = "<script>alert(1)</script>"
TINY = [a for knob in ("width=16", "heads=2", "layers=1", "seq_len=16", "batch_size=4") for a in ("--set", knob)]


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PLAYGROUND_HOME", str(tmp_path))  # of a command of its own too


@pytest.fixture
def text():
    """A small text file that speaks the language of the sentiment task."""
    corpus = reviews(4_000)
    file = Path("reviews.txt")
    file.write_text(corpus.tokenizer.join(corpus.ids.tolist()).replace("[SEP]", "\n\n"), encoding="utf-8")
    return str(file)


@pytest.fixture
def small(monkeypatch):
    """Corpora by their names, each of a few thousand tokens."""
    for command in ("objective", "train"):
        monkeypatch.setattr(f"playground.cli.{command}.open_corpus", partial(open_corpus, tokens=6_000))


@pytest.fixture
def call(capsys):
    """Call the command line: exit status, standard output, standard error."""

    def run(*arguments):
        try:
            status = cli.main([str(a) for a in arguments])
        except SystemExit as leaving:
            status = leaving.code
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return run


@pytest.fixture
def facts(call):
    """The JSON object of a command that goes well, as declared; nothing else may stand on standard output."""

    def run(*arguments):
        status, out, err = call(*arguments, "--json")
        assert status == 0, err
        return json_keys.read(arguments[0], out)

    return run


def pair_for(name):
    """The second text that an objective cannot do without."""
    seconds = {"translation": "Comment vas-tu ?", "answer": "2.57", "distance": "Now it is late ."}
    return next((["--pair", seconds[need]] for need in find_objective(name).needs if need in seconds), [])


GUESSED = ("label:phrase", "label:mention", "label:language")
TYPED = [n for n, o in objectives().items() if not any(k.startswith("label:") and k not in GUESSED for k in o.needs)]
"""The objectives that a typed text can give; the others need labels that only a corpus knows."""


# what is printed with --json


@pytest.mark.parametrize("command", sorted(json_keys.answers_in_json()))
def test_a_command_declares_what_it_prints_as_json(command):
    assert all(is_typeddict(kind) or is_dataclass(kind) for kind in json_keys.facts_of(command))


class _Part(TypedDict):
    share: float
    words: NotRequired[list[str]]


@dataclass
class _Whole:
    name: str
    parts: dict[str, _Part]
    pair: tuple[str, int] | None = None


WHOLE = {"name": "a", "parts": {"x": {"share": 1, "words": ["b"]}}, "pair": ["c", 2]}


def test_what_is_declared_is_accepted():
    json_keys.check(json.dumps(WHOLE), _Whole)
    json_keys.check(json.dumps(WHOLE | {"parts": {"y": {"share": 0.5}}, "pair": None}), _Part, _Whole)


@pytest.mark.parametrize(
    "wrong",
    [
        {"more": 1}, {"name": 1}, {"name": None}, {"pair": ["c", 2.5]}, {"pair": ["c"]}, {"parts": {"x": {}}},
        {"parts": {"x": {"share": "1"}}}, {"parts": {"x": {"share": 1, "more": 1}}},
        {"parts": {"x": {"share": 1, "words": [1]}}},
    ],
)  # fmt: skip
def test_what_is_not_declared_is_seen(wrong):
    with pytest.raises(ValidationError):
        json_keys.check(json.dumps(WHOLE | wrong), _Whole)


# objective


@pytest.mark.parametrize("name", TYPED)
def test_objective_keeps_its_promises(name, facts):
    said = facts(
        "objective", name, "--text", "I am happy to join . We walk with you today .", "--seed", 4, *pair_for(name)
    )
    assert said["objective"] == name
    assert said["seed"] == 4
    assert said["text"] == "I am happy to join . We walk with you today ."
    for key in ("inputs", "targets"):
        assert said[key]
        assert all(isinstance(word, str) for word in said[key])
    assert len(said["scored"]) == len(said["targets"])
    assert set(said["scored"]) <= {0, 1}
    assert said["leak"] is False
    assert isinstance(said["plan"], dict)
    for rows in said["attention_mask"].values():
        assert len({len(row) for row in rows}) == 1
        assert {cell for row in rows for cell in row} <= {0, 1}
    stacks = {"content", "query"} if said["reader"] == "query" else {"encoder"}
    stacks = {"encoder", "decoder", "cross"} if said["decoder_inputs"] else stacks
    assert set(said["attention_mask"]) == stacks


@pytest.mark.parametrize("name", TYPED)
def test_objective_for_people_shows_inputs_targets_and_leak(name, call):
    status, out, err = call("objective", name, "--text", "I am happy . You are here .", *pair_for(name))
    assert (status, err) == (0, "")
    for word in ("inputs", "targets", "scored", "plan", "leak", "■"):
        assert word in out


def test_the_default_text_is_the_surveys(facts):
    assert facts("objective", "LM")["text"] == SENTENCE


def test_the_seed_decides_and_a_plan_overrides_it(facts):
    one, again, other = (facts("objective", "MLM", "--set", "mask_ratio=0.5", "--seed", s) for s in (1, 1, 2))
    assert one == again
    assert one["plan"]["chosen"] != other["plan"]["chosen"]
    planned = facts("objective", "MLM", "--plan", "chosen=3,8", "actions=mask,keep", "--seed", 2)
    assert planned["inputs"] == "I am [MASK] to join with you today".split()
    assert planned["scored"] == [0, 0, 1, 0, 0, 0, 0, 1]


@pytest.mark.parametrize("name", TYPED)
def test_the_plan_it_prints_can_be_given_back(name, facts):
    words = ["--text", "I am happy to join . We walk with you today .", *pair_for(name)]
    said = facts("objective", name, *words, "--seed", 4)
    pairs = {k: v if isinstance(v, list) else [v] for k, v in said["plan"].items()}
    told = [f"{k}={','.join(spelt(v) for v in values)}" for k, values in pairs.items()]
    again = facts("objective", name, *words, "--seed", 4, *(["--plan", *told] if told else []))
    assert {k: again[k] for k in ("inputs", "targets", "scored", "plan", "attention_mask")} == {
        k: said[k] for k in ("inputs", "targets", "scored", "plan", "attention_mask")
    }


def test_a_saved_plan_is_replayed_from_its_file(tmp_path, facts, call):
    said = facts("objective", "T5 spans", "--seed", 3)
    whole, alone = tmp_path / "whole.json", tmp_path / "alone.json"
    whole.write_text(json.dumps(said))
    alone.write_text(json.dumps(said["plan"]))
    for path in (whole, alone):
        again = facts("objective", "T5 spans", "--seed", 9, "--plan", f"@{path}")
        assert (again["inputs"], again["targets"], again["plan"]) == (said["inputs"], said["targets"], said["plan"])
    edited = facts("objective", "T5 spans", "--plan", f"@{whole}", "spans=1:1")
    assert edited["plan"] == {"spans": ["1:1"]}
    for text, fragment in (("[1]", "holds no plan"), ("{", "holds no plan"), (None, "could not be read")):
        alone.unlink() if text is None else alone.write_text(text)
        status, out, err = call("objective", "MLM", "--plan", f"@{alone}")
        assert (status, out) == (2, "")
        assert fragment in err


def spelt(value):
    return ":".join(map(str, value)) if isinstance(value, list) else str(value)


def test_a_script_is_spelt_out_to_the_last_bracket(facts):
    assert "".join(facts("objective", "LM", "--text", SCRIPT)["targets"]) == SCRIPT


@pytest.mark.parametrize("words", ["naïve café", "我们 在 这里", "a", "😀 😀", 'She said "no".', "-", "x" * 500])
def test_any_text_with_a_word_in_it_is_shown(words, facts):
    assert facts("objective", "MLM", f"--text={words}")["inputs"]


def test_a_text_may_come_from_a_file(facts):
    Path("some.txt").write_text("We walk here now.", encoding="utf-8")
    assert facts("objective", "LM", "--file", "some.txt")["targets"] == "We walk here now .".split()


@pytest.mark.parametrize("name", ["label-aware MLM", "NSP", "phrase masking"])
@pytest.mark.usefixtures("small")
def test_a_row_of_a_corpus_has_its_labels_and_its_neighbours(name, facts):
    """What a typed text does not say: whether it praises, what stands after it, what a phrase is."""
    corpus = {"label-aware MLM": "reviews"}.get(name, "world")
    said = facts("objective", name, "--corpus", corpus, "--row", 3)
    objective, opened = find_objective(name), open_corpus(corpus, tokens=6_000)
    rows = BatchSampler.of(opened, 32, 1, 0, torch.device("cpu"), objective.needs).held_out
    assert said["text"] == opened.tokenizer.join(rows.ids[3][rows.valid[3]].tolist())
    assert sum(said["scored"]) > 0
    assert said["notice"] == "", "nothing of it is guessed"
    assert facts("objective", name, "--corpus", corpus)["text"] != said["text"]
    if name == "NSP":
        first = said["inputs"].index("[SEP]")
        second = [opened.tokenizer.words[k] for k in rows.neighbours["next"].ids[3].tolist()]
        after = facts("objective", name, "--corpus", corpus, "--row", 3, "--plan", "pair=next")
        assert after["inputs"][first + 1 : -1] == [word for word in second if word != "[PAD]"]


def test_a_row_of_a_persons_own_file_comes_with_what_was_left_out_of_it(call):
    rows = "".join(f"{k},the {k} hens sleep in this barn .\n" for k in range(200))
    Path("mine.csv").write_text(f"number,text\n{rows}", encoding="utf-8")
    status, _, err = call("objective", "MLM", "--corpus", "mine.csv", "--row", 1)
    assert status == 0 and "left out: 'number'" in err
    call("train", "RoBERTa", *TINY, "--steps", 2, "--corpus", "mine.csv", "--out", "here")
    err = call("train", "--fork", "here", "--steps", 4, "--corpus", "mine.csv")[2]
    assert err.count("left out: 'number'") == 1


@pytest.mark.slow
def test_it_is_a_program_of_its_own():
    command = [sys.executable, "-m", "playground", "objective", "MLM", "--json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["objective"] == "MLM"


# table


def printed(said):
    return {row["row"]: (row["survey"]["inputs"], row["survey"]["targets"]) for row in said["rows"]}


SURVEY = {row: (inputs, targets) for row, (_, _, inputs, targets) in ROWS.items()}


def test_the_table_is_the_surveys(facts):
    said = facts("table")
    assert printed(said) == SURVEY
    assert list(printed(said)) == list(SURVEY)
    promised = {"objective", "text", "seed", "inputs", "targets", "scored", "attention_mask", "leak", "plan"}
    assert all(promised <= set(row) for row in said["rows"])


@pytest.mark.parametrize("seed", [0, 5])
def test_the_table_is_the_surveys_when_the_plan_is_given(seed, facts):
    plans = [f"{row}:{key}={value}" for row, (_, plan, _, _) in ROWS.items() for key, value in plan.items()]
    assert printed(facts("table", "--text", SENTENCE, "--seed", seed, "--plan", *plans)) == SURVEY


def test_a_plan_without_a_row_holds_for_every_row_that_has_its_key(facts):
    rows = printed(facts("table", "--seed", 1, "--plan", "spans=3:3"))
    assert rows["Span Mask"] == SURVEY["Span Mask"]
    assert rows["Text Infilling"] == SURVEY["Text Infilling"]


def test_the_table_for_people_has_a_line_for_every_row(call):
    status, out, _ = call("table")
    assert status == 0
    assert [line.split("  ")[0].strip() for line in out.splitlines()] == list(SURVEY)
    assert all(f"->  {targets}" in out for _, targets in SURVEY.values())


def test_the_table_of_another_text_is_about_that_text(facts):
    said = facts("table", "--text", SCRIPT)
    assert {row["text"] for row in said["rows"]} == {SCRIPT}
    assert len(said["rows"]) + len(said["left_out"]) == len(SURVEY)


# train


@pytest.fixture
def text_of(text, monkeypatch):
    """The text file for an entry, or a little of its own corpus where it needs labels or translations."""

    def choose(name):
        entry = entries()[name]
        if not any(need.startswith(("label:", "translation", "answer")) for need in entry.objective.needs):
            return text
        monkeypatch.setattr("playground.cli.train.open_corpus", small_corpus)
        return entry.corpus

    return choose


small_corpus = cache(partial(open_corpus, tokens=20_000))


@every_entry_or_kind
def test_train_keeps_its_promises(name, facts, text, text_of):
    corpus = text_of(name)
    said = facts("train", name, "--corpus", corpus, "--steps", 3, *TINY, "--out", "here", "--seed", 2)
    assert (said["entry"], said["corpus"], said["seed"]) == (name, corpus, 2)
    assert said["device"].split(":")[0] == ("cuda" if torch.cuda.is_available() else "cpu")
    assert (said["steps"], said["out"], said["stopped"]) == (3, "here", "steps")
    for number in (said["seconds"], said["unigram_entropy"], said["loss"]["train"], said["loss"]["held_out"]):
        assert isinstance(number, float)
        assert number > 0
    assert said["tokens_per_second"] > 0
    written = {"checkpoint.safetensors", "metrics.jsonl", "moments.safetensors", "run.json"}
    written |= {f"text-{said['corpus_hash']}.safetensors"} if corpus == text else set()  # a file may be gone one day
    assert {p.name for p in Path("here").iterdir()} == written
    assert json.loads(Path("here/run.json").read_text(encoding="utf-8")) == said


@pytest.mark.parametrize("name", ["NSP", "SOP"])
def test_train_says_how_often_two_texts_are_judged_right(name, facts, text):
    said = facts("train", name, "--corpus", text, "--steps", 2, *TINY, "--out", "here")
    assert set(said["accuracy"]) == {"pair"}
    assert 0.0 <= said["accuracy"]["pair"] <= 1.0
    learner = load("here").learner
    assert said["parameters"] == sum(p.numel() for p in learner.model.parameters()) > 1000
    assert json.loads(Path("here/run.json").read_text(encoding="utf-8")) == said
    lines = Path("here/metrics.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json_keys.check(line, StepRow, EvaluationRow) for line in lines]
    assert [row["accuracy"] for row in rows if "accuracy" in row][-1] == said["accuracy"]


@pytest.mark.usefixtures("small")
def test_train_says_what_its_probes_found(facts):
    probes = facts("train", "BERT", "--corpus", "world", "--steps", 2, *TINY)["probes"]
    assert probes
    assert all(0.0 <= share <= 1.0 for share in probes.values())


def test_train_for_people_names_both_losses_and_the_entropy(call, text):
    status, out, err = call("train", "BERT", "--corpus", text, "--steps", 2, *TINY)
    assert status == 0
    for word in ("held out", "nats; ", "unigram entropy", "tokens/s", "runs/BERT-reviews-seed0"):
        assert word in out
    assert "BERT seed 0" in err, "the bar is on standard error"


def test_train_with_seconds_ends_by_the_clock(facts, text):
    said = facts("train", "GPT", "--corpus", text, "--seconds", 0.05, *TINY)
    assert said["stopped"] == "seconds"
    assert said["seconds"] >= 0.05


def curve(folder):
    rows = [json.loads(line) for line in Path(folder, "metrics.jsonl").read_text(encoding="utf-8").splitlines()]
    return [(row["step"], row["loss"]) for row in rows if "loss" in row]


def test_resume_without_the_knobs_goes_on_with_those_the_run_began_with(facts, text):
    whole = facts("train", "BERT", "--corpus", text, *TINY, "--steps", 6, "--out", "whole")
    facts("train", "BERT", "--corpus", text, *TINY, "--steps", 3, "--out", "parts")
    parts = facts("train", "BERT", "--corpus", text, "--steps", 6, "--out", "parts", "--resume")
    assert curve("parts") == curve("whole")
    assert (parts["steps"], parts["loss"]["held_out"]) == (6, whole["loss"]["held_out"])


def test_a_run_that_goes_on_keeps_its_knobs_and_says_where_its_schedule_ends(call, facts, text):
    line = ["train", "BERT", "--corpus", text, *TINY, "--set", "steps=4", "--out", "here"]
    call(*line, "--steps", 2)
    kept = Path("here/checkpoint.safetensors").read_bytes()
    for more, changed in (
        (["--set", "lr=0.001", "--set", "mask_ratio=0.6"], "lr 0.006 → 0.001, mask_ratio 0.15 → 0.6"),
        (["--recipe", "paper", *TINY], "optimiser muon → adamw"),
    ):
        refuses(call, ["train", "BERT", "--corpus", text, "--out", "here", "--resume", *more], changed)
        assert Path("here/checkpoint.safetensors").read_bytes() == kept
    status, _, err = call(*line, "--steps", 4, "--resume")
    assert status == 0 and "schedule" not in err
    for where in (["BERT", "--corpus", text, "--out", "here", "--resume"], ["--fork", "here"]):
        assert "The schedule of the run has 4 steps; in those beyond" in call("train", *where, "--steps", 6)[2]


@pytest.mark.parametrize("several", [[], ["--seeds", 2]])
def test_what_does_not_fit_into_a_row_is_counted_once_before_the_training(several, call, text):
    status, _, err = call("train", "BERT", "--corpus", text, *TINY, "--set", "seq_len=4", "--steps", 2, *several)
    assert status == 0, err
    assert (
        len(re.findall(r"[\d,]+ of the [\d,]+ pairs of texts to train on are longer than a row of 4 tokens", err)) == 1
    )


def test_seeds_that_go_on_keep_their_knobs(call, text):
    line = ["train", "BERT", "--corpus", text, *TINY, "--out", "all", "--seeds", 2]
    call(*line, "--steps", 2)
    refuses(call, [*line, "--steps", 4, "--resume", "--set", "lr=0.5"], "lr 0.006 → 0.5")
    status, _, err = call(*line, "--steps", 4, "--resume")
    assert status == 0, err


def test_resuming_a_run_that_is_over_says_how_good_it_is(facts, text):
    first = ["train", "BERT", "--corpus", text, *TINY, "--steps", 2, "--out", "here"]
    assert facts(*first)["loss"]["held_out"] == facts(*first, "--resume")["loss"]["held_out"] > 0


def test_a_run_on_other_text_or_with_another_seed_is_not_resumed(call, text):
    line = ["train", "RoBERTa", *TINY, "--steps", "2", "--out", "here", "--corpus"]
    call(*line, text)
    before = Path("here/checkpoint.safetensors").read_bytes()
    Path("other.txt").write_text(Path(text).read_text(encoding="utf-8") + " one more sentence .", encoding="utf-8")
    refuses(call, [*line, "other.txt", "--resume"], "was trained on other text")
    said = "The run in here has seed 0, not 5; give the same seed to continue."
    refuses(call, [*line, text, "--resume", "--seed", "5"], said)
    assert Path("here/checkpoint.safetensors").read_bytes() == before


def test_a_run_cut_off_before_its_first_checkpoint_begins_anew(facts, text):
    first = ("train", "RoBERTa", "--corpus", text, *TINY, "--steps", 3, "--out", "here")
    whole = facts(*first)
    Path("here/checkpoint.safetensors").unlink()
    assert facts(*first, "--resume")["loss"] == whole["loss"]


def test_cells_are_painted_from_the_command_line_as_on_the_stage(facts, text):
    line = ("--corpus", text, "--steps", 2, *TINY)
    said = facts("train", "MLM", *line, "--paint", "encoder=3.2-,6.5-", "--paint", "scored=1.2-", "--out", "painted")
    stage = StageStore(objective="MLM")
    stage.edit({"do": "paint", "matrix": "encoder", "cells": [[2, 1, False], [5, 4, False]]})
    skipped = {"kind": "loss_mask", "counts": [], "skips": [2], "part": 0}
    assert (said["entry"], said["mask_overrides"]) == ("MLM", [*to_json(by_hand.rules(stage)), skipped])
    again = facts("train", "MLM", *line, "--mask-overrides", json.dumps(said["mask_overrides"]), "--out", "again")
    assert (again["mask_overrides"], again["loss"]) == (said["mask_overrides"], said["loss"])
    (row,) = [row for row in Runs("runs").all() if row.name.endswith("again")]
    assert row.settings["mask_overrides"] == said["mask_overrides"] and "With a mask by hand: " in row.by_hand
    assert said["loss"] != facts("train", "MLM", *line, "--out", "plain")["loss"]


def test_an_order_by_hand_is_trained_from_the_command_line_and_resumed(facts, text):
    line = ("--corpus", text, *TINY, "--plan", "order=3,1,2", "--steps")
    whole = facts("train", "PLM", *line, 4, "--out", "whole")
    assert whole["mask_overrides"] == [{"kind": "order", "positions": [3, 1, 2], "part": 0}]
    facts("train", "PLM", *line, 4, "--save-every", 2, "--out", "half")
    Path("half/step-2.safetensors").rename("half/checkpoint.safetensors")
    of_a_system = facts("train", "XLNet", *line, 1, "--out", "system")
    assert (of_a_system["entry"], of_a_system["mask_overrides"]) == ("XLNet", whole["mask_overrides"])
    again = facts("train", "PLM", *line, 4, "--out", "half", "--resume")
    assert again["loss"]["held_out"] == whole["loss"]["held_out"]
    assert whole["loss"] != facts("train", "PLM", "--corpus", text, *TINY, "--steps", 4, "--out", "plain")["loss"]


def test_train_several_seeds_with_their_band(facts, text):
    said = facts("train", "BERT", "--corpus", text, "--steps", 2, "--seeds", 2, "--seed", 5, *TINY, "--out", "all")
    assert [run["seed"] for run in said["runs"]] == [5, 6]
    values = [run["loss"]["held_out"] for run in said["runs"]]
    assert values[0] != values[1]
    assert (said["bands"][-1]["mean"], said["bands"][-1]["seeds"]) == (pytest.approx(sum(values) / 2), 2)
    assert len(list(Path("all").iterdir())) == 2


def test_train_fork_and_list(call, facts, text):
    assert call("runs")[1] == f"There is no saved run in {Path('runs').absolute()}; train one: playground train BERT.\n"
    call("train", "RoBERTa", "--corpus", text, *TINY, "--steps", 6, "--save-every", 2)
    said = facts("train", "--fork", "RoBERTa-reviews-seed0@4", "--steps", 8, "--set", "lr=0.01")
    assert (said["changed"], said["steps"]) == ("lr 0.006 → 0.01", 8)
    fork = ("RoBERTa-reviews-seed0", 4, str(Path("runs/RoBERTa-reviews-seed0-fork4").absolute()))
    assert (said["parent"], said["forked_at"], said["out"]) == fork
    assert [r["name"] for r in facts("runs")["runs"]] == ["RoBERTa-reviews-seed0", "RoBERTa-reviews-seed0-fork4"]
    tree = call("runs")[1].splitlines()
    assert tree[1].startswith("  RoBERTa-reviews-seed0-fork4 (from step 4: lr 0.006 → 0.01): 8 steps")
    one = facts("runs", "RoBERTa-reviews-seed0")
    assert one["checkpoints"] == [2, 4, 6]
    Path("other.txt").write_text("We walk here now and sing . " * 200, encoding="utf-8")
    line = ["train", "--fork", "RoBERTa-reviews-seed0", "--corpus", "other.txt", "--seed", 7, "--steps", 7]
    other = facts(*line, "--save-every", 7)
    assert other["changed"] == "seed 0 → 7, corpus reviews.txt → other.txt in the vocabulary of RoBERTa-reviews-seed0"
    assert (other["seed"], load(other["out"]).tokenizer.words) == (7, load(one["out"]).tokenizer.words)
    assert len([p for p in one["points"] if p["loss"] is not None]) == 6
    assert call("runs", "nobody")[0] == 2
    refuses(call, ["train", "--fork", "RoBERTa-reviews-seed0@5", "--steps", "8"], "kept nothing of step 5; it kept 2")


@pytest.mark.parametrize(("name", "unit"), [("C&W", "logits"), ("GloVe", "squared nats")])
def test_a_loss_that_is_no_logarithm_is_never_called_nats(name, unit, call, facts, text):
    said = call("train", name, "--corpus", text, *TINY, "--steps", 2, "--out", "run")
    assert f" {unit}; " in said[1] and f" {unit}]" in said[2]
    said += call("runs")
    call("compare", "run", "--strategies", "full,frozen", *QUICK, "--out", "result")
    files = (Path("result", f"comparison.{kind}").read_text(encoding="utf-8") for kind in ("html", "svg", "ipynb"))
    replay = load_replay(Path("run"))
    said += (*files, replay.curve.unit, *replay.moments[-1]["captions"].values())
    words = re.sub(r"corpus [0-9.]+ nats|<title>.*?</title>", "", " ".join(map(str, said)))  # entropy, glossary
    assert not re.findall(r".{60}(?<!squared )\bnats\b.{20}", words)


def test_the_paper_recipe_is_that_of_the_paper(facts, text):
    facts("train", "RoBERTa", "--corpus", text, *TINY, "--recipe", "paper", "--steps", 2, "--out", "here")
    entry = load("here").learner.entry
    assert (entry.recipe.optimiser, entry.model.positions, entry.model.init) == ("adamw", "learned", "normal")


def test_a_run_that_diverges_has_failed(call, text, monkeypatch):
    learn = TrainState.learn

    def spoilt(self, tokens, falling=True):
        with torch.no_grad():
            self.model.token_embedding.weight.fill_(float("nan"))
        return learn(self, tokens, falling)

    monkeypatch.setattr(TrainState, "learn", spoilt)
    status, _, _ = call("train", "BERT", "--corpus", text, "--steps", 2, *TINY, "--out", "here")
    assert status == 1
    assert not Path("here/checkpoint.safetensors").exists()


def test_a_run_that_is_interrupted_has_not_succeeded(call, text, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(TrainState, "learn", interrupted)
    status, out, err = call("train", "BERT", "--corpus", text, "--steps", 2, *TINY)
    assert (status, out) == (1, "")
    assert err.splitlines()[-1] == "Stopped."


# compare


@pytest.mark.slow
def test_compare_keeps_its_promises(facts, text):
    facts("train", "BERT", "--corpus", text, "--steps", 3, *TINY, "--out", "run")
    quick = ["--train-size", 8, "--seeds", 2, "--tuning-steps", 3, "--seed", 4]
    said = facts("compare", "run", "--task", "sentiment", "--strategies", "full,frozen", *quick, "--out", "result")
    assert (said["task"], said["labels"], said["seeds"]) == ("sentiment", 8, 2)
    assert [s["name"] for s in said["strategies"]] == ["full", "feature-based"]
    assert said["strategies"][1]["forgetting"] == {"mean": 0.0, "sd": 0.0, "values": [0.0, 0.0]}
    assert json.loads(Path("result/comparison.json").read_text(encoding="utf-8")) == said


def test_compress_keeps_its_promises(facts, call, text):
    facts("train", "RoBERTa", "--corpus", text, "--steps", 3, *TINY, "--set", "layers=2", "--out", "run")
    quick = ["--train-size", 8, "--seeds", 2, "--tuning-steps", 3, "--with", "layer dropping(steps=2), int8"]
    said = facts("compress", "run", *quick, "--with", "pruning(steps=2)", "--out", "result", "--hf")
    assert [row["name"] for row in said["pipelines"]] == [
        "uncompressed", "layer dropping(steps=2) + int8", "pruning(steps=2)",
    ]  # fmt: skip
    assert (said["task"], said["labels"], said["seeds"], said["base"]) == ("sentiment", 8, 2, "RoBERTa")
    assert said["pipelines"][1]["bytes"] < said["pipelines"][0]["bytes"]
    assert {path.name for path in Path("result").iterdir()} >= {*said["files"], "models", "outcomes.jsonl"}
    for made in said["hf"].values():
        assert (Path(made["folder"]) / "config.json").is_file()
    status, out, _ = call("compress", "run", *quick, "--out", "result", "--resume")
    assert status == 0
    assert "layer dropping(steps=2) + int8 against uncompressed" in out


def test_compress_lists_its_methods(facts):
    named = {method["name"]: method for method in facts("compress", "--methods")["methods"]}
    assert {"DistilBERT", "int8", "head pruning"} <= set(named)
    assert {"name", "default", "why"} == set(named["int8"]["knobs"][0])


def test_posttrain_keeps_its_promises(facts, call, small, monkeypatch):
    monkeypatch.setattr("playground.cli.posttrain.open_corpus", partial(open_corpus, tokens=6_000))
    facts("train", "LM", "--corpus", "reviews", "--steps", 3, *TINY, "--out", "run")
    quick = ["posttrain", "run", "--prompts", 2, "--reward", "positive words"]
    said = facts(*quick, "--method", "dpo", "--steps", 3, "--set", "pairs=2", "--seeds", 2)
    assert (said["method"], said["reward"], said["true_reward"]) == ("DPO(pairs=2)", "positive words", "positive")
    assert [seed["seed"] for seed in said["seeds"]] == [0, 1]
    first, *_, last = said["seeds"][0]["events"]
    assert (first["step"], first["kl_to_reference"], last["step"]) == (0, 0.0, 3)
    assert len(said["prompts"]) == 2
    assert said["frontier"][0]["reward"] > said["frontier"][-1]["reward"]
    status, out, _ = call(*quick, "--method", "best of n", "--set", "n=4")
    assert (status, "best of n(n=4) for the reward positive words" in out) == (0, True)
    assert [line.split()[2] for line in out.splitlines() if line.startswith("seed")] == ["1", "2", "4"]
    status, _, refusal = call("posttrain", "run", "--method", "PPO")
    assert (status, "nearest is the method of post-training 'GRPO'" in refusal) == (2, True)


def test_posttrain_lists_methods_and_rewards(facts, call):
    said = facts("posttrain", "--list")
    assert {"SFT", "DPO", "GRPO", "best of n"} == {method["name"] for method in said["methods"]}
    assert {reward["name"]: reward["proxy_of"] for reward in said["rewards"]}["positive words"] == "positive"
    assert "A proxy of positive." in call("posttrain", "--list")[1]


def test_compare_says_how_much_of_each_level_a_mix_reads(facts, call, text):
    facts("train", "BERT", "--corpus", text, "--steps", 2, *TINY, "--out", "run")
    line = ["compare", "run", "--strategies", "layer mix,feature-based", *QUICK]
    mix, plain = facts(*line)["strategies"]
    assert len(mix["levels"]) == 2 and sum(mix["levels"]) == pytest.approx(1.0)
    assert [look["step"] for look in mix["mix"]] == [*range(len(mix["mix"]))]
    assert (mix["mix"][0], mix["mix"][-1]["levels"]) == ({"step": 0, "scale": 1.0, "levels": [0.5, 0.5]}, mix["levels"])
    assert plain["levels"] == plain["mix"] == []
    first, top = (f"{share:.0%}" for share in mix["levels"])
    assert f"\nlayer mix reads embeddings {first}, the top {top}.\n" in call(*line)[1]


def test_compare_trains_an_entry_first(call, text):
    quick = ["--train-size", 4, "--seeds", 1, "--tuning-steps", 2, "--steps", 2]
    status, out, _ = call("compare", "ELECTRA", "--corpus", text, *quick)
    assert status == 0
    assert all(name in out for name in FIRST_CHOICE)
    assert "One strategy or one seed cannot be compared" in out
    assert Path("runs/ELECTRA-reviews-seed0/checkpoint.safetensors").is_file()


QUICK = ["--train-size", 8, "--seeds", 1, "--tuning-steps", 2]


def test_compare_learns_tasks_in_turn(facts, text):
    facts("train", "BERT", "--corpus", text, "--steps", 2, *TINY, "--out", "run")
    more = ["--then", "entailment", "--strategies", "full,adapters", "--out", "result"]
    said = facts("compare", "run", "--task", "sentiment", *more, *QUICK)
    assert said["tasks"] == ["sentiment", "entailment"]
    assert [s["name"] for s in said["strategies"]] == ["full", "adapters"]
    assert all([len(row) for row in s["matrix"]] == [1, 2] for s in said["strategies"])
    assert said["strategies"][1]["backward"]["values"] == [0.0]
    assert json.loads(Path("result/sequence.json").read_text(encoding="utf-8")) == said
    table = Path("result/sequence.csv").read_text(encoding="utf-8").splitlines()
    assert len(table) == 1 + 2 * 3
    assert table[1].startswith("full,sentiment,sentiment,")


@pytest.mark.slow
def test_compare_prepares_a_base_and_names_it_in_the_command(facts, call, text, monkeypatch):
    monkeypatch.setattr("playground.finetuning.apply.crosslingual.TOKENS", 3_000)
    facts("train", "RoBERTa", "--corpus", text, "--steps", 2, *TINY, "--out", "run")
    more = ["--strategies", "embeddings frozen", "--out", "two"]
    facts("compare", "run", "--second-language", 2, *more, *QUICK)
    both = facts("compare", "run", "--decoder", "run", "--strategies", "full,new decoder,decoder first", *QUICK)
    assert [s["name"] for s in both["strategies"]] == ["full", "new decoder", "decoder first"]
    assert Path("run-with-decoder/checkpoint.safetensors").is_file()
    command = json.loads(Path("two/comparison.json").read_text(encoding="utf-8"))["provenance"]["command"]
    assert "two/second-language" in command
    again = facts("compare", "two/second-language", "--strategies", "full", *QUICK)
    assert again["strategies"][0]["name"] == "full"
    beside = facts("compare", "run", "--extra-encoder", "run", "--strategies", "static and contextual", *QUICK)
    alone = facts("compare", "run", "--strategies", "static and contextual", *QUICK)
    assert beside["strategies"][0]["trainable"] > alone["strategies"][0]["trainable"]


@pytest.mark.slow
def test_choose_and_edit_keep_their_promises(facts, call, text):
    facts("train", "BERT", "--corpus", text, "--steps", 2, *TINY, "--out", "run")
    said = facts("choose", "run", "--tasks", "sentiment,topic", *QUICK)
    assert [(c["run"], c["task"], c["accuracy"] is None) for c in said["cells"]] == [
        ("run", "sentiment", False), ("run", "topic", True)
    ]  # fmt: skip
    line = ["edit", "run", "--text", "the acting was boring .", "--to", "good", "--train-size", 8, "--tuning-steps", 2]
    edited = facts(*line, "--tests", 2)
    assert edited["before"].startswith("the acting was boring")
    assert edited["success"]["texts"] == 2
    assert call(*line, "--tests", 2)[1].startswith("before: the acting was boring")


# zoo


def test_zoo_lists_all_there_is(facts):
    said = facts("zoo")
    assert set(said) >= {"entries", "objectives", "strategies", "corpora", "tasks"}
    names = {kind: [item["name"] for item in items] for kind, items in said.items()}
    assert names["entries"] == list(ENTRIES)
    assert names["objectives"] == list(objectives())
    assert names["strategies"] == list(strategies())
    assert names["tasks"] == list(tasks())
    assert names["corpora"] == list(sources())
    assert "python reference" in names["corpora"]
    for entry in said["entries"]:
        assert entry["parameters"] > 1000
        assert 2003 <= entry["year"] < 2030
        assert (
            set(entry["objective"].split(" + ")) <= set(names["objectives"])
            or entry["objective"] in names["objectives"]
        )
        assert entry["source"]
        assert read_name(entry["corpus"])[0] in names["corpora"]


def test_a_program_looks_for_garbage_again_once_its_modules_are_there():
    line = "import gc; from playground import cli; cli.main(); print(gc.isenabled(), gc.get_freeze_count() > 1000)"
    done = subprocess.run(
        [sys.executable, "-c", line, "zoo", "BERT"], cwd=ROOT, capture_output=True, text=True, timeout=120, check=True
    )
    assert done.stdout.splitlines()[-1] == "True True"


def test_zoo_says_which_knobs_a_corpus_has(facts):
    corpora = {item["name"]: item["knobs"] for item in facts("zoo")["corpora"]}
    assert corpora.keys() == sources().keys()
    for name, source in sources().items():
        turned = [] if source.settings is None else [f.name for f in fields(source.settings)]
        assert corpora[name] == turned
    assert corpora["bilingual"] == ["shared", "verb_last", "adjective_after", "language", "second"]
    assert corpora["world"] == []
    assert facts("zoo", "bilingual")["corpora"][0]["knobs"] == corpora["bilingual"]


@every_entry_or_kind
def test_zoo_shows_one_entry(name, facts):
    said = facts("zoo", name.lower())
    assert [entry["name"] for entry in said["entries"]] == [name]


def test_zoo_measures_an_entry(call, facts):
    measured = ("zoo", "gpt", "--measure")
    assert facts(*measured)["entries"] == facts(*measured[:2])["entries"]
    [found] = facts(*measured)["properties"]
    assert (found["name"], found["right_context"], found["generates"], found["taught"]) == ("GPT", False, True, 1.0)
    status, out, err = call(*measured)
    assert status == 0 and "entries" in err
    header, row, *meaning = out.splitlines()
    assert row.split()[:5] == ["GPT", "no", "0.0%", "yes", "100.0%"]
    assert all(line.split(":")[0] in header for line in meaning)


def test_zoo_has_a_card_for_every_strategy_corpus_and_task(call, facts):
    """Also where an objective has the same name, as the task "translation" and the corpus "inference"."""
    for kind, known in (("strategies", strategies()), ("corpora", sources()), ("tasks", tasks())):
        for name, item in known.items():
            said = inventory(name.upper())
            assert [each["name"] for each in said[kind]] == [name]
            assert said[kind][0]["idea"] == item.idea
    _, out, _ = call("zoo", "LoRA")
    lines = out.splitlines()
    assert lines[0] == "LoRA" and all(fact in out for fact in ("idea  ", "arXiv:2106.09685", "family  "))
    _, out, _ = call("zoo", "translation")
    assert [line for line in out.splitlines() if not line.startswith(" ")] == [
        "entries", "translation, 2017", "tasks", "translation"
    ]  # fmt: skip
    assert set(facts("zoo", "translation")) == {"entries", "tasks"}


def test_zoo_shows_an_objective_as_the_entry_that_trains_it(call, facts):
    [card] = facts("zoo", "nsp")["entries"]
    assert (card["name"], card["objective"], card["loss"]) == ("NSP", "NSP", find_objective("NSP").loss)
    _, out, _ = call("zoo", "nsp")
    assert out.startswith("NSP, 2018\n")
    for fact in ("architecture", "2 segments", "parameters", "corpus", 'playground train "NSP"'):
        assert fact in out


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("lorra", "LoRA"),
        ("revews", "reviews"),
        ("sentimant", "sentiment"),
        ("spam mask", "span mask"),
        ("BERD", "BERT"),
    ],
)
def test_zoo_knows_the_nearest_name_of_every_kind(wrong, right, call):
    status, out, err = call("zoo", wrong)
    assert (status, out) == (2, "")
    assert re.fullmatch(rf"There is nothing named '{wrong}'; the nearest: .*\b{right}\b.*\.\n", err)


def test_zoo_for_people_names_everything(call):
    status, out, err = call("zoo")
    assert (status, err) == (0, "")
    for name in (*ENTRIES, *objectives(), *strategies(), *tasks(), "world", "reviews"):
        assert f"  {name}" in out


def test_zoo_for_people_lists_the_objectives_by_group(call):
    _, out, _ = call("zoo")
    section = out[out.index("\nobjectives\n") : out.index("\nstrategies\n")].splitlines()[2:]
    headings = [line.strip() for line in section if not line.startswith("    ")]
    assert headings == list(GROUPS)
    below = {heading: [] for heading in headings}
    for line in section:
        if line.strip() in headings:
            heading = line.strip()
        else:
            below[heading].append(line)
    for objective in objectives().values():
        assert [g for g, lines in below.items() if any(objective.idea in line for line in lines)] == [objective.group]


# mistakes


@pytest.fixture
def files():
    """Files of every wrong kind."""
    Path("binary.txt").write_bytes(b"MZ\0\0\1\2" * 50)
    Path("empty.txt").write_bytes(b"")
    Path("blank.txt").write_text(" \n\n ", encoding="utf-8")
    Path("latin.txt").write_bytes("naïve café ".encode("latin-1") * 50)
    Path("short.txt").write_text("Only a few words here.", encoding="utf-8")
    Path("foreign.txt").write_text("the quick brown fox jumps over a lazy dog . " * 60, encoding="utf-8")
    Path("a_folder").mkdir()
    Path("a_run").mkdir()
    Path("a_run/checkpoint.safetensors").write_bytes(b"nonsense" * 20)


def refuses(call, arguments, fragment):
    """One sentence on standard error that names the value, and nothing on standard output."""
    status, out, err = call(*arguments)
    assert (status, out) == (2, "")
    assert "Traceback" not in err
    said = [line for line in err.replace("\r", "\n").splitlines() if line.strip() and "it/s" not in line]
    assert len(said) == 1, err
    assert fragment in said[0]
    assert said[0].endswith(".")


MISTAKES = {
    "objective": [
        ("nope", "'nope'"),
        ("MLM --set mask_ratio=7", "mask_ratio is 7"),
        ("MLM --set nope=1", "'nope'"),
        ("MLM --set rate", "'rate'"),
        ("MLM --plan chosen=9", "9"),
        ("MLM --plan chosen=x", "'x'"),
        ("MLM --plan chosen", "'chosen'"),
        ("MLM --plan nope=3", "'nope'"),
        ("MLM --plan cut=3", "'cut'"),
        ("PLM --plan order=1,2", "1,2"),
        ("PLM --plan cut=99", "99"),
        ("MASS --plan spans=3:99", "3:99"),
        ("MASS --plan spans=3", "'3'"),
        ("RTD --plan chosen=3 actions=burn", "burn"),
        ("MLM --text=", "''"),
        ("MLM --file missing.txt", "missing.txt"),
        ("MLM --file binary.txt", "binary.txt"),
        ("MLM --file blank.txt", "blank.txt"),
        ("MLM --nope", "--nope"),
        ("MLM --seed ²", "'²' is not a whole number"),
        (f"MLM --seed {'9' * 5_000}", "is not a whole number of at most 16 digits"),
        (f"MLM --seed {10**30}", f"'{10**30}' is not a whole number of at most 16 digits"),
        ("MLM --file a\0b", "There is no file a\\x00b"),
        (f"MLM --file {'x' * 300}", "File name too long"),
        (f"MLM --set mask_replace_prob={'[' * 50_000}", "mask_replace_prob is '[[["),
        (f"{'x' * 50_000}", "There is no objective named 'xxx"),
        ("permutation", "'permutation'"),
        ("spam-mask", "the nearest: span mask, span masking, "),
        ("MLM --corpus reviews --text a", "--text does not apply here: a row of a corpus is a text already"),
        ("MLM --corpus reviews --row 99999999", "The row is 99999999; reviews holds out"),
        ("MLM --corpus reviews --row -1", "The row is -1; reviews holds out"),
        ("MLM --corpus nowhere --row 1", "'nowhere'"),
        ("MLM --row 2", "--row does not apply here: rows are those of a corpus; name one with --corpus."),
    ],
    "table": [
        ("--plan MLM:chosen=99", "99"),
        ("--plan MLM:nope=3", "'nope'"),
        ("--plan nope=3", "'nope'"),
        ("--plan =3", "'=3'"),
        ("--text=", "''"),
        ("--file missing.txt", "missing.txt"),
    ],
    "train": [
        ("", "No entry is named; name one, such as BERT, or a run to fork: --fork RUN."),
        ("nope", "'nope'"),
        ("BERT --recipe slow", "'slow'"),
        ("gpt3-175b --steps 1", "'gpt3-175b' is a published size of GPT-3, and models here are small"),
        ("BERT --workers 2", "--workers does not apply here: one seed is trained; --seeds K trains more."),
        ("BERT --corpus nowhere", "'nowhere'"),
        ("BERT --corpus nowhere.txt", "'nowhere.txt'"),
        ("BERT --corpus binary.txt", "binary.txt"),
        ("BERT --corpus empty.txt", "empty.txt"),
        ("BERT --corpus blank.txt", "blank.txt"),
        ("BERT --corpus latin.txt", "latin.txt"),
        ("BERT --corpus short.txt", "Repeat it or mix it, as in 'mine.txt(repeat=50, mix=everyday)'."),
        ("BERT --corpus short.txt(mix=nope)", "mix is 'nope'; choose one of none, everyday"),
        ("BERT --corpus a_folder", "a_folder"),
        ("BERT --device tpu", "'tpu'"),
        ("BERT --device cpu:one", "'cpu:one'"),
        ("BERT --steps -3", "'-3'"),
        ("BERT --steps 1.5", "'1.5' is not a whole number above 0"),
        ("BERT --seconds nan", "'nan'"),
        ("BERT --seeds 1000000000", "at most 1,000"),
        ("PLM --paint query=1.1", "--paint says query=1.1; write cells"),
        ("PLM --paint query", "has no '='"),
        ("PLM --paint quary=1.1+", "names the matrix 'quary'; the matrices are encoder"),
        ("MLM --paint query=1.1+ --steps 1", "no matrix 'query'"),
        ("PLM --plan chosen=3", "--plan sets chosen, which is for one text; in training write an order"),
        ("PLM --plan order=3,3", "The order 3,3 cannot be trained with; name 2 to 50 word positions"),
        ("MLM --plan order=3,1", "MLM draws no order of prediction, so none can be set by hand; PLM draws one."),
        ("BERT --plan order=3,1", "MLM + NSP draws no order of prediction, so none can be set by hand; PLM draws one."),
        ("LM --mask-overrides [", "--mask-overrides is '[', which is not JSON"),
        ('LM --mask-overrides [{"kind":"tower"}]', "A mask override is of the kind 'tower'; the kinds are"),
        ("BERT --threads 1000000000", "at most 256"),
        ("BERT --seeds 2 --workers 2 --threads 2", "--threads is 2, but the workers"),
        ("BERT --out a\0b", "'a\\x00b' cannot be a path"),
        (f"BERT --out missing/{'x' * 300}", "cannot be a path: File name too long"),
        ("BERT --out there\udcff", "cannot be a path"),
        (f"BERT --runs {'x' * 300}", "cannot be a path"),
        ("--fork run@²", "The step '²' is not a whole number"),
        ("BERT --set nope=1", "'nope'"),
        ("BERT --set width=63", "63"),
        ("BERT --set optimiser=sgd", "'sgd'"),
        ("BERT --set layers=99", "99"),
        ("RoBERTa --corpus foreign.txt --set seq_len=256", "256"),
        ("RoBERTa --steps 1 --corpus foreign.txt --out short.txt/run", "short.txt/run"),
        ("RoBERTa --steps 1 --corpus foreign.txt --out short.txt", "short.txt"),
        ("BERT --steps 1 --corpus foreign.txt --out a_folder --resume", "There is no checkpoint at"),
        ("BERT --steps 1 --corpus foreign.txt --out a_run --resume", "a_run"),
    ],
    "compare": [
        ("nope", "'nope'"),
        ("BERT --task nope", "'nope'"),
        ("BERT --strategies full,nope", "'nope'"),
        ("BERT --match nope", "'nope'"),
        ("BERT --lr-policy nope", "'nope'"),
        ("BERT --train-size 99999999", "train_size is 99999999; it must lie between 2 and 1000000 labelled texts."),
        ("BERT --train-size 8,x", "'x' is not a whole number"),
        ("BERT --tuning-steps 99999999", "steps is 99999999; it must lie between 1 and 100000 steps."),
        ("BERT --seeds 0", "seeds is 0; it must lie between 1 and 1000 seeds."),
        ("BERT --workers -1", "workers is -1; it must lie between 1 and 256 processes."),
        ("BERT --then=--", "'--'"),
        ("a\0b", "'a\\x00b'"),
        ("BERT --then nope", "'nope'"),
        ("BERT --then sentiment", "comes twice in sentiment, sentiment"),
        ("BERT --then topic --train-size 4,8", "4,8"),
        ("BERT --then topic --lr-policy tuned", "tuned"),
        ("BERT --then topic --workers 2", "--workers"),
        ("BERT --then topic --match tokens", "--match is tokens"),
        ("bert-large", "'bert-large' is a published size of BERT"),
        ("BERT --then topic --strategies zero-shot", "zero-shot prompting"),
        ("BERT --strategies CoVe --extra-encoder nowhere", "nowhere"),
        ("BERT --decoder nowhere", "same, new"),
        ("BERT --corpus nowhere", "'nowhere'"),
        ("a_folder", "a_folder"),
        ("a_run", "a_run"),
        ("short.txt", "short.txt"),
    ],
    "compress": [
        ("run --with nope", "no compression method named 'nope'"),
        ("run --with int8(bits=99)", "bits is 99"),
        ("run --with int8,pruning", "quantization comes last"),
        ("run --tuning-steps 0", "steps is 0; it must lie between 1 and 100000 steps."),
        ("run --hf", "--hf does not apply here: the models are not saved; name a folder with --out DIR."),
        ("run", "There is no checkpoint at"),
    ],
    "posttrain": [
        ("--list --seeds 2", "--seeds does not apply here: --list does nothing else"),
        ("--set beta=0", "beta is 0.0; it must lie between 0.01 and 10.0 reward per nat."),
        ("--set pairs", "The knob 'pairs' has no '='"),
        ("--method bon --seeds 3", "--seeds does not apply here: best of n is exact and trains nothing"),
        ("--reward nope", "no reward named 'nope'"),
        ("run --pretraining-steps 5", "--pretraining-steps does not apply here: a run is named"),
    ],
    "zoo": [
        ("nope", "'nope'"),
        ("GPT BERT", "'BERT' does not apply here: it is for `playground zoo build`."),
        ("--check", "--check does not apply here: it is for `playground zoo build`."),
        ("build --steps 5", "name them: playground zoo build BERT"),
        ("build GPT --corpus text.txt", "'text.txt'"),
    ],
    "": [
        ("", "command"),
        ("dance", "'dance'"),
        ("app --port x", "'x'"),
        ("app --port 99999", "99999"),
        ("bake a\0b -o page.html", "'a\\x00b'"),
        (f"bake BERT -o {'x' * 300}.html", "cannot be a path"),
        (f"choose {'x' * 300}", "There is no run in xxx"),
        ("edit a\0b --text a --to good", "There is no run in a\\x00b"),
        (f"runs {'x' * 300} --runs missing", "'xxx"),
    ],
}


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("line", "fragment"), [(f"{command} {line}", said) for command, lines in MISTAKES.items() for line, said in lines]
)
def test_a_mistake_is_one_sentence_that_names_the_value(line, fragment, call):
    refuses(call, line.split(), fragment)
    assert not Path("runs").exists(), "nothing is trained before the mistake is noticed"


def test_two_dashes_are_a_text(call):
    """argparse of Python 3.11 hands over an empty list for them."""
    status, out, _ = call("objective", "MLM", "--text=--", "--json")
    assert (status, json.loads(out)["text"]) == (0, "--")


@pytest.mark.slow
def test_cuda_where_there_is_none_is_a_mistake(call, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    refuses(call, ["train", "BERT", "--device", "cuda"], "'cuda'")


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(("more", "fragment"), [("--train-size 1", "train_size is 1"), ("--strategies ,", "strategy")])
def test_a_comparison_that_cannot_be_is_a_mistake(more, fragment, call, text):
    call("train", "BERT", "--corpus", text, "--steps", 1, *TINY, "--out", "run")
    refuses(call, ["compare", "run", *more.split()], fragment)


@pytest.mark.usefixtures("files")
def test_a_run_whose_vocabulary_does_not_know_the_task_is_a_mistake(call):
    call("train", "RoBERTa", "--corpus", "foreign.txt", "--steps", 1, *TINY, "--out", "run")
    refuses(call, ["compare", "run"], "does not know")


@pytest.mark.usefixtures("files")
def test_a_comparison_that_cannot_be_kept_is_a_mistake(call, text):
    call("train", "BERT", "--corpus", text, "--steps", 1, *TINY, "--out", "run")
    quick = ["--train-size", "4", "--seeds", "1", "--tuning-steps", "1", "--strategies", "full"]
    refuses(call, ["compare", "run", *quick, "--out", "short.txt/x"], "short.txt/x")
    assert "100%" not in call("compare", "run", *quick, "--out", "short.txt/x")[2], "noticed before the lanes run"


@pytest.mark.usefixtures("files")
def test_a_comparison_that_is_refused_leaves_no_folder_and_no_other_result(call, text):
    call("train", "BERT", "--corpus", text, "--steps", 1, *TINY, "--out", "run")
    refuses(call, ["compare", "run", "--train-size", "1", "--out", "a/b"], "train_size is 1")
    assert not Path("a").exists()
    Path("old").mkdir()
    Path("old/trials.jsonl").write_text("what was found before\n", encoding="utf-8")
    refuses(call, ["compare", "run", "--train-size", "1", "--out", "old"], "train_size is 1")
    assert Path("old/trials.jsonl").read_text(encoding="utf-8") == "what was found before\n"


@pytest.mark.parametrize("name", ["short.txt", "short.txt/runs"])
@pytest.mark.usefixtures("files")
def test_a_list_of_runs_that_cannot_be_is_refused_before_a_run_is_touched(call, text, name):
    line = ["train", "BERT", "--corpus", text, "--steps", "1", *TINY, "--out", "run"]
    refuses(call, [*line, "--runs", name], "short.txt")
    assert not Path("run").exists()
    call(*line)
    before = {path: path.stat().st_mtime_ns for path in Path("run").iterdir()}
    refuses(call, [*line, "--runs", name], "short.txt")
    assert {path: path.stat().st_mtime_ns for path in Path("run").iterdir()} == before


@pytest.mark.parametrize(
    ("entry", "knob"),
    [
        ("ELECTRA", "rtd_head=no"),
        ("ELECTRA", "generator_ratio=0"),
        ("XLNet", "two_streams=no"),
        ("BART", "decoder_layers=0"),
    ],
)
def test_a_model_that_cannot_answer_what_it_is_asked_is_a_mistake(entry, knob, call, text):
    refuses(call, ["train", entry, "--corpus", text, "--steps", "1", *TINY, "--set", knob], knob.split("=")[0])


def test_a_knob_means_one_thing_whichever_part_of_an_entry_has_it():
    """`rate` was the learning rate in one command and the share of hidden words in another."""
    both = entry_named("MLM").turned({"lr": "0.005", "mask_ratio": "0.4"})
    assert (both.recipe.lr, both.objective.knobs["mask_ratio"].default) == (0.005, 0.4)
    with pytest.raises(UserError, match=r"MLM has no knob 'rate'\. It has, of the model: .*lr.*mask_ratio"):
        entry_named("MLM").turned({"rate": "1"})


def test_no_knob_of_an_objective_is_called_as_one_of_the_model_or_of_the_recipe():
    ours = {k.name for k in knobs(Recipe())} | {k.name for k in knobs(Architecture())}
    theirs = {name: {knob.rpartition(".")[2] for knob in o.knobs} for name, o in objectives().items()}
    assert {name: mine & ours for name, mine in theirs.items() if mine & ours} == {}
    assert not {k.name for k in knobs(Recipe())} & {k.name for k in knobs(Architecture())}
    names = ours.union(*theirs.values()) - {"fim_rate", "fim_spm_rate"}  # as every released code of FIM has them
    assert not any("rate" in name.split("_") for name in names), "of which there are several"


def test_windows_longer_than_the_positions_that_are_learned_are_a_mistake(call, text):
    knobs = ["--set", "max_position_embeddings=8", "--set", "positions=learned"]
    refuses(call, ["train", "RoBERTa", "--corpus", text, "--steps", "1", *TINY, *knobs], "16 positions")


def test_a_new_run_in_a_folder_puts_the_checkpoint_of_the_last_one_aside(call, text):
    line = ["train", "BERT", "--corpus", text, *TINY, "--out", "here"]
    call(*line, "--steps", 2)
    kept = Path("here/checkpoint.safetensors").read_bytes()
    call(*line, "--steps", 3)
    assert Path("here/previous.safetensors").read_bytes() == kept
    assert Path("here/checkpoint.safetensors").read_bytes() != kept
    assert [step for step, _ in curve("here")] == [1, 2, 3], "without --resume it begins anew"


def test_a_run_that_is_refused_leaves_the_record_of_the_run_before(call, text):
    first = ["train", "RoBERTa", "--corpus", text, *TINY, "--steps", 2, "--out", "here"]
    call(*first)
    kept = {p.name: p.read_bytes() for p in Path("here").iterdir()}
    Path("brief.txt").write_text("We walk here now. " * 20, encoding="utf-8")
    refuses(call, [*first, "--corpus", "brief.txt"], "one window of 16 needs 16")
    assert {p.name: p.read_bytes() for p in Path("here").iterdir()} == kept


def test_help_is_not_a_mistake(call):
    status, out, _ = call("--help")
    assert status == 0
    for command in ("app", "objective", "table", "train", "compare", "zoo"):
        assert command in out


def test_a_run_longer_than_the_recipe_has_a_schedule_that_lasts(call, text):
    line = ["train", "BERT", "--corpus", text, *TINY, "--set", "steps=2", "--set", "warmup_ratio=0.0"]
    call(*line, "--steps", 6, "--out", "long")
    rows = [json.loads(r) for r in Path("long/metrics.jsonl").read_text(encoding="utf-8").splitlines()]
    rates = [r["rate"] for r in rows if "rate" in r]
    assert rates == sorted(rates, reverse=True)
    assert rates[-2] > 0.1, "it falls over the whole run, not over the first two steps"


def test_zoo_builds_base_models_once_and_a_comparison_begins_from_them(call, small, tmp_path, monkeypatch):
    monkeypatch.setattr(ready_made, "cache_folder", lambda kind: tmp_path / kind)
    monkeypatch.setattr(ready_made, "open_corpus", partial(open_corpus, tokens=6_000))
    for module in ("playground.cli.compare", "playground.training.store.ready_made"):
        monkeypatch.setattr(f"{module}.entry_to_train", lambda name: replace(tiny(name), corpus="reviews"))
    compare = ("compare", "GPT", "--strategies", "full", "--tuning-steps", "2", "--seeds", "1", "--train-size", "8")
    assert "`playground zoo build GPT` makes it once" in call(*compare)[2]
    status, out, _ = call("zoo", "build", "GPT", "--check", "--json")
    assert (status, json_keys.read("zoo", out)["ready_made"][0]["state"]) == (1, "missing")
    status, out, _ = call("zoo", "build", "GPT", "--json")
    [made] = json_keys.read("zoo", out)["ready_made"]
    assert (status, made["state"], made["steps"], len(made["sha256"])) == (0, "built", 12, 64)
    assert json.loads(call("zoo", "build", "GPT", "--json")[1])["ready_made"] == [made | {"state": "ready"}]
    status, out, err = call(*compare, "--out", "result", "--json")
    assert f"The base is the ready-made checkpoint {made['name']}" in err
    assert json.loads(out)["provenance"]["checkpoint"] == f"ready-made {made['name']}"
    assert f"from {made['name']}" in Path("result", "comparison.svg").read_text(encoding="utf-8")
    assert call("zoo", "build", "BART", "--cache", "elsewhere", "--check")[1].count("missing") == 1
