"""Whole units, n-grams, geometric spans, trigrams and their boundaries: choose/{units,ngrams,geometric,trigrams}.py."""

from collections import Counter
from dataclasses import replace
from itertools import pairwise, permutations
from math import ceil, factorial

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from playground.batch import begin
from playground.errors import UserError
from playground.models import Architecture, make_model, with_required_parts
from playground.objectives import find_objective
from playground.objectives.ask import AskSpanBoundary
from playground.objectives.choose import (
    ChooseGeometricSpans,
    ChooseNgrams,
    ChooseTokens,
    ChooseTrigrams,
    ChooseWholeUnits,
)
from playground.objectives.choose.geometric import take_spans
from playground.objectives.choose.ngrams import take_ngrams
from playground.objectives.choose.trigrams import take_trigrams
from playground.objectives.choose.units import at_least_one, take_at_random, take_in_order, take_what_fits, unit_numbers
from playground.objectives.ops import sampling
from playground.objectives.ops.marked_spans import marked_spans, spread
from playground.rng import generator
from tests.laws import assert_law, assert_share, uniform
from tests.oracles import masking as slow
from tests.oracles import stages
from tests.stories import texts
from tests.texts import SPECIALS, batches, plain_rows, seeds, story, suited, tokens_of

# units


def found_units(tokens, unit):
    number = unit_numbers(tokens, unit)
    return [slow.units(text, number[row].tolist()) for row, text in enumerate(texts(tokens))]


@settings(max_examples=40)
@given(tokens=batches(), seed=seeds, unit=st.sampled_from(("word", "phrase", "entity", "knowledge")), cut=st.booleans())
def test_units_are_taken_while_they_fit(tokens, seed, unit, cut):
    """Places come in any order, some of them twice; where a unit must be cut, it is any of those of the row."""
    tokens = suited(find_objective("knowledge masking"), tokens)
    batch, rate = begin(tokens), 0.3
    size = ChooseWholeUnits(unit, mask_ratio=rate).units(batch).size
    budget = torch.tensor([stages.count_half_even(t, rate) for t in texts(tokens)])
    order = sampling.noise(tuple(tokens.ids.shape), generator(seed)).argsort(1)
    order = torch.cat([order[:, :3], order], dim=1)
    taken = take_what_fits(size, order.T, budget)
    taken = at_least_one(taken, size, budget, generator(seed)) if cut else taken
    positions = sampling.marked(spread(taken.begun, taken.size), size)
    for row, units in enumerate(found_units(tokens, unit)):
        number, hidden = {u[0]: k for k, u in enumerate(units)}, set(positions[row].nonzero().flatten().tolist())
        came = list(dict.fromkeys(number[position] for position in order[row].tolist() if position in number))
        whole = slow.take_units(units, came, int(budget[row]))
        starts = came if cut and budget[row] and not whole else []
        ways = [slow.take_units(units, [k], int(budget[row]), min_one=True) for k in starts] or [whole]
        assert hidden in ways
        assert int(taken.left[row]) == int(budget[row]) - len(whole)


@settings(max_examples=40)
@given(tokens=batches(), seed=seeds, unit=st.sampled_from(("word", "phrase", "entity", "knowledge")))
def test_units_come_in_order_until_the_budget_is_spent_and_the_last_is_cut(tokens, seed, unit):
    tokens = suited(find_objective("knowledge masking"), tokens)
    size = ChooseWholeUnits(unit).units(begin(tokens)).size
    noise = sampling.noise(tuple(size.shape), generator(seed))
    budget = torch.tensor([stages.count_half_even(text, 0.3) for text in texts(tokens)])
    positions = sampling.marked(spread(*take_in_order(size, noise, budget)), size)
    for row, units in enumerate(found_units(tokens, unit)):
        order = sorted(range(len(units)), key=lambda k: noise[row, units[k][0]])
        hidden = set(positions[row].nonzero().flatten().tolist())
        assert hidden == slow.take_in_order(units, order, int(budget[row]))
        assert len(hidden) == min(int(budget[row]), sum(map(len, units)))


