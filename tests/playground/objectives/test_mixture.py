"""Sums and mixtures of objectives, by batch and by row: objectives/mixture.py, slicing.py."""

import json
import os
import re
from collections import Counter
from dataclasses import replace
from itertools import pairwise

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from playground import cli, leaks
from playground.batch import begin
from playground.corpora.corpus import pick
from playground.errors import UserError
from playground.models import Architecture, make_model, total_loss, with_required_parts
from playground.objectives import find_objective, objectives
from playground.objectives.arrange import SampleTask
from playground.objectives.by_hand import with_overrides
from playground.objectives.choose import ChooseNgrams
from playground.objectives.mixture import mixed, mixture
from playground.objectives.see.painted import AttentionMaskOverride
from playground.objectives.steps import describe_plan, specimens
from playground.rng import generator
from playground.slicing import gathered
from playground.trace.rebuild import rebuild
from playground.zoo import entry_named
from tests.laws import assert_law, assert_share
from tests.texts import SPECIALS, plain_rows, seeds, story, suited, tokens_for, tokens_of
from widgets.state.stage.store import StageStore

TEXT, PAIR = "Rosa baked the bread .", "Then her brother sold it ."


@pytest.mark.parametrize("said", ["MLM + 0.5*SOP", "mlm+0.5*sop", " MLM  +  .5 × SOP ", "MLM + 5e-1*SOP"])
def test_a_sum_is_read_however_it_is_spelt(said):
    found = find_objective(said)
    assert found == find_objective("MLM + 0.5 SOP")
    assert found.name == "MLM + 0.5 SOP"
    assert (found.stages, found.auxiliary) == (objectives()["MLM"].stages, ((0.5, objectives()["SOP"]),))
    assert (found.needs, found.group) == (("pair",), "In combination")
    assert find_objective(found.name) == found


@pytest.mark.parametrize("said", ["LM 70 % then MLM 30 %", "lm 70% then mlm 30%", " LM 70.0 %  then  MLM 30 % "])
def test_objectives_in_turn_are_read_however_they_are_spelt(said):
    found = find_objective(said)
    assert found.name == "LM 70 % then MLM 30 %" and found == find_objective(found.name)
    assert found.parts == (objectives()["LM"], objectives()["MLM"])
    assert [(s.length, s.shares) for s in found.curriculum] == [(0.7, (1.0, 0.0)), (0.3, (0.0, 1.0))]
    apart = find_objective("MLM 50 % then masked diffusion 50 %")
    assert apart.target_names == ("hidden words", "masked diffusion: hidden words"), "a loss of its own for each"
    assert [apart.unit(target) for target in apart.target_names] == ["nats", "nats a word"]
    again = find_objective("LM 20 % then MLM 60 % then LM 20 %")
    assert [s.shares for s in again.curriculum] == [(1.0, 0.0), (0.0, 1.0), (1.0, 0.0)] and len(again.parts) == 2


@pytest.mark.parametrize(("said", "why"), [
    ("LM 70 % then MLM 40 %", "add up to 110 %; make it 100 %"),
    ("LM 70 % then MLM", "lacks a share of the steps; write it as in 'LM 70 % then MLM 30 %'"),
    ("LM 70 % then none 30 %", "There is no objective named 'none'"),
])  # fmt: skip
def test_turns_that_are_none_are_refused(said, why):
    with pytest.raises(UserError, match=re.escape(why)):
        find_objective(said)


def test_names_that_hold_a_plus_keep_their_meaning():
    for name, objective in objectives().items():
        for said in (name, *objective.aliases):
            assert find_objective(said) is objective
    whole = find_objective("MLM + NSP + 50*RTD")
    assert whole.stages == objectives()["MLM + NSP"].stages
    assert [(weight, part.name) for weight, part in whole.auxiliary] == [(50.0, "RTD")]
    assert [part.name for _, part in find_objective("2*MLM + NSP").auxiliary] == ["NSP"]


