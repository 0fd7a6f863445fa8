"""The laws of chance (objectives reference, 22b): fixed seeds, z = 5, never a second try."""

from collections import Counter
from dataclasses import replace
from itertools import combinations, permutations
from math import comb, exp, factorial, sqrt

import pytest
import torch

from playground.batch import Action, begin
from playground.objectives import find_objective
from playground.objectives.change import ChangeTokens, ChangeWordOrder
from playground.objectives.choose import (
    ChooseMassSpan,
    ChooseOrder,
    ChoosePoissonSpans,
    ChooseSpans,
    ChooseSplit,
    ChooseTokens,
    ChooseWholeUnits,
)
from playground.objectives.choose.units import take_at_random
from playground.objectives.ops import sampling
from playground.objectives.propose import SampleFromGenerator, sample
from playground.rng import generator
from tests.texts import SPECIALS, WORDS, plain_rows, tokens_of

Z = 5


def assert_share(count, number, share):
    """A count of so many draws is within five standard errors of its share."""
    assert abs(count / number - share) <= Z * sqrt(share * (1 - share) / number), (count / number, share)


def assert_law(counts, expected):
    """Chi square of observed counts against expected shares (a mapping), with five standard deviations of room."""
    number = sum(counts.values())
    assert set(counts) <= set(expected)
    assert abs(sum(expected.values()) - 1) < 1e-9
    chi2 = sum((counts.get(k, 0) - number * p) ** 2 / (number * p) for k, p in expected.items())
    free = len(expected) - 1
    assert chi2 <= free + Z * sqrt(2 * free) + 25, (chi2, free)


def assert_mean(values, expected, rounding=0.0):
    error = values.double().std() / sqrt(len(values))
    assert abs(float(values.double().mean()) - expected) <= Z * error + rounding, (
        float(values.double().mean()),
        expected,
    )


def uniform(outcomes):
    outcomes = list(outcomes)
    return dict.fromkeys(outcomes, 1 / len(outcomes))


def build(stage, tokens, seed):
    example = begin(tokens)
    return stage.build(example, stage.plan(example, generator(seed)))


# MLM


def test_mlm_masks_80_replaces_10_and_leaves_10_percent():
    example = find_objective("MLM").turn({"mask_ratio": 0.5}).example(plain_rows(2000, 30), generator(1))
    chosen = example.selected
    ids, text = example.inputs.ids[chosen], example.tokens.ids[chosen]
    number = len(ids)
    assert number >= 20_000
    assert_share(int((ids == SPECIALS.mask).sum()), number, 0.8)
    assert_share(int((ids == text).sum()), number, 0.1 + 0.1 / WORDS)
    assert_share(int(((ids != text) & (ids != SPECIALS.mask)).sum()), number, 0.1 * (1 - 1 / WORDS))
    for action, share in ((Action.MASKED, 0.8), (Action.RANDOMISED, 0.1), (Action.GRADED_AS_IS, 0.1)):
        assert_share(int((example.actions[chosen] == action).sum()), number, share)


def test_random_words_are_uniform_over_the_words():
    stage = ChangeTokens(mask_replace_prob=0.0, random_replace_prob=1.0)
    tokens = plain_rows(1000, 30)
    words = stage.plan(replace(begin(tokens), selected=tokens.valid), generator(2)).words
    assert len(words) == 30_000
    assert_law(Counter(words.tolist()), uniform(range(SPECIALS.first_word, SPECIALS.size)))


def test_the_word_of_a_token_does_not_depend_on_what_is_done_to_it():
    tokens = plain_rows(1000, 60)
    plan = ChangeTokens(mask_replace_prob=0.4, random_replace_prob=0.3).plan(
        replace(begin(tokens), selected=tokens.valid), generator(31)
    )
    for action in (Action.MASKED, Action.RANDOMISED, Action.GRADED_AS_IS):
        words = plan.words[plan.action == action]
        assert len(words) >= 15_000
        assert_law(Counter(words.tolist()), uniform(range(SPECIALS.first_word, SPECIALS.size)))


def test_exact_selection_has_no_variance_and_no_favourite_place():
    chosen = build(ChooseTokens(mask_ratio=0.15), plain_rows(6000, 28), 3).selected
    assert chosen.sum(1).unique().tolist() == [4]  # 30 tokens with [CLS] and [SEP]; 4.5 is rounded to even
    counts = Counter(chosen.nonzero()[:, 1].tolist())
    assert_law(counts, uniform(range(28)))


@pytest.mark.parametrize("rows", [9, 6000])
def test_exact_selection_keeps_its_counts_among_ragged_candidates(rows):
    """Few rows are drawn by lot, many rows one mark after the other."""
    candidates = torch.rand((rows, 20), generator=generator(20)) < torch.linspace(0, 1, rows)[:, None]
    count = torch.randint(0, 6, (rows,), generator=generator(21))
    found = sampling.exactly(count, candidates, generator(22))
    assert not (found & ~candidates).any()
    assert torch.equal(found.sum(1), torch.minimum(count, candidates.sum(1)))


