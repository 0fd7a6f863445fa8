"""Transformer-XL's and XLNet's memory: a segment behind its memory is read as the end of one long segment."""

from dataclasses import replace
from itertools import pairwise

import pytest
import torch

from playground.batch import AttentionMask, begin, zeros_view
from playground.corpora.corpus import pick
from playground.errors import UserError
from playground.models import Architecture, make_model
from playground.objectives import find_objective
from playground.training import segment_memory, train
from playground.training.data import BatchSampler, continuing
from playground.training.loop import prepared
from playground.training.observe.subjects import of_learner
from tests.runs import alone, learner_of, reviews, run_of, tiny

T = 12
POSITIONS = pytest.mark.parametrize("positions", ["relative", "relative bias", "rotary"])


@pytest.fixture
def text():
    """Four rows of two segments each, as the second follows the first in a corpus."""
    return BatchSampler.of(reviews(), 2 * T, 4, 0, torch.device("cpu")).at(0)


def model_of(positions, attention="left to right", norm_first=True, **parts):
    shape = Architecture(layers=3, width=16, heads=2, positions=positions, attention=attention, norm_first=norm_first)
    model = make_model(replace(shape, mem_len=2 * T, **parts), len(reviews().tokenizer), rng(1))
    with torch.no_grad():  # all terms of relative positions count
        for name, parameter in model.named_parameters():
            if name.endswith(("content_bias", "position_bias", "query_embedding")):
                parameter.normal_(generator=rng(2))
    return model


def rng(seed):
    return torch.Generator().manual_seed(seed)