@settings(max_examples=40)
@given(tokens=batches(), seed=seeds, rate=st.sampled_from((0.0, 0.15, 0.5, 1.0)), one=st.booleans())
def test_p5_p7_whole_units_within_the_budget(tokens, seed, rate, one):
    stage, batch = ChooseWholeUnits(mask_ratio=rate, min_one=one), begin(tokens)
    chosen = stage.plan(batch, generator(seed)).positions
    for row, text in enumerate(texts(tokens)):
        hidden = set(chosen[row].nonzero().flatten().tolist())
        units, budget = found_units(tokens, "word")[row], stages.count_half_even(text, rate)
        parted = [u for u in units if hidden & set(u) and not set(u) <= hidden]
        assert len(hidden) <= budget
        assert not parted or (one and len(hidden) == budget and len(parted) == 1 and not hidden - set(parted[0]))
        left = [len(u) for u in units if not hidden & set(u)]
        assert parted or not left or budget - len(hidden) < min(left)
        assert hidden or not one or not budget


@settings(max_examples=40)
@given(tokens=batches(), seed=seeds, rate=st.sampled_from((0.0, 0.15, 0.5, 1.0)))
def test_whole_words_with_the_last_one_cut_fill_the_budget(tokens, seed, rate):
    chosen = ChooseWholeUnits(mask_ratio=rate, truncate=True).plan(begin(tokens), generator(seed)).positions
    for row, text in enumerate(texts(tokens)):
        hidden = set(chosen[row].nonzero().flatten().tolist())
        parted = [u for u in found_units(tokens, "word")[row] if hidden & set(u) and not set(u) <= hidden]
        assert len(hidden) == stages.count_half_even(text, rate)
        assert len(parted) <= 1
        assert not parted or parted[0][0] in hidden, "a word is cut at its end"


@pytest.mark.parametrize("name", ["phrase masking", "entity masking", "knowledge masking"])
@settings(max_examples=30)
@given(tokens=batches(), seed=seeds)
def test_names_and_phrases_are_hidden_whole(name, tokens, seed):
    """ERNIE draws each unit by itself, so that none is cut to fit (reference, section 4)."""
    objective = find_objective(name)
    tokens = suited(objective, tokens)
    unit = next(stage.unit for stage in objective.stages if isinstance(stage, ChooseWholeUnits))
    chosen = objective.batch(tokens, generator(seed)).selected
    for row, units in enumerate(found_units(tokens, unit)):
        hidden = set(chosen[row].nonzero().flatten().tolist())
        assert hidden == {position for u in units if hidden & set(u) for position in u}
        assert bool(hidden) == bool(units)


def test_words_fill_the_budget_as_in_a_random_order_in_which_each_that_fits_is_taken():
    size, budget = (1, 2, 1, 3, 2), 5
    words = [k for k, n in enumerate(size) for _ in range(n)]
    tokens = tokens_of([range(40, 49)] * 8000, [words] * 8000, padded=False)
    sizes = ChooseWholeUnits().units(begin(tokens)).size
    found = take_at_random(sizes, torch.full((8000,), budget), tokens, generator(24))
    taken = sampling.marked(found.begun[found.size > 0], sizes)[:, [0, 1, 3, 4, 7]]
    expected = Counter(filled(order, size, budget) for order in permutations(range(5)))
    law = {kept: n / factorial(5) for kept, n in expected.items()}
    assert_law(Counter(tuple(row[:5].tolist()) for row in taken), law)


def filled(order, size, budget):
    """Which units are taken when they come in an order and each one that still fits is kept."""
    kept = set()
    for unit in order:
        if sum(size[k] for k in kept) + size[unit] <= budget:
            kept.add(unit)
    return tuple(k in kept for k in range(len(size)))


def test_a_word_of_three_pieces_does_not_fit_into_a_budget_of_one():
    """BERT's released code then hides nothing (reference, section 4); we cut the word."""
    tokens = tokens_of([[40, 41, 42]], [[0, 0, 0]])
    batch = begin(tokens)
    official, ours = (ChooseWholeUnits(min_one=one).plan(batch, generator(0)).positions for one in (False, True))
    assert (official.sum().item(), ours[0].tolist()) == (0, [True, False, False])


def test_ernie_takes_each_unit_with_the_same_chance():
    tokens = tokens_of([range(40, 50)] * 6000, [[0, 0, 1, 2, 2, 2, 3, 4, 4, 5]] * 6000, padded=False)
    chosen = ChooseWholeUnits(sampler="iid", min_one=False).plan(begin(tokens), generator(3)).positions
    for first, *rest in ([0, 1], [2], [3, 4, 5], [6], [7, 8], [9]):
        assert_share(int(chosen[:, first].sum()), 6000, 0.15)
        assert all(torch.equal(chosen[:, first], chosen[:, position]) for position in rest)
    forced = ChooseWholeUnits(sampler="iid").plan(begin(tokens), generator(3)).positions
    assert bool(forced.any(1).all())
    assert torch.equal(forced[chosen.any(1)], chosen[chosen.any(1)])