def test_exact_selection_takes_every_set_of_scattered_candidates_equally_often():
    candidates = torch.tensor([False, True, True, False, True, True, False]).expand(6000, 7)
    found = sampling.exactly(torch.full((6000,), 2), candidates, generator(23))
    sets = [tuple(row.nonzero().flatten().tolist()) for row in found]
    assert_law(Counter(sets), uniform(combinations((1, 2, 4, 5), 2)))


def test_exact_selection_takes_every_set_of_words_alone_equally_often():
    chosen = build(ChooseTokens(mask_ratio=0.4, num_special_tokens=0), plain_rows(12_000, 5), 28).selected
    sets = Counter(tuple(row.nonzero().flatten().tolist()) for row in chosen)
    assert_law(sets, uniform(combinations(range(5), 2)))


def test_numbers_come_in_every_order_equally_often_in_rows_of_any_length():
    number = torch.tensor([3, 0, 2]).repeat(6000)
    found = sampling.orders(10 * number, number, generator(29)).view(6000, 5)
    assert_law(Counter(map(tuple, found[:, :3].tolist())), uniform(permutations((30, 31, 32))))
    assert_law(Counter(map(tuple, found[:, 3:].tolist())), uniform(permutations((20, 21))))
    alike = sampling.orders(number, torch.tensor(3).expand(18_000), generator(30)).view(18_000, 3)
    assert_law(Counter(map(tuple, (alike - number[:, None]).tolist())), uniform(permutations(range(3))))


@pytest.mark.parametrize("rows", [8000, 8192])
def test_every_order_is_equally_likely_within_the_groups(rows):
    """Fewer numbers are sorted row by row, as many as `sampling.MANY` together."""
    assert (rows * 4 >= sampling.MANY) == (rows == 8192)
    found = sampling.shuffled(torch.zeros((rows, 4), dtype=torch.int32), generator(25))
    assert_law(Counter(map(tuple, found.tolist())), uniform(permutations(range(4))))
    group = torch.randint(0, 4, (rows, 4), generator=generator(26))
    assert (group.gather(1, sampling.shuffled(group, generator(27)).argsort(1)).diff(dim=1) >= 0).all()


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


def test_exact_selection_likes_no_pair_of_places():
    chosen = build(ChooseTokens(mask_ratio=0.3, num_special_tokens=0), plain_rows(8000, 7), 4).selected
    assert chosen.sum(1).unique().tolist() == [2]
    pairs = Counter(map(tuple, chosen.nonzero()[:, 1].view(-1, 2).tolist()))
    assert_law(pairs, uniform((a, b) for a in range(7) for b in range(a + 1, 7)))


def test_independent_selection_is_binomial_and_can_miss_all():
    chosen = build(ChooseTokens(selection="iid"), plain_rows(20_000, 8), 5).selected
    assert_share(int(chosen.sum()), chosen.numel(), 0.15)
    assert_share(int((chosen.sum(1) == 0).sum()), len(chosen), 0.85**8)
    law = {k: comb(8, k) * 0.15**k * 0.85 ** (8 - k) for k in range(9)}
    assert_law(Counter(chosen.sum(1).tolist()), law)


# spans


def runs(stage, tokens, seed):
    """The spans of every row, as tuples of (start, length)."""
    plan = stage.plan(begin(tokens), generator(seed))
    both = torch.stack([plan.start, plan.length], dim=2).tolist()
    return [tuple((s, n) for s, n in row if n >= 0) for row in both]


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


@pytest.mark.parametrize("places", [(0, 0.0), (37, 0.6), (38, 0.8), (39, 1.0)])
def test_t5_official_profile_of_40_tokens(places):
    """Position -1 is always a gap, -2 in 80 % and -3 in 60 % of the texts, position 0 never (reference, 22b)."""
    place, share = places
    chosen = build(ChooseSpans(match_released_code=True), plain_rows(5000, 40), 8).selected
    count = int(chosen[:, place].sum())
    if share in (0.0, 1.0):
        assert count == share * len(chosen)
    else:
        assert_share(count, len(chosen), share)


def poisson(mean, most):
    law = {k: exp(-mean) * mean**k / factorial(k) for k in range(most)}
    return law | {most: 1 - sum(law.values())}


def test_bart_lengths_follow_poisson():
    drawn, number = sampling.poisson_budget(torch.full((8000,), 30), 3.0, generator(9))
    assert torch.equal(number, (drawn >= 0).sum(1))
    lengths = drawn[:, :4]  # far from the budget of 30, so that none of them is cut
    assert_law(Counter(lengths.clamp(max=8).flatten().tolist()), poisson(3.0, 8))


