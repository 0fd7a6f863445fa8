"""Merged models: values by hand, and the greedy soup against the recipe of its paper."""

import pytest
import torch

from playground.analysis.landscape import flat
from playground.finetuning.apply.merging import (
    average,
    dare,
    drop,
    greedy_soup,
    mean_of_elected,
    merge,
    task_arithmetic,
    ties,
    trim,
)
from playground.rng import generator


def weights(*values):
    """A model of two tensors."""
    return torch.tensor([values[:2]]), torch.tensor(values[2:])


START, A, B = weights(1.0, 1.0, 1.0), weights(3.0, 1.0, 0.0), weights(1.0, 5.0, 2.0)


def test_a_uniform_soup_is_the_mean_and_arithmetic_adds_what_was_learned():
    assert flat(merge(START, [A, B])).tolist() == [2.0, 3.0, 1.0]
    assert [w.shape for w in merge(START, [A, B])] == [w.shape for w in START]
    added = merge(START, [A, B], lambda vectors: task_arithmetic(vectors, 0.5))
    assert flat(added).tolist() == [2.0, 3.0, 1.0], "of two models half of the sum is the mean"
    assert flat(merge(START, [A], task_arithmetic)).tolist() == pytest.approx([1.8, 1.0, 0.6])


def test_ties_trims_the_whole_model_and_signs_that_disagree_do_not_cancel():
    vectors = torch.tensor([[4.0, -3.0, 0.5, 0.1], [-1.0, -5.0, 0.2, 2.0]])
    assert trim(vectors, 0.5).tolist() == [[4.0, -3.0, 0.0, 0.0], [0.0, -5.0, 0.0, 2.0]]
    assert ties(vectors, 0.5).tolist() == [4.0, -4.0, 0.0, 2.0], "zeros are not in the mean"
    assert mean_of_elected(vectors).tolist() == pytest.approx([4.0, -4.0, 0.35, 1.05]), "the sum of the first is 3"
    assert ties(vectors, 0.5, scale=0.5).tolist() == [2.0, -2.0, 0.0, 1.0]


def test_dropped_numbers_are_made_up_for_by_the_others_and_follow_the_seed():
    vectors = torch.ones(2, 20_000)
    kept = drop(vectors, 0.2, generator(0))
    assert set(kept.unique().tolist()) == {0.0, 5.0} and float(kept.mean()) == pytest.approx(1.0, abs=0.05)
    assert not torch.equal(kept[0], kept[1]), "each model drops its own"
    assert torch.equal(dare(vectors, generator(0), 0.2, 0.5), 0.5 * kept.sum(0))
    assert not torch.equal(kept, drop(vectors, 0.2, generator(1)))


def test_a_greedy_soup_keeps_what_does_not_hurt_from_the_best_model_on():
    models = [weights(*values) for values in ((0.0, 0.0, 9.0), (1.0, 0.0, 0.0), (0.0, 1.5, 0.0), (-1.0, 0.0, 0.0))]

    def score(model):
        return -float(flat(model).square().sum())

    soup, kept = greedy_soup(models, score)
    assert kept == (1, 3), "from the best on: 3 cancels what 1 has too much, 2 and 0 would do harm"
    assert torch.equal(flat(soup), average(torch.stack([flat(models[k]) for k in kept])))
