"""How published code draws its targets, written again as slow oracles, against the numbers printed (reference, 22b)."""

import math
from collections import Counter
from random import Random

import pytest
import torch

from playground.objectives import find_objective
from playground.rng import generator
from tests.laws import assert_law, assert_mean, assert_share, poisson
from tests.texts import plain_rows

# Hugging Face's collator for permutation language modelling


def windows_of_hf(words, random, longest=5, times=6):
    """Which words are targets: runs of 1 to 5 words, each somewhere in a window six times as long, cut at the end."""
    marked, at = set(), 0
    while at < words:
        size = random.randint(1, longest)
        start = at + random.randint(0, times * size - size)
        marked |= set(range(start, min(start + size, words)))
        at += times * size
    return marked


def none_at_all(words):
    """How likely the first window, which holds all of such a short text, has its run behind the text's end."""
    misses = [max(0, 6 * size - size + 1 - words) / (6 * size - size + 1) for size in range(1, 6)]
    return sum(misses) / 5


@pytest.mark.parametrize(("words", "share"), [(6, 0.51), (8, 0.43), (10, 0.31), (14, 0.19)])
def test_hf_leaves_so_many_short_texts_without_a_target(words, share):
    """Windows reach over the end of the text; the printed shares come from a run of few texts, ours is exact."""
    random = Random(words)
    empty = sum(not windows_of_hf(words, random) for _ in range(8000))
    assert_share(empty, 8000, none_at_all(words))
    assert none_at_all(words) == pytest.approx(share, abs=0.015)
    ours = find_objective("PLM").example(plain_rows(200, words), generator(1))
    assert bool(ours.questions[0].loss_mask.any(1).all())


@pytest.mark.parametrize(
    ("words", "mask_ratio", "rounding"), [(512, 0.1665, 0.0005), (8, 0.156, 0.0005), (6, 0.151, 0.005)]
)
def test_hf_predicts_a_sixth_of_long_texts_and_less_of_short_ones(words, mask_ratio, rounding):
    random = Random(words + 1)
    shares = [len(windows_of_hf(words, random)) / words for _ in range(1000 if words > 100 else 8000)]
    assert_mean(torch.tensor(shares), mask_ratio, rounding)


# fairseq's text infilling


def infilling_of_fairseq(words, random, share=0.3, mean=3.0):
    """How many masks stand in the input, how many words are gone, and the lengths that were drawn.

    The share of the words is rounded up in single precision. Lengths are drawn until they hold it, the last one is cut.
    Each run begins at a word of its own, wherever the others lie, and ends with the text at the latest.
    """
    budget = math.ceil(float(torch.tensor(float(words)) * share))
    drawn = []
    while sum(drawn) < budget:
        drawn.append(poisson_number(mean, random))
    lengths = [*drawn[:-1], drawn[-1] - (sum(drawn) - budget)]
    runs = [length for length in lengths if length > 0]
    begins = random.sample(range(words), len(runs))
    later = {p for s, n in zip(begins, runs, strict=True) for p in range(s + 1, min(s + n, words))}
    return len(set(begins) - later) + len(lengths) - len(runs), len(set(begins) | later), drawn


def poisson_number(mean, random):
    product, number = random.random(), 0
    while product > math.exp(-mean):
        product, number = product * random.random(), number + 1
    return number


def test_fairseq_loses_a_tenth_of_its_budget_to_overlaps():
    """17.24 masks and 54.2 words gone of 200 at 30 %; here 20.45 masks and exactly 60 words (reference, sec. 11)."""
    random = Random(3)
    found = [infilling_of_fairseq(200, random) for _ in range(4000)]
    assert_mean(torch.tensor([marks for marks, _, _ in found]), 17.24, rounding=0.005)
    assert_mean(torch.tensor([gone for _, gone, _ in found]), 54.2, rounding=0.05)
    ours = find_objective("BART infilling").example(plain_rows(50, 200), generator(2))
    assert ours.selected.sum(1).unique().tolist() == [60]


def test_fairseq_draws_its_lengths_by_poissons_law():
    random = Random(4)
    drawn = [n for _ in range(800) for n in infilling_of_fairseq(200, random)[2][:10]]
    assert_law(Counter(min(n, 8) for n in drawn), poisson(3.0, 8))


# XLNet's released code


def targets_of_xlnet(words, random, goal=None, times=6):
    """The targets that come in runs and those that fill up to the goal, each a set of places.

    A run of n words stands in a context of 6 n words, so both take 7 n; one that touches the end is dropped.
    """
    marked, at = set(), 0
    while at < words and (goal is None or len(marked) < goal):
        size = random.choices(range(1, 6), [1 / n for n in range(1, 6)])[0]
        size = size if goal is None else min(size, goal - len(marked))
        before = random.randrange(times * size)
        start = at + before
        if start + size >= words:
            break
        marked |= set(range(start, start + size))
        at = start + size + times * size - before
    filled = set(marked)
    while goal is not None and len(filled) < goal:
        filled.add(random.randrange(words))
    return marked, filled


def test_xlnet_draws_one_word_in_7_05_and_fills_up_to_43_and_42():
    """Two halves of 256 words: runs give 1 in 7.05, single words fill up to 85, which is 1 in 6 of 512."""
    random = Random(5)
    halves = [[targets_of_xlnet(256, random, goal) for goal in (43, 42)] for _ in range(1000)]
    raw = torch.tensor([len(marked) for both in halves for marked, _ in both])
    assert_mean(raw, 256 / 7.05, rounding=0.03)
    assert {tuple(len(filled) for _, filled in both) for both in halves} == {(43, 42)}
    assert not any(255 in marked for both in halves for marked, _ in both), "the last word is never in a run"
    ours = find_objective("PLM").example(plain_rows(20, 512), generator(3))
    assert ours.selected.sum(1).unique().tolist() == [43 + 42]