@pytest.mark.parametrize("mean", [0.5, 1.0])
def test_bart_lengths_follow_poisson_also_when_gaps_are_short(mean):
    """The last length is what is left of the budget: at most one more than chance, never a long rest."""
    drawn, _ = sampling.poisson_budget(torch.full((4000,), 50), mean, generator(10))
    assert_law(Counter(drawn[:, :12].clamp(max=4).flatten().tolist()), poisson(mean, 4))
    last = drawn.gather(1, (drawn >= 0).sum(1, keepdim=True) - 1)
    assert int(last.max()) <= 9


def test_bart_cuts_no_place_of_the_text_shorter_than_another():
    """The length that is cut to fit the budget may stand anywhere, not always at the end."""
    plan = ChoosePoissonSpans().plan(begin(plain_rows(8000, 40)), generator(13))
    there = (plan.length >= 0).double()
    spans = plan.length.clamp(min=0).double()
    first = float((spans[:, 0]).mean())
    last = float(spans.gather(1, there.sum(1, keepdim=True).long() - 1).mean())
    assert abs(first - last) < 0.1


def test_bart_expects_20_45_marks_in_200_tokens():
    spans = build(ChoosePoissonSpans(), plain_rows(4000, 200), 11).spans
    assert_mean(spans.is_span.sum(1), 20.45, rounding=0.005)
    assert (spans.length.clamp(min=0).sum(1) == 60).all()


def test_runs_that_may_overlap_lose_a_tenth_of_the_budget():
    """fairseq hides 54.2 of 200 tokens behind 17.24 marks; its single precision makes 61 of 30 % of them (22b)."""
    spans = build(ChoosePoissonSpans(mask_ratio=0.305, placement="fairseq"), plain_rows(4000, 200), 16).spans
    assert_mean(spans.length.clamp(min=0).sum(1), 54.2, rounding=0.05)
    assert_mean(spans.is_span.sum(1), 17.24, rounding=0.05)
    ends = (spans.start + spans.length.clamp(min=0)) * spans.is_span
    assert int(ends.max()) == 200


@pytest.mark.slow
def test_gaps_are_put_in_anywhere_between_what_is_kept_and_the_marks():
    """Of 3 tokens 2 vanish in runs of one, so a gap has one of four slots: two tokens' marks and one word."""
    stage = ChoosePoissonSpans(mask_ratio=0.5, mean_length=1.0, placement="fairseq")
    spans = build(stage, plain_rows(20_000, 3), 17).spans
    two = (spans.length == 1).sum(1) == 2
    one_gap = (spans.length == 0).sum(1) == 1
    kept = build(stage, plain_rows(20_000, 3), 17).selected
    found = Counter()
    for row in (two & one_gap).nonzero()[:, 0].tolist():
        signs = [(s, n) for s, n in zip(spans.start[row].tolist(), spans.length[row].tolist(), strict=True) if n >= 0]
        words = [(p, 2) for p in range(3) if not kept[row, p]]
        found[[n for _, n in sorted(signs + words)].index(0)] += 1
    assert sum(found.values()) > 1000
    assert_law(found, uniform(range(4)))


def test_bart_gaps_have_no_favourite_third_of_the_text():
    """Sorted uniform places between the kept tokens: each third of the text loses a third of the budget."""
    chosen = build(ChoosePoissonSpans(), plain_rows(4000, 90), 12).selected
    thirds = chosen.view(-1, 3, 30).sum(2).double()
    for third in range(3):
        assert abs(float(thirds[:, third].mean()) - 9.0) < 0.5


@pytest.mark.parametrize(("length", "size"), [(8, 4), (13, 6), (14, 7)])
def test_mass_starts_at_an_end_in_20_percent_each(length, size):
    """P(first) = P(last) = .2 + .6 / starts, any other .6 / starts (MASS, released code)."""
    plan = ChooseMassSpan().plan(begin(plain_rows(12_000, length)), generator(13))
    assert plan.length.unique().tolist() == [size]
    starts = length - size + 1
    law = {s: 0.6 / starts + (0.2 if s in (0, starts - 1) else 0.0) for s in range(starts)}
    assert_law(Counter(plan.start.flatten().tolist()), law)


# orders


def test_shuffled_words_come_in_every_order_equally_often():
    source = ChangeWordOrder().plan(begin(plain_rows(12_000, 4)), generator(14))
    assert_law(Counter(map(tuple, source.tolist())), uniform(permutations(range(4))))
    stay = (source == torch.arange(4)).sum(1)
    assert_mean(stay, 1.0)