def test_knowledge_takes_names_before_phrases_before_words():
    tokens = tokens_of([range(40, 48)])
    labels = {"mention": [-1, 4, 4, -1, -1, -1, -1, -1], "phrase": [7, 7, 7, 7, 8, 8, -1, -1]}
    tokens = replace(tokens, labels={k: torch.tensor([v]) for k, v in labels.items()})
    assert found_units(tokens, "knowledge") == [[[0], [1, 2], [3], [4, 5], [6], [7]]]
    assert found_units(tokens, "phrase") == [[[0, 1, 2, 3], [4, 5]]]
    assert found_units(tokens, "entity") == [[[1, 2]]]


@pytest.mark.parametrize(("unit", "label"), [("phrase", "phrase"), ("entity", "mention"), ("knowledge", "mention")])
def test_without_marks_there_are_no_units_and_words_do_not_stand_in(unit, label):
    with pytest.raises(UserError, match=rf"Choosing by {unit} needs the label '{label}' of every token"):
        ChooseWholeUnits(unit).plan(begin(plain_rows(1, 5)), generator(0))
    nothing = {name: torch.full((1, 5), -1) for name in ("phrase", "mention")}
    chosen = ChooseWholeUnits(unit).plan(begin(replace(plain_rows(1, 5), labels=nothing)), generator(0)).positions
    assert int(chosen.sum()) == (1 if unit == "knowledge" else 0)


# n-grams


@settings(max_examples=40)
@given(
    tokens=batches(),
    seed=seeds,
    longest=st.integers(1, 5),
    whole=st.booleans(),
    law=st.sampled_from(("1/n", "80/20", "uniform")),
)
def test_ngrams_are_taken_as_albert_does(tokens, seed, longest, whole, law):
    batch, stage = begin(tokens), ChooseNgrams(mask_ratio=0.4, max_ngram=longest, sampler=law, whole_words=whole)
    number = tokens.word_ids if whole else torch.arange(tokens.ids.shape[1]).expand_as(tokens.ids)
    words, blocks = marked_spans(batch, batch.maskable, number), marked_spans(batch, batch.maskable)
    dice, chance = sampling.noise((2, *tokens.ids.shape), generator(seed))
    order = dice.masked_fill(words.length == 0, 2.0).argsort(1)
    budget = torch.tensor([stages.count_half_even(text, 0.4) for text in texts(tokens)])
    size = stage.sizes(words, blocks)
    length = stage.lengths(size, chance)
    hidden = words.at(take_ngrams(size, length, order, budget))
    for row, text in enumerate(texts(tokens)):
        units = slow.units(text, number[row].tolist())
        assert all(1 <= n <= longest for n in length[row, : len(units)].tolist())
        overrides = slow.take_ngrams(
            text, units, order[row].tolist()[: len(units)], length[row].tolist(), int(budget[row])
        )
        assert set(hidden[row].nonzero().flatten().tolist()) == overrides


LENGTHS = {
    "1/n": {1: 6 / 11, 2: 3 / 11, 3: 2 / 11},
    "80/20": {1: 0.8, 2: 0.1, 3: 0.1},
    "uniform": dict.fromkeys((1, 2, 3), 1 / 3),
}


@pytest.mark.parametrize("law", LENGTHS)
def test_ngram_lengths(law):
    """ALBERT: 6/11, 3/11, 2/11; UniLM: 80 % single, 10 % pairs, 10 % triples; near an end what there is room for."""
    batch = begin(plain_rows(2000, 30))
    stage = ChooseNgrams(sampler=law)
    words = marked_spans(batch, batch.maskable, batch.tokens.word_ids)
    size = stage.sizes(words, marked_spans(batch, batch.maskable))
    length = stage.lengths(size, sampling.noise(tuple(words.of.shape), generator(4)))
    assert_law(Counter(length[:, :28].flatten().tolist()), LENGTHS[law])
    two = {n: LENGTHS[law][n] / (LENGTHS[law][1] + LENGTHS[law][2]) for n in (1, 2)}
    assert_law(Counter(length[:, 28].tolist()), two)
    assert length[:, 29].unique().tolist() == [1]