@pytest.mark.parametrize(
    ("said", "refusal"),
    [
        ("MLM + 0*SOP", "The weight of SOP is 0; it must be a number above 0."),
        ("MLM + -1*SOP", "The weight of SOP is -1; it must be"),
        ("0 MLM + SOP", "The weight of MLM is 0; it must be"),
        ("MLM + 1e400*SOP", "The weight of SOP is inf; it must be"),
        ("MLM + nope", "There is no objective named 'nope'"),
        ("MLM + 2*nope", "There is no objective named 'nope'"),
        ("MLM + nan*SOP", r"There is no objective named 'nan\*SOP'"),
        ("MLM + 3*MLM", "MLM occurs twice in 'MLM . 3.MLM'; name it once, with one weight."),
        ("+", "There is no objective named ''"),
    ],
)
def test_what_is_no_sum_is_refused_in_one_sentence(said, refusal):
    with pytest.raises(UserError, match=refusal):
        find_objective(said)
    with pytest.raises(UserError, match=refusal):
        entry_named(said)


def loss(objective, model=None):
    batch = objective.batch(suited(objective, tokens_for(objective)), generator(1))
    model = model or make_model(
        with_required_parts(Architecture(layers=1, width=8, heads=2), batch), SPECIALS.size, generator(0)
    )
    total, terms = total_loss(model.eval()(batch))
    return float(total.detach()), {name: float(value.detach()) for name, value in terms.items()}, model


@pytest.mark.parametrize(("said", "weights"), [
    ("MLM + 0.5*SOP", {"hidden words": 1.0, "pair": 0.5}),
    ("2*MLM + 3*LM", {"hidden words": 2.0, "next word": 3.0}),
])  # fmt: skip
def test_the_loss_is_the_weighted_sum(said, weights):
    total, terms, _ = loss(find_objective(said))
    assert terms.keys() == weights.keys()
    assert total == pytest.approx(sum(weight * terms[name] for name, weight in weights.items()), rel=1e-5)


def test_a_sum_by_name_is_the_one_that_mixed_makes():
    parts = ((1.0, objectives()["MLM"]), (50.0, objectives()["RTD"]))
    named, made = find_objective("MLM + 50 RTD"), mixed("", parts, idea="", loss="", source="")
    assert (named.stages, named.auxiliary, named.terms) == (made.stages, made.auxiliary, made.terms)
    assert {"hidden words", "RTD: hidden words"} <= {term.target for term in named.terms}


def test_knobs_masks_by_hand_and_the_stage_take_a_sum():
    assert find_objective("MLM + 0.5 LM").turn({"mask_ratio": 0.3}).knobs["mask_ratio"].default == 0.3
    opened = with_overrides(find_objective("MLM + 0.5 LM"), (AttentionMaskOverride("encoder", opens=(1,)),))
    assert opened.name == "MLM + 0.5 LM" and opened.stages != find_objective("MLM + 0.5 LM").stages
    made = rebuild("MLM + 0.5 SOP", TEXT, pair=PAIR)
    assert not made.verdict.leak
    assert {each["target"]: each["weight"] for each in made.facts()["terms"]} == {"hidden words": 1.0, "pair": 0.5}
    json.dumps(made.record())