def halves(text):
    """The two segments, the second of which knows the word before it."""
    first, second = (
        replace(text, ids=ids, word_ids=zeros_view(ids), sentence_ids=zeros_view(ids), lengths=text.lengths // 2)
        for ids in text.ids.split(T, dim=1)
    )
    return replace(first, labels={}), replace(second, labels={}, previous_ids=text.ids[:, T - 1])


def states_of(model, batch, mems=()):
    """The last states of an example behind a memory, and what its layers read."""
    inputs, read = replace(batch.inputs, mems=mems), []
    return model.network(inputs, model.token_embedding.weight, states=read), read


@POSITIONS
@pytest.mark.parametrize("norm_first", [True, False])
def test_behind_its_memory_a_segment_has_the_states_of_the_long_one(text, positions, norm_first):
    """Transformer-XL, sec. 3.2: every word also attends to all words of the segment before, in every layer."""
    model, lm = model_of(positions, norm_first=norm_first), find_objective("LM")
    whole, (first, second) = lm.batch(text, rng(0)), (lm.batch(half, rng(0)) for half in halves(text))
    assert torch.equal(second.inputs.ids[:, 0], text.ids[:, T - 1]), "no special token of a beginning stands between"
    expected = states_of(model, whole)[0][:, T:]
    mems = segment_memory.extended((), states_of(model, first)[1], 2 * T)
    torch.testing.assert_close(states_of(model, second, mems)[0], expected, rtol=0, atol=1e-5)
    assert (states_of(model, second)[0] - expected).abs().max() > 1e-2, "without its memory it has not"
    assert not any(states.requires_grad for states in mems)


@POSITIONS
def test_behind_its_memory_a_permuted_segment_has_the_states_of_the_long_one_in_both_streams(text, positions):
    """XLNet, sec. 2.4: whatever the order of the segment before, its content states stand for it."""
    model, plm = model_of(positions, "bidirectional", two_streams=True), find_objective("PLM")
    first, second = (plm.batch(half, rng(k)) for k, half in enumerate(halves(text)))
    assert second.inputs.query_attn_mask is not None

    def whole(one, other):
        """The first segment attends to itself alone, the second to all of the first and to itself by its own order."""
        one, other = one.dense().expand(4, -1, -1), other.dense().expand(4, -1, -1)
        rows = torch.cat([one, torch.zeros_like(one)], 2), torch.cat([torch.ones_like(other), other], 2)
        return AttentionMask(*(zeros_view(text.ids) for _ in range(2)), overrides=torch.cat(rows, 1))

    names = ("attn_mask", "query_attn_mask")
    masks = {name: whole(*(getattr(e.inputs, name) for e in (first, second))) for name in names}
    long = replace(begin(text).inputs, **masks)
    mems, table = tuple(states_of(model, first)[1]), model.token_embedding.weight
    behind, positions = replace(second.inputs, mems=mems), torch.arange(T).expand(4, -1)
    expected = model.network(long, table)[:, T:]
    torch.testing.assert_close(model.network(behind, table), expected, rtol=0, atol=1e-5)
    expected = model.network.query_stream(long, positions + T, table)
    torch.testing.assert_close(model.network.query_stream(behind, positions, table), expected, rtol=0, atol=1e-5)


def test_the_memory_of_several_segments_is_as_long_as_asked_and_ends_with_the_last(text):
    states = [[torch.full((4, T, 16), float(k))] * 3 for k in range(3)]
    mems = ()
    for each in states:
        mems = segment_memory.extended(mems, each, T + 2)
    assert [tuple(level.shape) for level in mems] == [(4, T + 2, 16)] * 3
    assert mems[0][0, :, 0].tolist() == [1.0] * 2 + [2.0] * T


# training


def test_rows_continue_those_of_the_step_before_and_no_text_is_read_twice():
    feed = BatchSampler.of(reviews(), 16, 8, 0, torch.device("cpu"), continues=True)
    steps = len(feed.windows.ids) // 8
    batches = [feed.at(step) for step in range(steps)]
    assert bool((batches[0].previous_ids < 0).all()) and bool((feed.at(steps).previous_ids < 0).all())
    for before, after in pairwise(batches):
        assert torch.equal(after.example_ids, before.example_ids + 1)
        assert torch.equal(after.previous_ids, before.ids[:, -1])
    assert len(torch.cat([batch.example_ids for batch in batches]).unique()) == steps * 8
    assert continuing(7, 2).tolist() == [0, 3, 1, 4, 2, 5]


def test_where_nothing_is_remembered_rows_are_drawn_as_before():
    assert BatchSampler.of(reviews(), 16, 8, 0, torch.device("cpu")).at(3).previous_ids is None
    assert run_of("GPT").entry.continues is False


@pytest.mark.parametrize("name", ["Transformer-XL", "XLNet"])
def test_a_step_attends_to_the_states_of_the_step_before_and_an_epoch_begins_without(name):
    """XLNet keeps the half of a row that the next one goes on behind (released code)."""
    entry = tiny(name, model={"mem_len": 20}, batch_size=256)
    run = run_of(entry=entry, steps=8)
    events = [e for e in train(run) if hasattr(e, "batch")]
    held = [e.batch.inputs.mems[0].shape[1] if e.batch.inputs.mems else 0 for e in events]
    rows = BatchSampler.of(run.corpus, 16, 256, 0, run.device, entry.needs, continues=True).windows
    kept, steps = rows.reuse_len or 16, len(rows.ids) // 256
    assert kept == (8 if name == "XLNet" else 16)
    assert held == [min(20, kept * (k % steps)) for k in range(8)]


def test_a_batch_in_parts_has_the_same_memory():
    whole, parts = (learner_of("XLNet", grad_accum_steps=number) for number in (1, 3))
    feed = BatchSampler.of(reviews(), 16, 8, 0, torch.device("cpu"), ("pair",), continues=True)
    for step in range(2):
        for learner in (whole, parts):
            learner.learn(learner.batch(feed.at(step)))
    for ours, theirs in zip(whole.mems, parts.mems, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-5)


def test_a_gradient_stays_in_its_segment(text):
    """The memory is read without gradient: no word of the segment before moves by it."""
    model, lm = model_of("relative"), find_objective("LM")
    first, second = (lm.batch(half, rng(0)) for half in halves(text))
    embedded = []
    model.token_embedding.weight.requires_grad_(True).register_hook(embedded.append)
    mems = segment_memory.extended((), states_of(model, first)[1], T)
    hidden = model.network(replace(second.inputs, mems=mems), model.token_embedding.weight)
    (hidden * torch.randn(hidden.shape, generator=rng(3))).sum().backward()
    moved = {int(k) for k in embedded[0].abs().sum(1).nonzero()}
    assert moved == set(second.inputs.ids.flatten().tolist())


def test_an_inspection_reads_the_rows_on_which_training_evaluates():
    run = run_of(entry=tiny("Transformer-XL"))
    rows, state = prepared(run).held_out, prepared(run)
    held_out = of_learner(state.learner, run.corpus).held_out
    assert torch.equal(held_out.ids, rows.ids) and torch.equal(held_out.previous_ids, rows.previous_ids)


def test_evaluation_reads_on_as_training_does():
    learner = learner_of("Transformer-XL")
    rows = BatchSampler.of(reviews(), 16, 8, 0, torch.device("cpu"), continues=True).evaluation()
    assert segment_memory.stretches(rows) == 8
    mems, each = (), []
    for first in range(0, len(rows.ids), 8):
        read, step = [], learner.objective.batch(pick(rows, torch.arange(first, first + 8)), rng(0))
        with torch.no_grad():
            [answer] = learner.model(segment_memory.with_mems(step, mems), states=read)
        mems = segment_memory.extended(mems, read, 32)
        each.append(answer.losses())
    assert list(learner.evaluate(rows).values()) == pytest.approx([float(torch.cat(each).mean())], abs=1e-5)
    assert learner.evaluate(replace(rows, previous_ids=None)) != learner.evaluate(rows)


@pytest.mark.parametrize(
    ("name", "model", "said"),
    [
        ("BERT", {}, "positions are learned"),
        ("BART", {"positions": "rotary"}, "a second network"),
        ("ELMo", {}, "the kind is lstm"),
        ("ELECTRA", {"positions": "rotary"}, "a second network"),
    ],
)
def test_a_model_that_cannot_remember_says_so(name, model, said):
    with pytest.raises(UserError, match=said):
        tiny(name, model={"mem_len": 16} | model)


def test_rows_that_do_not_continue_each_other_are_refused():
    entry = alone(find_objective("TLM"))
    with pytest.raises(UserError, match="reads several texts, which do not continue"):
        list(train(run_of(entry=replace(entry, model=replace(entry.model, mem_len=16)), steps=1)))


def test_a_memory_that_would_have_seen_the_answers_of_the_next_rows_is_refused():
    with pytest.raises(UserError, match=r"under the mask of MLM \+ NSP the half of a row that is remembered attends"):
        list(train(run_of(entry=tiny("BERT", model={"mem_len": 16, "positions": "rotary"}), steps=1)))


# pairs behind a stretch that goes on from row to row (XLNet)


@pytest.fixture
def paired():
    """Four rows of 16 tokens in each of three steps."""
    needs = find_objective("PLM on pairs").needs
    return BatchSampler.of(reviews(), 16, 4, 0, torch.device("cpu"), needs, continues=True)


def test_a_row_of_pairs_goes_on_behind_the_first_half_of_the_row_before(paired):
    """[stretch, A, SEP, B, SEP, CLS]: A goes on behind the stretch, B behind A or in another document."""
    corpus, rows = reviews(), paired.windows
    number = torch.arange(len(rows.ids))
    assert rows.reuse_len == 8 and bool((rows.lengths > 8).all() and (rows.lengths < 16).all())
    following, other = rows.neighbours["next"], rows.neighbours["other"]
    assert torch.equal(following.lengths, 16 - rows.lengths) and torch.equal(other.lengths, following.lengths)
    for row in (0, 5, len(number) - 1):
        text, a = corpus.ids[8 * row : 8 * row + 16].tolist(), int(rows.lengths[row])
        assert [*rows.ids[row, :a].tolist(), *following.ids[row, : 16 - a].tolist()] == text
        ends = (
            corpus.sentence_ids[8 * row + 9 : 8 * row + 16] != corpus.sentence_ids[8 * row + 8 : 8 * row + 15]
        ).tolist()
        assert ends[a - 9] or not any(ends), "cut between two sentences where it can be"
    batches = [paired.at(step) for step in range(3)]
    for before, after in pairwise(batches):
        assert torch.equal(after.previous_ids, before.ids[:, 7])
        assert torch.equal(after.example_ids, before.example_ids + 1)
    plan = find_objective("PLM on pairs").stages[0].plan(begin(paired.between(0, 400)), rng(0))
    assert abs(float(plan.double().mean()) - 0.5) < 0.05


def test_the_half_that_is_remembered_knows_nothing_of_the_pair(paired):
    """An order of its own, first of all; what comes behind sees all of it (XLNet's released code, sec. 2.5)."""
    objective = find_objective("PLM on pairs")
    batch = objective.batch(paired.at(0), rng(0))
    inputs = batch.inputs
    for mask in (inputs.attn_mask, inputs.query_attn_mask):
        cells = mask.dense()
        assert not cells[:, :8, 8:].any()
        assert cells[:, 8:19, :8].all()
    rank, late = batch.prediction_order[:, :8], batch.selected[:, :8]
    seen = inputs.query_attn_mask.dense()[:, :8, :8]
    assert torch.equal(seen[late], ((~late[:, None, :]) | (rank[:, None, :] < rank[:, :, None]))[late])
    assert inputs.segment_ids[0, :19].tolist() == [
        *[0] * (int(paired.at(0).lengths[0]) + 1), *[1] * (17 - int(paired.at(0).lengths[0])), 2,
    ]  # fmt: skip


def test_the_states_that_a_step_keeps_are_those_of_the_text_alone(paired):
    """Whatever pair stands behind them, and in a row behind its own memory."""
    model = model_of("relative", "bidirectional", two_streams=True, segments=2)
    objective, tokens = find_objective("PLM on pairs"), paired.at(0)
    kept = []
    for swapped in (False, True):
        neighbours = {"next": tokens.neighbours["other" if swapped else "next"], "other": tokens.neighbours["other"]}
        steps = objective.steps(replace(tokens, neighbours=neighbours), rng(0), {"pair": "next"})
        kept.append(segment_memory.extended((), states_of(model, steps[-1].batch)[1], 32, tokens.reuse_len))
    assert [tuple(level.shape) for level in kept[0]] == [(4, 8, 16)] * 3
    for one, other in zip(*kept, strict=True):
        torch.testing.assert_close(one, other)