# geometric spans


@settings(max_examples=40)
@given(tokens=batches(), seed=seeds, rate=st.sampled_from((0.0, 0.15, 0.5, 0.9)))
def test_spans_are_hidden_as_spanbert_does(tokens, seed, rate):
    batch, stage = begin(tokens), ChooseGeometricSpans(mask_ratio=rate)
    words, blocks = marked_spans(batch, batch.maskable, tokens.word_ids), marked_spans(batch, batch.maskable)
    rng = generator(seed)
    budget = torch.tensor([min(sum(m), ceil(rate * sum(m) - 1e-9)) for m in map(stages.maskable, texts(tokens))])
    dice = sampling.noise(tuple(tokens.ids.shape), rng)
    length = stage.lengths(sampling.noise((len(dice), 64), rng))
    hidden = take_spans(words, blocks, dice, length, budget)
    for row, text in enumerate(texts(tokens)):
        units = slow.units(text, tokens.word_ids[row].tolist())
        overrides = slow.take_spans(text, units, dice[row].tolist(), length[row].tolist(), int(budget[row]))
        assert set(hidden[row].nonzero().flatten().tolist()) == overrides


@settings(max_examples=40)
@given(tokens=batches(), seed=seeds, rate=st.floats(0.0, 0.9), longest=st.integers(1, 20))
def test_p6_p7_merged_runs_are_apart_and_hold_the_exact_share(tokens, seed, rate, longest):
    plan = ChooseGeometricSpans(mask_ratio=rate, max_span_length=longest).plan(begin(tokens), generator(seed))
    for row, text in enumerate(texts(tokens)):
        number = sum(stages.maskable(text))
        spans = [(s, n) for s, n in zip(plan.start[row].tolist(), plan.length[row].tolist(), strict=True) if n >= 0]
        assert sum(n for _, n in spans) == min(number, ceil(rate * number - 1e-9))
        assert all(n > 0 for _, n in spans)
        for (a, n), (b, _) in pairwise(spans):
            assert a + n < b or (a + n == b and not stages.maskable(text)[b - 1])


