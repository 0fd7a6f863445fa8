"""Spans, where they lie and what stands for them: choose/spans.py, choose/adjacent.py, change/markers.py."""

from collections import Counter
from dataclasses import replace
from itertools import combinations, pairwise
from math import comb, e, factorial

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from playground import leaks
from playground.batch import Action, begin
from playground.errors import UserError
from playground.objectives import find_objective, plan_overrides
from playground.objectives.change import SpansToSentinels
from playground.objectives.choose import (
    ChooseGeometricSpans,
    ChooseMassSpan,
    ChoosePoissonSpans,
    ChooseSpans,
    MergeAdjacent,
)
from playground.objectives.steps import describe_plan
from playground.rng import generator
from playground.tokenizing.vocabulary import FIRST_WORD
from playground.trace.rebuild import rebuild
from tests.laws import assert_law, assert_mean, assert_share, uniform
from tests.oracles import stages as oracles
from tests.stories import texts
from tests.texts import SPECIALS, TWO_SENTENCES, batches, built, hiding, plain_rows, seeds, tokens_for, tokens_of


def runs(stage, tokens, seed):
    """The spans of every row, as tuples of (start, length)."""
    plan = stage.plan(begin(tokens), generator(seed))
    both = torch.stack([plan.start, plan.length], dim=2).tolist()
    return [tuple((s, n) for s, n in row if n >= 0) for row in both]


# T5


def compositions(total, parts):
    if parts == 1:
        return [(total,)] if total > 0 else []
    return [(first, *rest) for first in range(1, total) for rest in compositions(total - first, parts - 1)]


def test_t5_official_spans_are_uniform_and_end_the_text():
    stage = ChooseSpans(noise_density=0.34, mean_length=2.0, match_released_code=True)
    found = runs(stage, plain_rows(8000, 12), 6)
    masks = [
        ((outside[0], inside[0]), (outside[0] + inside[0] + outside[1], inside[1]))
        for inside in compositions(4, 2)
        for outside in compositions(8, 2)
    ]
    assert len(masks) == comb(3, 1) * comb(7, 1)
    assert all(sum(spans[-1]) == 12 and spans[0][0] > 0 for spans in found)
    assert_law(Counter(found), uniform(masks))


def test_t5_spans_are_uniform_over_all_masks():
    stage = ChooseSpans(noise_density=0.34, mean_length=2.0)
    found = runs(stage, plain_rows(12_000, 12), 7)
    masks = [((a, m), (b, n)) for m, n in compositions(4, 2) for a in range(12) for b in range(a + m + 1, 12 - n + 1)]
    assert len(masks) == comb(3, 1) * comb(9, 2)
    assert_law(Counter(found), uniform(masks))


@pytest.mark.parametrize("positions", [(0, 0.0), (37, 0.6), (38, 0.8), (39, 1.0)])
def test_t5_official_profile_of_40_tokens(positions):
    """Position -1 is always a gap, -2 in 80 % and -3 in 60 % of the texts, position 0 never (reference, 22b)."""
    position, share = positions
    chosen = built(ChooseSpans(match_released_code=True), plain_rows(5000, 40), 8).selected
    count = int(chosen[:, position].sum())
    if share in (0.0, 1.0):
        assert count == share * len(chosen)
    else:
        assert_share(count, len(chosen), share)


def assert_sorted_disjoint_inside(spans, length):
    ends = 0
    for start_, count in spans:
        assert ends <= start_ <= start_ + count <= length
        ends = start_ + count