def test_shuffled_sentences_come_in_every_order_equally_often():
    tokens = tokens_of([list(range(40, 48))] * 12_000, sentence=[[0, 0, 0, 1, 2, 2, 2, 2]] * 12_000, padded=False)
    example = find_objective("sentence permutation").example(tokens, generator(15))
    orders = Counter(tuple(dict.fromkeys(row)) for row in tokens.sentence_ids.gather(1, example.inputs.origin).tolist())
    assert_law(orders, uniform(permutations(range(3))))


def test_plm_orders_and_targets_are_uniform():
    example = begin(plain_rows(12_000, 4))
    stage = ChooseOrder(partial_prediction_k=2.0, ngram_weights="single")
    plan = stage.plan(example, generator(16))
    assert_law(Counter(map(tuple, plan.rank.tolist())), uniform(permutations(range(4))))
    chosen = stage.build(example, plan).selected
    pairs = Counter(map(tuple, chosen.nonzero()[:, 1].view(-1, 2).tolist()))
    assert_law(pairs, uniform((a, b) for a in range(4) for b in range(a + 1, 4)))


# proposals


def test_a_uniform_generator_is_right_once_in_v():
    example = find_objective("RTD").turn({"mask_ratio": 0.5}).example(plain_rows(2000, 30), generator(17))
    number = int(example.selected.sum())
    assert number >= 20_000
    assert_share(int(example.questions[0].targets.sum()), number, 1 - 1 / WORDS)


def test_rtd_shows_the_generator_85_percent_masks_and_nothing_random():
    example = find_objective("RTD").turn({"mask_ratio": 0.5}).example(plain_rows(2000, 30), generator(18))
    action = example.generator.actions[example.selected]
    assert_share(int((action == Action.MASKED).sum()), len(action), 0.85)
    assert not (action == Action.RANDOMISED).any()


def test_proposed_words_follow_the_generators_softmax():
    scores = torch.tensor([2.0, 0.0, -1.0, 1.0, 0.5])
    words = sample(scores.expand(2000, 12, 5), generator(19))
    assert_law(Counter(words.flatten().tolist()), dict(enumerate(scores.double().softmax(0).tolist())))


def test_a_stage_with_a_proposer_samples_from_its_scores():
    scores = torch.full((SPECIALS.size,), float("-inf"))
    scores[[50, 51, 52]] = torch.tensor([1.0, 0.0, -1.0])
    stage = SampleFromGenerator(lambda example: scores.expand(int(example.selected.sum()), -1))
    example = begin(plain_rows(2000, 24))
    example = replace(example, selected=torch.arange(24).expand(2000, 24) % 2 == 0)
    words = stage.plan(example, generator(20))
    assert words[~example.selected].equal(example.tokens.ids[~example.selected]), "only chosen words are drawn"
    shares = scores[50:53].double().softmax(0).tolist()
    assert_law(Counter(words[example.selected].tolist()), dict(zip((50, 51, 52), shares, strict=True)))


@pytest.mark.parametrize("proposes", [True, False])
def test_the_right_word_can_be_forbidden_and_all_others_keep_their_law(proposes):
    """ELECTRA's option: every other word as likely as before, the right one never (objectives reference, 12)."""
    weights = torch.full((SPECIALS.size,), float("-inf"))
    weights[SPECIALS.first_word :] = 0.0
    weights[[50, 51, 52]] = torch.tensor([3.0, 2.0, 1.0]) if proposes else torch.zeros(3)
    tokens = tokens_of([[50, 51] * 10] * 1500)
    proposer = (lambda example: weights.expand(int(example.selected.sum()), -1)) if proposes else None
    objective = find_objective("RTD").turn({"mask_ratio": 1.0, "disallow_correct": True})
    objective = objective.proposing(proposer) if proposer else objective
    example = objective.example(tokens, generator(21))
    assert not (example.actions == Action.SAME_BY_LUCK).any()
    assert bool((example.actions == Action.REPLACED).all())
    for right in (50, 51):
        shares = weights.exp().double().index_fill(0, torch.tensor([right]), 0.0)
        shares = shares / shares.sum()
        drawn = Counter(example.inputs.ids[example.tokens.ids == right].tolist())
        assert_law(drawn, {word: float(p) for word, p in enumerate(shares.tolist()) if p})
    allowed = objective.turn({"disallow_correct": False}).example(tokens, generator(21))
    assert bool((allowed.actions == Action.SAME_BY_LUCK).any())


def test_a_text_is_split_at_every_place_with_the_same_chance():
    """Prefix language model: the first part has 1 to n - 1 tokens, each with the chance 1 / (n - 1)."""
    given = ChooseSplit().plan(begin(plain_rows(8000, 9)), generator(14))
    assert_law(Counter(given.tolist()), dict.fromkeys(range(1, 9), 1 / 8))