def test_only_the_last_run_is_cut_inside_a_word():
    tokens = tokens_of([range(40, 100)] * 300, [[k // 3 for k in range(60)]] * 300, padded=False)
    hidden = ChooseGeometricSpans(mask_ratio=0.18).plan(begin(tokens), generator(8))
    chosen = ChooseGeometricSpans(mask_ratio=0.18).build(begin(tokens), hidden).selected.view(300, 20, 3).sum(2)
    assert chosen.sum(1).unique().tolist() == [11]
    parted = ((chosen > 0) & (chosen < 3)).sum(1)
    assert parted.unique().tolist() == [1], "eleven tokens are not a number of words of three"


# boundaries


def boundary(chosen, length=12, **knobs):
    batch = begin(plain_rows(1, length))
    mask = torch.zeros(1, length, dtype=torch.bool)
    mask[0, [p - 1 for p in chosen]] = True
    return AskSpanBoundary(**knobs).build(replace(batch, selected=mask)).targets[0]


def test_the_ends_of_a_run_are_the_words_around_it():
    target = boundary([3, 4, 5, 8])
    assert (target.loss_mask[0].nonzero().flatten() + 1).tolist() == [3, 4, 5, 8]
    assert (target.reads[0][target.loss_mask[0]] + 1).tolist() == [[2, 6], [2, 6], [2, 6], [7, 9]]


def test_runs_at_the_edge_of_the_text_ask_nothing_and_long_ones_only_15():
    assert not boundary([1, 2, 11, 12]).loss_mask.any()
    assert not boundary(range(2, 21), 20).loss_mask.any()
    long = boundary(range(2, 20), 21)
    assert (long.loss_mask[0].nonzero().flatten() + 1).tolist() == list(range(2, 17))
    assert int(boundary([2, 3, 4], sbo_max_length=2).loss_mask.sum()) == 2


def test_no_run_and_no_end_lies_across_the_special_token_between_two_texts():
    """The last word of A and the first of B are neighbours in the numbering, not in the input."""
    objective = find_objective("MLM + NSP")
    tokens = suited(objective, tokens_of([range(40, 46), range(46, 52)], padded=False))
    batch = objective.stages[0].build(begin(tokens), objective.stages[0].plan(begin(tokens), generator(0)))
    batch = replace(batch, selected=batch.tokens.valid & (batch.prediction_order >= 5) & (batch.prediction_order <= 6))
    assert marked_spans(batch, batch.selected).length[:, :3].tolist() == [[1, 1, 0]] * 2
    assert not AskSpanBoundary().build(batch).targets[0].loss_mask.any()


def test_the_boundary_head_knows_the_ends_and_the_number_within_the_run():
    batch = find_objective("SpanBERT").batch(plain_rows(1, 12), generator(0))
    model = make_model(
        with_required_parts(Architecture(layers=1, width=16, heads=2, mlp_ratio=1), batch),
        SPECIALS.size,
        generator(1),
    )
    target = boundary([4, 5, 6])
    given_ = replace(begin(plain_rows(1, 12)), targets=(target,))
    scores = model(given_)[0].scores.detach()
    hidden = model.features(given_.tokens)[0].detach()
    left, right = (hidden[k].expand(3, -1) for k in (2, 6))
    overrides = model.lm_head(model.sbo_head(left, right, torch.arange(3)), model.token_embedding.weight)
    assert torch.allclose(scores, overrides, atol=1e-5)
    assert not torch.allclose(scores[0], scores[1], atol=1e-3)


# trigrams


@settings(max_examples=40)
@given(tokens=batches(), seed=seeds, share=st.sampled_from((0.0, 0.05, 0.3, 0.9)))
def test_trigrams_are_taken_apart_from_each_other_and_from_hidden_words(tokens, seed, share):
    batch = begin(tokens)
    batch = ChooseTokens(mask_ratio=0.2).build(batch, ChooseTokens(mask_ratio=0.2).plan(batch, generator(seed)))
    free = batch.maskable & ~batch.selected
    dice = sampling.noise(tuple(free.shape), generator(seed, "trigrams"))
    overrides = torch.tensor([round(share * sum(stages.maskable(t)) / 3) for t in texts(tokens)]).clamp(min=share > 0)
    start = take_trigrams(batch, free, dice, overrides, max(1, int(overrides.max())))
    for row, text in enumerate(texts(tokens)):
        found = [s for s in start[row].tolist() if s < free.shape[1]]
        assert found == slow.take_trigrams(free[row, : len(text)].tolist(), dice[row].tolist(), int(overrides[row]))


@pytest.mark.parametrize("derange", [False, True])
def test_every_order_of_a_trigram_is_equally_likely(derange):
    objective = find_objective("word structure").turn({"derange": derange, "trigram_ratio": 0.05})
    batch = objective.batch(plain_rows(8000, 20), generator(9))
    start = batch.spans.start[:, :1]
    assert (batch.spans.length[:, 0] == 3).all()
    orders = (batch.inputs.origin.gather(1, start + torch.arange(3)) - start).tolist()
    allowed = [p for p in permutations(range(3)) if not (derange and p == (0, 1, 2))]
    assert_law(Counter(map(tuple, orders)), uniform(allowed))


@pytest.mark.parametrize(
    ("length", "number"), [(3, 1), (20, 1), (60, 1), (89, 1), (90, 2), (91, 2), (128, 2), (200, 3)]
)
def test_trigrams_hold_5_percent_of_the_tokens(length, number):
    """round(.05 n / 3), half to even, at least one where one fits."""
    batch = begin(plain_rows(2, length))
    assert (ChooseTrigrams().plan(batch, generator(0)).length > 0).sum(1).tolist() == [number] * 2


def test_an_order_by_hand_stays_within_its_trigram():
    overrides = {"chosen": "8", "actions": "mask", "spans": "2:3", "order": "8,7,6,5,4,3,2,1"}
    rebuilt = story("word structure", "I am happy to join with you today", overrides=overrides)
    assert rebuilt.facts()["inputs"] == ["I", "to", "happy", "am", "join", "with", "you", "[MASK]"]
    assert rebuilt.facts()["plan"]["order"] == [1, 4, 3, 2, 5, 6, 7, 8]


def test_a_hidden_word_in_a_run_by_hand_stays_where_it_is():
    overrides = {"chosen": "3", "actions": "mask", "spans": "1:5", "order": "5,4,3,2,1,6,7,8"}
    rebuilt = story("word structure", "I am happy to join with you today", overrides=overrides)
    assert rebuilt.facts()["inputs"] == ["am", "I", "[MASK]", "join", "to", "with", "you", "today"]