@settings(max_examples=40)
@given(
    tokens=batches(special=False),
    seed=seeds,
    rate=st.floats(0.0, 0.9),
    mean=st.floats(1.0, 64.0),
    official=st.booleans(),
)
def test_p6_p7_t5_spans_are_apart_and_hold_the_share(tokens, seed, rate, mean, official):
    stage = ChooseSpans(noise_density=rate, mean_length=mean, match_released_code=official)
    for text, spans in zip(texts(tokens), runs(stage, tokens, seed), strict=True):
        n = len(text)
        gone = min(max(1 if rate else 0, round(rate * n)), max(0, n - 1))
        number = min(max(1, round(gone / mean)), 32, gone, n - gone + (0 if official else 1))
        assert_sorted_disjoint_inside(spans, n)
        assert all(a + k < b for (a, k), (b, _) in pairwise(spans)), "runs never touch"
        assert all(k > 0 for _, k in spans)
        assert (sum(k for _, k in spans), len(spans)) == (gone, number)
        if official and spans:
            assert spans[0][0] > 0
            assert sum(spans[-1]) == n


# BART


@settings(max_examples=40)
@given(tokens=batches(special=False), seed=seeds, rate=st.floats(0.0, 0.9), mean=st.sampled_from((0.5, 1.0, 3.0, 10.0)))
def test_p6_p7_poisson_spans_meet_the_budget_rounded_up(tokens, seed, rate, mean):
    stage = ChoosePoissonSpans(mask_ratio=rate, mean_length=mean)
    for text, spans in zip(texts(tokens), runs(stage, tokens, seed), strict=True):
        budget = min(len(text), -int(-(rate * len(text) - 1e-9) // 1))
        assert_sorted_disjoint_inside(spans, len(text))
        assert sum(k for _, k in spans) == budget
        assert not spans or max(k for _, k in spans) > 0, (
            "drawing stops when the budget is met, so never on a gap alone"
        )


def test_bart_cuts_no_position_of_the_text_shorter_than_another():
    """The length that is cut to fit the budget may stand anywhere, not always at the end."""
    plan = ChoosePoissonSpans().plan(begin(plain_rows(8000, 40)), generator(13))
    there = (plan.length >= 0).double()
    spans = plan.length.clamp(min=0).double()
    first = float((spans[:, 0]).mean())
    last = float(spans.gather(1, there.sum(1, keepdim=True).long() - 1).mean())
    assert abs(first - last) < 0.1


def test_bart_expects_20_45_marks_in_200_tokens():
    spans = built(ChoosePoissonSpans(), plain_rows(4000, 200), 11).spans
    assert_mean(spans.is_span.sum(1), 20.45, rounding=0.005)
    assert (spans.length.clamp(min=0).sum(1) == 60).all()


def test_runs_that_may_overlap_lose_a_tenth_of_the_budget():
    """fairseq hides 54.2 of 200 tokens behind 17.24 marks; its single precision makes 61 of 30 % of them (22b)."""
    spans = built(ChoosePoissonSpans(mask_ratio=0.305, placement="fairseq"), plain_rows(4000, 200), 16).spans
    assert_mean(spans.length.clamp(min=0).sum(1), 54.2, rounding=0.05)
    assert_mean(spans.is_span.sum(1), 17.24, rounding=0.05)
    ends = (spans.start + spans.length.clamp(min=0)) * spans.is_span
    assert int(ends.max()) == 200


@pytest.mark.slow
def test_gaps_are_put_in_anywhere_between_what_is_kept_and_the_marks():
    """Of 3 tokens 2 vanish in runs of one, so a gap has one of four slots: two tokens' marks and one word."""
    stage = ChoosePoissonSpans(mask_ratio=0.5, mean_length=1.0, placement="fairseq")
    spans = built(stage, plain_rows(20_000, 3), 17).spans
    two = (spans.length == 1).sum(1) == 2
    one_gap = (spans.length == 0).sum(1) == 1
    kept = built(stage, plain_rows(20_000, 3), 17).selected
    found = Counter()
    for row in (two & one_gap).nonzero()[:, 0].tolist():
        drawn = [(s, n) for s, n in zip(spans.start[row].tolist(), spans.length[row].tolist(), strict=True) if n >= 0]
        words = [(p, 2) for p in range(3) if not kept[row, p]]
        found[[n for _, n in sorted(drawn + words)].index(0)] += 1
    assert sum(found.values()) > 1000
    assert_law(found, uniform(range(4)))


def test_bart_gaps_have_no_favourite_third_of_the_text():
    """Sorted uniform places between the kept tokens: each third of the text loses a third of the budget."""
    chosen = built(ChoosePoissonSpans(), plain_rows(4000, 90), 12).selected
    thirds = chosen.view(-1, 3, 30).sum(2).double()
    for third in range(3):
        assert abs(float(thirds[:, third].mean()) - 9.0) < 0.5


@settings(max_examples=40)
@given(tokens=batches(), seed=seeds, rate=st.floats(0.0, 0.9), mean=st.sampled_from((0.5, 1.0, 3.0, 10.0)))
def test_runs_of_whole_words_cut_none_and_hold_a_share_of_the_words(tokens, seed, rate, mean):
    batch = begin(tokens)
    stage = ChoosePoissonSpans(mask_ratio=rate, mean_length=mean, whole_words=True)
    chosen = stage.build(batch, stage.plan(batch, generator(seed))).selected
    for row, text in enumerate(texts(tokens)):
        words, number = oracles.maskable(text), tokens.word_ids[row].tolist()
        starts = [p for p in range(len(text)) if words[p] and not (p and words[p - 1] and number[p - 1] == number[p])]
        of = [sum(s <= p for s in starts) if words[p] else 0 for p in range(len(text))]
        gone = {of[p] for p in chosen[row].nonzero()[:, 0].tolist()}
        assert [p for p in range(len(text)) if of[p] in gone] == chosen[row].nonzero()[:, 0].tolist()
        assert len(gone) == min(len(starts), -int(-(rate * len(starts) - 1e-9) // 1))


# MASS


@settings(max_examples=40)
@given(
    tokens=batches(special=False),
    seed=seeds,
    share=st.sampled_from((0.0, 0.1, 0.5, 0.9, 1.0)),
    ends=st.sampled_from((0.0, 0.4, 1.0)),
)
def test_p6_p7_the_fragment_is_one_run_of_half_the_text(tokens, seed, share, ends):
    stage = ChooseMassSpan(span_ratio=share, edge_prob=ends)
    for text, spans in zip(texts(tokens), runs(stage, tokens, seed), strict=True):
        length = round(share * len(text))
        assert [k for _, k in spans] == ([length] if length else [])
        assert_sorted_disjoint_inside(spans, len(text))
        if ends == 1.0:
            assert all(s in (0, len(text) - length) for s, _ in spans)


@pytest.mark.parametrize(
    ("length", "size", "count_specials"), [(8, 4, False), (13, 6, False), (14, 7, False), (12, 7, True), (8, 5, True)]
)
def test_mass_starts_at_an_end_in_20_percent_each(length, size, count_specials):
    """P(first) = P(last) = .2 + .6 / starts, any other .6 / starts (MASS, released code).

    Where [CLS] and [SEP] count, the last start leaves one word less: 14 tokens, 7 hidden, .2 + .6 / 7 = .286.
    """
    plan = ChooseMassSpan(count_specials=count_specials).plan(begin(plain_rows(12_000, length)), generator(13))
    starts = length - size + (2 if count_specials else 1)
    law = {s: 0.6 / starts + (0.2 if s in (0, starts - 1) else 0.0) for s in range(starts)}
    assert_law(Counter(plan.start.flatten().tolist()), law)
    over = (plan.start == starts - 1) & count_specials
    assert set(plan.length[over].tolist()) <= {size - 1}
    assert plan.length[~over].unique().tolist() == [size]


# spans in texts with special tokens


BUDGETS = {
    "T5 spans": lambda n: min(max(1, round(0.15 * n)), max(0, n - 1)),
    "text infilling": lambda n: min(max(1, round(0.15 * n)), max(0, n - 1)),
    "BART infilling": lambda n: -int(-(0.3 * n - 1e-9) // 1),
    "span mask": lambda n: round(0.5 * n),
}


@pytest.mark.parametrize("name", BUDGETS)
@settings(max_examples=40)
@given(tokens=batches(), seed=seeds)
def test_p7_special_tokens_in_a_text_cost_no_span_its_share(name, tokens, seed):
    batch = find_objective(name).batch(tokens, generator(seed))
    words = [sum(oracles.maskable(text)) for text in texts(tokens)]
    assert batch.selected.sum(1).tolist() == [BUDGETS[name](n) for n in words]
    assert batch.spans.length.clamp(min=0).sum(1).tolist() == [BUDGETS[name](n) for n in words]


RUNS = {
    "T5 spans": ChooseSpans(noise_density=0.3),
    "T5 spans official": ChooseSpans(noise_density=0.4, mean_length=2.0, match_released_code=True),
    "BART": ChoosePoissonSpans(),
    "BART words": ChoosePoissonSpans(mask_ratio=0.5, whole_words=True),
    "BART fairseq": ChoosePoissonSpans(mask_ratio=0.4, mean_length=2.0, placement="fairseq"),
    "MASS": ChooseMassSpan(),
    "MASS with special tokens": ChooseMassSpan(count_specials=True),
    "SpanBERT": ChooseGeometricSpans(),
}


def without_signs(tokens):
    """The words of each text alone, in their columns."""
    rows = [[t for t, word in zip(text, oracles.maskable(text), strict=True) if word] for text in texts(tokens)]
    keep = [oracles.maskable(text) for text in texts(tokens)]
    word, sentence = (
        [
            [v for v, there in zip(row, kept, strict=False) if there]
            for row, kept in zip(values.tolist(), keep, strict=True)
        ]
        for values in (tokens.word_ids, tokens.sentence_ids)
    )
    return tokens_of(rows, word, sentence, extra=tokens.ids.shape[1] - max(map(len, rows)))


@pytest.mark.parametrize("name", [n for n in RUNS if n not in ("SpanBERT", "BART words")])
@settings(max_examples=40)
@given(tokens=batches(), seed=seeds)
def test_spans_fall_on_the_words_as_if_the_special_tokens_were_not_there(name, tokens, seed):
    """Words that are hidden, and gaps of length 0 between words, are those of the text without its special tokens."""
    stage, alone = RUNS[name], without_signs(tokens)
    found, plain = (begin(t) for t in (tokens, alone))
    found, plain = (stage.build(e, stage.plan(e, generator(seed))) for e in (found, plain))
    for row, text in enumerate(texts(tokens)):
        position = [p for p, word in enumerate(oracles.maskable(text)) if word]
        overrides = [position[p] for p in plain.selected[row].nonzero()[:, 0].tolist()]
        assert found.selected[row].nonzero()[:, 0].tolist() == overrides
        gaps, others = (_gaps(e.spans, row) for e in (found, plain))
        assert [sum(p < gap for p in position) for gap in gaps] == others


def _gaps(spans, row):
    return spans.start[row][spans.length[row] == 0].tolist()


@pytest.mark.parametrize("name", BUDGETS)
def test_a_described_plan_with_special_tokens_in_its_spans_gives_the_same_batch(name):
    tokens = tokens_for(find_objective(name))
    tokens = replace(tokens, ids=tokens.ids.clone())
    tokens.ids[0, [2, 6, 7]] = SPECIALS.sep
    objective, parted = find_objective(name), 0
    objective = objective.turn(hiding(objective, 0.6))
    for seed in range(10):
        first = objective.steps(tokens, generator(seed))
        told = {key: plan_overrides.read(key, value) for key, value in describe_plan(first).items()}
        again = objective.steps(tokens, generator(seed + 100), told)
        for one, other in ((f.batch, a.batch) for f, a in zip(first, again, strict=True)):
            assert torch.equal(one.selected, other.selected)
            assert torch.equal(one.inputs.ids, other.inputs.ids)
        assert torch.equal(first[-1].batch.targets[0].labels, again[-1].batch.targets[0].labels)
        parted += int(first[0].batch.spans.is_span.sum()) > int((first[0].plan.length >= 0).sum())
    assert parted


# markers


def test_runs_without_a_number_of_their_own_stay_in_the_text():
    tokens = tokens_of([[40 + k % 9 for k in range(100)]])
    every_other = torch.arange(100)[None] % 2 == 0
    merged = MergeAdjacent().build(replace(begin(tokens), selected=every_other))
    assert merged.spans.start[merged.spans.is_span].tolist() == list(range(0, 64, 2))
    assert int(merged.selected.sum()) == len(SPECIALS.sentinels)


def test_a_tenth_of_the_marks_becomes_a_random_word():
    objective = find_objective("BART infilling").turn({"mask_random": 0.1})
    batch = objective.batch(plain_rows(2000, 60), generator(5))
    there = batch.spans.is_span
    plan = SpansToSentinels(mask_random=0.1).plan(batch, generator(6))[there]
    assert_share(int((plan != SPECIALS.mask).sum()), len(plan), 0.1)
    assert_law(Counter(plan[plan != SPECIALS.mask].tolist()), uniform(range(FIRST_WORD, SPECIALS.size)))
    action = batch.actions
    number = int(((action == Action.MASKED) | (action == Action.RANDOMISED)).sum())
    assert_share(int((action == Action.RANDOMISED).sum()), number, 0.1)
    assert not leaks.check(batch).leak


def test_marks_by_hand():
    overrides = {"spans": "3:3", "marks": "walk"}
    facts = rebuild("BART infilling", f"{TWO_SENTENCES}", overrides=overrides).facts()
    assert facts["inputs"][:4] == "I am walk with".split()
    assert facts["actions"][2:5] == ["randomised", "deleted", "deleted"]
    assert facts["plan"]["marks"] == ["walk"]
    with pytest.raises(UserError, match="The plan marks names 2 for 1 spans"):
        rebuild("BART infilling", overrides={"spans": "3:3", "marks": "walk,walk"})


# GLM


@settings(max_examples=60)
@given(tokens=batches(), ratio=st.floats(0, 0.9), mean=st.floats(0.5, 6), seed=seeds)
def test_glm_spans_have_words_and_a_word_between_them(tokens, ratio, mean, seed):
    stage = ChoosePoissonSpans(mask_ratio=ratio, mean_length=mean, placement="apart", whole_words=False)
    for row, number in zip(runs(stage, replace_specials(tokens), seed), tokens.lengths.tolist(), strict=True):
        assert all(n > 0 for _, n in row)
        assert all(s + n < start for (s, n), (start, _) in pairwise(row))
        assert not row or row[-1][0] + row[-1][1] <= number
        assert ratio > 0.4 or sum(n for _, n in row) <= max(1, round(ratio * number + 0.5))


def replace_specials(tokens):
    """The same texts of words alone, whose positions are those of the text."""
    return replace(tokens, ids=tokens.ids.clamp(min=FIRST_WORD))


def test_glm_lengths_are_poisson_without_zero_and_every_place_is_equally_likely():
    """Of the spans but the last, which the budget cuts and which changes places with any; here there is one in all."""
    stage = ChoosePoissonSpans(mask_ratio=0.3, mean_length=1.0, placement="apart")
    found = runs(stage, plain_rows(40_000, 10), 3)  # a budget of 3 words
    lengths = Counter(tuple(sorted(n for _, n in row)) for row in found)
    p = {n: 1 / (factorial(n) * (e - 1)) for n in range(1, 4)}
    rest = 1 - p[1] - p[2]
    two = p[1] * (1 - p[1]) + p[2]  # 1 and at least 2, or 2 and then any
    assert_law(lengths, {(1, 1, 1): p[1] * p[1], (1, 2): two, (3,): rest})
    ones = Counter(tuple(s for s, _ in row) for row in found if len(row) == 3)
    sets = {k: 1 for k in combinations(range(10), 3) if k[0] + 1 < k[1] and k[1] + 1 < k[2]}
    assert set(ones) == set(sets)