@pytest.fixture
def call(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", os.devnull)

    def run(*arguments):
        try:
            status = cli.main(arguments)
        except SystemExit as stop:
            status = stop.code
        said = capsys.readouterr()
        return status, said.out, said.err

    return run


def test_the_command_line_shows_a_sum(call):
    status, out, _ = call("objective", "MLM + 0.5 SOP", "--text", TEXT, "--pair", PAIR, "--json")
    assert (status, json.loads(out)["objective"]) == (0, "MLM + 0.5 SOP")
    assert call("objective", "MLM + 0 SOP")[::2] == (2, "The weight of SOP is 0; it must be a number above 0.\n")
    assert "MLM + 0.5 SOP" in call("objective", "--help")[1]


@pytest.mark.slow
def test_the_command_line_trains_a_sum_and_goes_on_with_it(call):
    text = " . ".join(f"{TEXT[:-2]} {PAIR[:-2]} {k}" for k in range(300))
    with open("text.txt", "w", encoding="utf-8") as file:
        file.write(text)
    tiny = [a for knob in ("width=16", "heads=2", "layers=1", "seq_len=16", "batch_size=4") for a in ("--set", knob)]
    train = ("train", "MLM + 50 RTD", "--corpus", "text.txt", "--out", "run", "--json", *tiny)
    for steps, more in ((2, ()), (4, ("--resume",))):
        status, out, err = call(*train, "--steps", str(steps), *more)
        assert status == 0, err
        told = json.loads(out)
        assert (told["entry"], told["steps"]) == ("MLM + 50 RTD", steps)
        assert torch.isfinite(torch.tensor(told["loss"]["held_out"]))


def test_a_link_carries_a_sum_and_the_list_takes_it_as_it_is_typed():
    store = StageStore()
    store.objective = "mlm + .5*lm"
    assert store.objective == "MLM + 0.5 LM"
    assert store.rebuilt.objective.name == "MLM + 0.5 LM"
    other = StageStore()
    other.open(store.query())
    assert (other.objective, other.trouble) == ("MLM + 0.5 LM", "")
    store.objective = "MLM + 0 LM"
    assert (store.objective, store.trouble) == ("MLM", "The weight of LM is 0; it must be a number above 0.")


# UniLM's masks


def pairs_of(first, second, rows=1):
    near = tokens_of([[60 + k for k in range(second)]] * rows, padded=False)
    return replace(tokens_of([[40 + k for k in range(first)]] * rows, padded=False), neighbours={"next": near})


MASKS = ("both sides", "seq2seq", "left to right", "right to left")


@pytest.mark.parametrize("kind", MASKS)
def test_unilm_is_cloze_and_not_shift(kind):
    """Answers stand at their own places under every mask; asked for the next word instead, a two-sided mask leaks."""
    tokens = pairs_of(7, 6)
    batch = find_objective(f"UniLM {kind}").turn({"mask_ratio": 0.4}).batch(tokens, generator(8))
    target = batch.targets[0]
    assert torch.equal(target.origin[target.loss_mask], batch.inputs.origin[target.loss_mask])
    assert torch.equal(target.loss_mask, (batch.inputs.origin >= 0) & (target.loss_mask))
    assert {0, 1} == set(batch.inputs.segment_ids[target.loss_mask].tolist())
    assert not leaks.check(batch).leak
    next_word = replace(target, origin=batch.inputs.origin.roll(-1, 1), loss_mask=batch.inputs.origin.roll(-1, 1) >= 0)
    assert leaks.check(replace(batch, targets=(next_word,))).leak == (kind != "left to right")


def test_the_four_masks_of_unilm_share_the_rows_of_every_batch():
    """A third, a third, a sixth and a sixth (arXiv:1905.03197, sec. 2.3), in each 32 rows one more or less."""
    stage = find_objective("UniLM").stages[0]
    for seed in range(20):
        drawn = stage.plan(begin(plain_rows(32 * 256, 3)), generator(seed)).number.view(256, 32)
        for number, share in enumerate((1 / 3, 1 / 3, 1 / 6, 1 / 6)):
            counts = (drawn == number).sum(1)
            assert ((counts - 32 * share).abs() < 2).all()
            assert float(counts.double().mean()) == pytest.approx(32 * share, abs=0.05)


@pytest.mark.parametrize("knobs", [{}, {"SeeLeft.sliding_window": 3}])
def test_every_row_of_unilm_is_as_its_own_part_makes_it(knobs):
    """Of different lengths: what a row reads, who attends to whom, and what is asked of it alone."""
    objective = find_objective("UniLM").turn(knobs)
    tokens = suited(objective, tokens_of([[40 + k for k in range(2 + 3 * (row % 4))] for row in range(24)]))
    steps = objective.steps(tokens, generator(3))
    whole = steps[-1].batch
    assert not whole.inputs.attn_mask.dense().any(1)[~whole.inputs.valid].any(), "padding is attended to by nobody"
    ends = [step for step, other in pairwise(steps[1:]) if step.rows is not other.rows]
    assert sorted(row for step in (*ends, steps[-1]) for row in step.rows.tolist()) == list(range(24))
    assert [len(step.batch.tokens.ids) for step in ends] == [len(step.rows) for step in ends]
    for step in ends:
        part, asked = step.batch, {target.name for target in step.batch.targets}
        width, own = part.inputs.ids.shape[1], step.rows
        for name in ("ids", "origin", "valid", "segment_ids", "position_ids"):
            assert torch.equal(getattr(whole.inputs, name)[own, :width], getattr(part.inputs, name)), name
        real = part.inputs.valid[:, :, None] & part.inputs.valid[:, None, :]
        there = whole.inputs.attn_mask.dense()[own, :width, :width]
        assert torch.equal(there & real, part.inputs.attn_mask.dense() & real)
        assert torch.equal(whole.tokens.lengths[own], part.tokens.lengths)
        for target in whole.targets:
            mask = target.loss_mask[own]
            assert bool(mask.any()) == (target.name in asked)
            for alone in (each for each in part.targets if each.name == target.name):
                assert torch.equal(mask[:, :width], alone.loss_mask) and not mask[:, width:].any()
                assert torch.equal(target.labels[own][mask], alone.labels[alone.loss_mask])
                assert alone.weight == target.weight


def test_a_batch_of_unilm_has_the_weighted_loss_of_its_parts():
    """As in the released code: the hidden words of all rows, and the labels of the pairs that are judged."""
    objective = find_objective("UniLM")
    tokens = suited(objective, plain_rows(24, 8))
    steps = objective.steps(tokens, generator(1))
    shape = with_required_parts(Architecture(layers=1, width=16, heads=2), *specimens(objective, tokens, generator(0)))
    model = make_model(shape, SPECIALS.size, generator(0)).eval()
    with torch.no_grad():
        total, terms = total_loss(model(steps[-1].batch))
    weights = [1 / 3, 1.0, 1 / 3, 1 / 6, 1 / 6]
    assert [target.weight for target in steps[-1].batch.targets] == weights
    assert float(total) == pytest.approx(sum(w * float(t) for w, t in zip(weights, terms.values(), strict=True)))
    again = objective.replay(tokens, tuple(step.plan for step in steps))
    with torch.no_grad():
        assert float(total_loss(model(again[-1].batch))[0]) == float(total)
    ends = [step for step, other in pairwise(steps[1:]) if step.rows is not other.rows]
    for step in ends:
        for name, value in total_loss(model(step.batch))[1].items():
            assert float(value.detach()) == pytest.approx(float(terms[name]), rel=1e-5)


# GPT-BERT's two readings


def test_gpt_bert_shares_rows_15_to_1_and_weighs_the_two_losses_so():
    """Of 16 GPUs 15 train on hidden words, and the mean is over GPUs (arXiv:2410.24159, sec. 2, released code)."""
    objective = find_objective("GPT-BERT")
    drawn = objective.stages[0].plan(begin(plain_rows(32 * 256, 3)), generator(1)).number
    assert float((drawn == 1).double().mean()) == pytest.approx(1 / 16, abs=1e-3)
    steps = objective.steps(plain_rows(64, 20), generator(2))
    batch, causal = steps[-1].batch, steps[0].plan.number == 1
    assert [(target.name, target.weight) for target in batch.targets] == [
        ("hidden words", 15 / 16),
        ("next word", 1 / 16),
    ]
    masked, after = batch.targets
    assert causal.any() and not masked.loss_mask[causal].any() and not after.loss_mask[~causal].any()
    for target in batch.targets:
        rows, positions = target.loss_mask.nonzero(as_tuple=True)
        text = batch.tokens.ids[rows, target.origin[rows, positions]]
        assert torch.equal(target.labels[rows, positions], text)
        shown = batch.inputs.origin[rows, positions]
        assert torch.equal(shown + 1, target.origin[rows, positions]), "both answer one position before the word"
    cells = batch.inputs.attn_mask.dense()
    assert not cells[causal].triu(1).any() and cells[~causal].any(1)[batch.inputs.valid[~causal]].all()
    assert not any(leaks.check(batch, row=row).leak for row in range(64))


def test_the_hidden_spans_of_gpt_bert_are_its_share_of_the_tokens():
    plan = {"part": 1}
    batch = find_objective("GPT-BERT").steps(plain_rows(64, 20), generator(0), plan)[-1].batch
    assert batch.selected.sum(1).tolist() == [6] * 64


def scores_of(model, batch):
    """The scores of each row and target, in the order of the positions."""
    with torch.no_grad():
        answers = model(batch)
    found = {}
    for answer in answers:
        for row in answer.rows.unique().tolist():
            found[row, answer.target.name] = answer.scores[answer.rows == row]
    return found


@pytest.mark.parametrize("names", [
    ("T5 spans", "T5 prefix LM", "span mask"), ("BART mixture", "T5 drop"), ("span mask", "discrete mask"),
])  # fmt: skip
@pytest.mark.parametrize("positions", ["rotary", "relative bias", "learned"])
def test_a_row_of_several_decoders_is_answered_as_in_a_batch_of_its_own(names, positions):
    """Padding to the widest encoder and decoder changes no score, and what no decoder may see stays hidden."""
    parts = [find_objective(name) for name in names]
    shared = mixture("shared", tuple((1.0, part) for part in parts), by_row=True, **CARD)
    tokens = suited(shared, tokens_of([[40 + k for k in range(2 + 3 * (row % 5))] for row in range(25)]))
    rng, drawn = generator(3), []
    for number, part in enumerate(parts):
        rows = torch.arange(number, 25, len(parts))
        drawn.append((part.batch(pick(tokens, rows), rng), rows))
    whole = gathered([batch for batch, _ in drawn], [rows for _, rows in drawn])
    shape = Architecture(layers=2, width=16, heads=2, decoder_layers=2, positions=positions)
    model = make_model(with_required_parts(shape, whole), SPECIALS.size, generator(0)).double().eval()
    together = scores_of(model, whole)
    for batch, rows in drawn:
        for (row, name), scores in scores_of(model, batch).items():
            torch.testing.assert_close(together.pop((int(rows[row]), name)), scores, atol=1e-9, rtol=1e-9)
        width, own = batch.decoder.ids.shape[1], batch.inputs.ids.shape[1]
        cross = whole.decoder.cross_attn_mask.dense()
        assert not cross[rows, :, own:].any(), "padding of the encoder is seen by no decoder"
        assert not whole.decoder.valid[rows, width:].any()
        assert all(not leaks.check(whole, row=row).leak for row in rows.tolist())
    assert not together, "nothing else is asked"


def test_targets_of_one_name_are_one_mean_over_the_rows_of_all_parts():
    parts = (find_objective("T5 spans"), find_objective("T5 drop"))
    batches = [part.batch(plain_rows(4, 20), generator(0)) for part in parts]
    [target] = gathered(batches, [torch.tensor([0, 2, 4, 6]), torch.tensor([1, 3, 5, 7])]).targets
    counts = [batch.targets[0].loss_mask.sum(1) for batch in batches]
    assert target.loss_mask.sum(1).tolist() == torch.stack(counts, dim=1).flatten().tolist()
    heavier = [replace(batches[1], targets=(replace(batches[1].targets[0], weight=0.5),))]
    assert len(gathered([batches[0], *heavier], [torch.arange(4), torch.arange(4, 8)]).targets) == 2


def test_rows_are_not_shared_out_among_one_stack_and_two():
    shared = mixture("shared", ((1.0, find_objective("LM")), (1.0, find_objective("T5 spans"))), by_row=True, **CARD)
    with pytest.raises(UserError, match="only among objectives that read the same one or two stacks"):
        shared.batch(plain_rows(8, 9), generator(0))


# UL2's seven denoisers


PUBLISHED = {(3, 0.15): "[NLU]", (8, 0.15): "[NLU]", (3, 0.5): "[NLG]", (8, 0.5): "[NLG]"} | {
    (64, 0.15): "[NLG]", (64, 0.5): "[NLG]"
}  # fmt: skip
"""Mean length, share and mode of the six that hide spans (arXiv:2205.05131, sec. 3.1); the seventh is [S2S]."""

MODE_TOKENS = dict(zip(("[NLU]", "[S2S]", "[NLG]"), SPECIALS.sentinels[-3:], strict=True))


def first_and_last_ids(batch, row):
    """What stands in front of the input, the rest of it, and what is written."""
    shown_ids = batch.inputs.ids[row][batch.inputs.valid[row]].tolist()
    [target] = batch.targets
    return shown_ids[0], shown_ids[1:], target.labels[row][target.loss_mask[row]].tolist()


@pytest.mark.parametrize("length", [32, 200])
def test_every_row_of_ul2_has_the_mode_of_its_own_denoiser(length):
    """A token for the mode per row: R and X hide spans, S an ending; public collators exchange R and S."""
    steps = find_objective("UL2").steps(plain_rows(42, length), generator(5))
    batch, parts = steps[-1].batch, steps[0].plan.number.tolist()
    assert [parts.count(number) for number in range(7)] == pytest.approx([6] * 7, abs=1)
    settings_of_parts = [*PUBLISHED][:2] + [None] + [*PUBLISHED][2:]
    for row, number in enumerate(parts):
        mode, kept, written = first_and_last_ids(batch, row)
        text = batch.tokens.ids[row].tolist()
        if settings_of_parts[number] is None:
            assert mode == MODE_TOKENS["[S2S]"]
            assert kept + written == [*text, SPECIALS.end], "a prefix, and how it goes on, without sentinels"
            assert 1 <= length - len(kept) <= round(0.5 * (length - 1))
            continue
        mean, share = settings_of_parts[number]
        assert mode == MODE_TOKENS[PUBLISHED[mean, share]]
        assert PUBLISHED[mean, share] == ("[NLG]" if mean >= 12 or share >= 0.3 else "[NLU]"), "llm-foundry's rule"
        gone = round(share * length)
        spans = min(max(1, round(gone / mean)), 32)
        assert len(kept) == length - gone + spans
        assert sum(token in SPECIALS.sentinels for token in kept) == spans
        assert len(written) == gone + spans + 1


def test_the_rows_of_ul2_are_those_of_its_denoisers():
    """The batch is padded to the longest input and the longest output; the loss is one mean over all rows."""
    objective = find_objective("UL2")
    tokens = plain_rows(14, 30)
    steps = objective.steps(tokens, generator(1))
    batch = steps[-1].batch
    assert [target.name for target in batch.targets] == ["written words"]
    shape = with_required_parts(Architecture(layers=1, width=16, heads=2), batch)
    model = make_model(shape, SPECIALS.size, generator(0)).double().eval()
    together, costs = scores_of(model, batch), []
    for step, after in pairwise((*steps[1:], None)):
        if after is not None and step.rows is after.rows:
            continue
        own = (
            step.batch
            if after is not None
            else objective.parts[-1]
            .replay(pick(tokens, step.rows), tuple(each.plan for each in steps if each.rows is step.rows))[-1]
            .batch
        )
        [answer] = model(own)
        costs.append(answer.losses().detach())
        for (row, name), scores in scores_of(model, own).items():
            torch.testing.assert_close(together[int(step.rows[row]), name], scores, atol=1e-9, rtol=1e-9)
    [(_, mean)] = total_loss(model(batch))[1].items()
    assert float(mean.detach()) == pytest.approx(float(torch.cat(costs).mean()))


def test_nothing_of_ul2_leaks_and_a_vocabulary_without_sentinels_is_refused():
    objective, tokens = find_objective("UL2"), plain_rows(14, 20)
    batch = objective.batch(tokens, generator(2))
    assert not any(leaks.check(batch, row=row).leak for row in range(14))
    bare = replace(tokens, specials=replace(SPECIALS, sentinels=SPECIALS.sentinels[:2]))
    with pytest.raises(UserError, match="has 2 sentinels; 3 modes need one each"):
        objective.steps(bare, generator(0), {"part": 3})


# mixtures


CARD = {"idea": "Two at once.", "loss": "Their sum.", "source": "arXiv:1810.04805"}


def test_a_text_alone_has_one_part_in_its_share():
    objective = find_objective("UniLM")
    rng = generator(9)
    drawn = Counter(objective.stages[0].plan(begin(plain_rows(1, 3)), rng).index for _ in range(4000))
    assert_law(drawn, {0: 1 / 3, 1: 1 / 3, 2: 1 / 6, 3: 1 / 6})


def test_each_batch_of_a_mixture_has_one_part_unless_rows_are_shared_out():
    numbers = [prefix_or_cloze().stages[0].plan(begin(plain_rows(9, 3)), generator(s)).number for s in range(20)]
    assert all(len(number.unique()) == 1 for number in numbers)


@settings(max_examples=30)
@given(shares=st.lists(st.sampled_from((0.0, 1.0, 2.0, 3.0)), min_size=1, max_size=4).filter(any), seed=seeds)
def test_a_part_without_a_share_is_never_drawn(shares, seed):
    stage = SampleTask(tuple(shares), ((),) * len(shares))
    parts = {stage.plan(begin(tokens_of([[40]])), generator(seed, k)).index for k in range(5)}
    assert all(shares[part] > 0 for part in parts)


def test_a_mixture_is_one_of_its_parts():
    objective = find_objective("UniLM")
    tokens = suited(objective, plain_rows(3, 9))
    for number, part in enumerate(objective.parts, 1):
        steps = objective.steps(tokens, generator(1), {"part": number})
        assert steps[0].stage.describe_plan(steps[0].batch, steps[0].plan, 0) == {"part": number}
        assert [type(s.stage) for s in steps[1:]] == [type(s) for s in part.stages]
        assert steps[0].plan.number.tolist() == [number - 1] * 3
        again = objective.replay(tokens, tuple(s.plan for s in steps))
        assert torch.equal(again[-1].batch.inputs.attn_mask.dense(), steps[-1].batch.inputs.attn_mask.dense())
    with pytest.raises(UserError, match=r"The part is 5; this mixture has the parts 1 to 4\."):
        objective.steps(tokens, generator(1), {"part": 5})


def test_each_mask_of_unilm_has_a_loss_of_its_own_and_a_text_alone_asks_that_of_the_mask_it_drew():
    objective = find_objective("UniLM")
    losses = [[f"hidden words, {mask}", *["pair"] * (mask == "both sides")] for mask in MASKS]
    assert [term.target for term in objective.terms] == [target for asked in losses for target in asked]
    drawn = set()
    for seed in range(12):
        made = story("UniLM", seed=seed)
        number = made.facts()["plan"]["part"] - 1
        assert [target.name for part in made.batch.with_auxiliary for target in part.targets] == losses[number]
        assert list(made.facts()["signal_by_target"]) == losses[number]
        assert [term["target"] for term in made.facts()["terms"]] == losses[number]
        drawn.add(number)
    assert drawn == {0, 1, 2, 3}


def test_unilm_hides_a_fifth_as_two_or_three_and_numbers_the_segments_by_the_mask():
    """One text where it is read from one side, two elsewhere; segments as in the released code (arXiv:1905.03197)."""
    objective, tokens = find_objective("UniLM"), pairs_of(12, 11)
    for number, overrides in enumerate(({0, 1}, {4, 5}, {2}, {3}), 1):
        batch = objective.steps(suited(objective, tokens), generator(3), {"part": number})[-1].batch
        assert set(batch.inputs.segment_ids[batch.inputs.valid].tolist()) == overrides
        assert int((batch.inputs.origin >= 0).sum()) == (12 if number > 2 else batch.tokens.lengths.sum())
    chooses = [stage for part in objective.parts for stage in part.stages if isinstance(stage, ChooseNgrams)]
    assert [(stage.sampler, stage.max_ngram, stage.whole_words) for stage in chooses] == [("80/20", 3, False)] * 4


def prefix_or_cloze():
    return mixture("prefix or cloze", ((1.0, find_objective("seq2seq LM")), (3.0, find_objective("MLM"))), **CARD)


def test_a_plan_by_hand_goes_to_a_part_that_knows_it():
    objective = prefix_or_cloze()
    assert objective.plan_keys == ("part", "split", "chosen", "actions", "replace")
    assert [t.target for t in objective.terms] == ["next word", "hidden words"]
    for seed in range(6):
        assert describe_plan(objective.steps(plain_rows(1, 8), generator(seed), {"split": 3})) == {
            "part": 1,
            "split": 3,
        }
    with pytest.raises(UserError, match=r"Part 2 has no plan for split; its keys are: chosen, actions, replace\."):
        objective.steps(plain_rows(1, 8), generator(0), {"part": 2, "split": 3})
    with pytest.raises(UserError, match=r"Part \d has no plan for chosen, split"):
        objective.steps(plain_rows(1, 8), generator(0), {"chosen": [1], "split": 3})
    found = Counter(objective.steps(plain_rows(1, 8), generator(s))[0].plan.index for s in range(600))
    assert_share(found[1], 600, 0.75)


def test_knobs_of_a_mixture_turn_every_part():
    objective = find_objective("UniLM").turn({"mask_ratio": 0.5})
    assert [part.knobs["mask_ratio"].default for part in objective.parts] == [0.5] * 4


def test_shares_must_add_up_to_something():
    for shares in ((0.0, 0.0), (-1.0, 2.0)):
        with pytest.raises(UserError, match=r"The shares of none are .*; none may be negative and one must be above 0"):
            mixture("none", tuple(zip(shares, (find_objective("LM"), find_objective("MLM")), strict=True)), **CARD)


def test_a_sum_weighs_its_parts_and_names_their_questions_apart():
    """MLM and 50 times RTD both ask for hidden words: the second says whose they are."""
    objective = mixed("both", ((2.0, find_objective("MLM")), (0.5, find_objective("RTD"))), **CARD)
    assert [t.target for t in objective.terms] == ["hidden words", "RTD: hidden words", "replaced?"]
    batch = objective.batch(plain_rows(3, 12), generator(0))
    weights = {target.name: target.weight for part in batch.with_auxiliary for target in part.targets}
    assert weights == {"hidden words": 2.0, "RTD: hidden words": 0.5, "replaced?": 25.0}
    assert objective.formula.startswith(r"-2\,\frac")
    assert r"-0.5\,\lambda\,\frac" in objective.formula.replace(" - ", " + -")
    model = make_model(
        with_required_parts(Architecture(layers=1, width=16, heads=2), batch), SPECIALS.size, generator(0)
    )
    total, terms = total_loss(model(batch))
    assert total.item() == pytest.approx(sum(weights[k] * t.item() for k, t in terms.items()), rel=1e-5)


def test_a_mixture_may_stand_first_in_a_sum_and_a_sum_in_a_mixture():
    first = mixed("first", ((0.5, prefix_or_cloze()), (1.0, find_objective("BiLM"))), **CARD)
    for seed in range(6):
        batch = first.batch(plain_rows(2, 8), generator(seed))
        names = {target.name: target.weight for part in batch.with_auxiliary for target in part.targets}
        assert names in (
            {"BiLM: next word": 0.5, "previous word": 0.5, "next word": 0.5},
            {"BiLM: next word": 0.5, "previous word": 0.5, "hidden words": 0.5},
        )
    nested = mixture("nested", ((1.0, find_objective("BiLM")), (1.0, find_objective("MLM"))), **CARD)
    parts = {len(nested.batch(plain_rows(2, 8), generator(seed)).with_auxiliary) for seed in range(20)}
    assert parts == {1, 2}
    steps = nested.steps(plain_rows(2, 8), generator(0), {"part": 1})
    assert [s.part for s in steps] == [-1, 1, 1, 1, 0, 0, 0]
