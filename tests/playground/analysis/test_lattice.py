"""The lattice of all masks: four losses are one sum, and the best order is the best of all."""

from itertools import permutations

import numpy as np
import pytest
import torch

from playground.analysis.cloze import log_chances, texts, with_gap
from playground.analysis.lattice import Lattice, lattice_of
from playground.errors import UserError
from playground.training import Run, Started, train
from tests.runs import learner_of, reviews, tiny

SENTENCE = "the plot was very great .".split()


def trained(name="RoBERTa", steps=40):
    for event in train(Run(tiny(name, steps=steps), reviews(), steps=steps)):
        if isinstance(event, Started):
            learner = event.learner
    return learner.model.eval()


@pytest.fixture(scope="module", params=["RoBERTa", "GPT-BERT"])
def model(request):
    return trained(request.param)


def test_four_losses_of_a_trained_model_are_one_sum(model):
    tokenizer = reviews().tokenizer
    lattice = lattice_of(model, tokenizer.encode_words(SENTENCE), tokenizer)
    orders = [lattice.in_order(order).nats for order in permutations(range(lattice.size))]
    expected = np.mean(orders)
    assert 1 < expected < 100
    for value in (lattice.any_order(), lattice.mask_predict(), lattice.masked_diffusion()):
        assert value == pytest.approx(expected, rel=1e-6)
    assert lattice.best_order().nats == pytest.approx(min(orders), rel=1e-12)
    assert lattice.worst_order().nats == pytest.approx(max(orders), rel=1e-12)
    assert lattice.masked_at(0.15) != pytest.approx(expected, rel=1e-6)


def test_a_set_of_one_word_is_a_gap(model):
    tokenizer = reviews().tokenizer
    lattice = lattice_of(model, tokenizer.encode_words(SENTENCE), tokenizer)
    tokens, position = texts([SENTENCE], tokenizer), torch.tensor([3])
    chances = log_chances(model, with_gap(model.shape, tokens, position))
    assert lattice.losses[1 << 3, 3] == pytest.approx(-float(chances[0, tokens.ids[0, 3]]), rel=1e-5)
    assert (lattice.losses[~lattice.hidden] == 0).all() and (lattice.losses[lattice.hidden] > 0).all()


@pytest.mark.parametrize("size", [1, 2, 8])
def test_the_best_order_is_that_of_brute_force_over_arbitrary_losses(size):
    lattice = Lattice(np.random.default_rng(size).exponential(size=(1 << size, size)))
    lattice.losses[~lattice.hidden] = 0
    orders = {order: lattice.in_order(order).nats for order in permutations(range(size))}
    assert lattice.best_order().positions == min(orders, key=orders.__getitem__)
    assert lattice.worst_order().positions == max(orders, key=orders.__getitem__)
    assert lattice.any_order() == pytest.approx(np.mean(list(orders.values())))
    assert lattice.masked_diffusion() == pytest.approx(lattice.any_order())


def test_a_model_whose_words_are_independent_costs_the_same_in_every_order():
    own = np.array([0.5, 1.0, 2.0, 4.0])
    hidden = Lattice(np.zeros((16, 4))).hidden
    lattice = Lattice(hidden * own)
    assert lattice.best_order().nats == lattice.worst_order().nats == own.sum()
    assert [lattice.masked_at(rate) for rate in (0.15, 0.5, 1.0)] == pytest.approx([own.sum()] * 3)


def test_what_has_no_lattice_is_refused(model):
    tokenizer = reviews().tokenizer
    with pytest.raises(UserError, match="13 tokens"):
        lattice_of(model, [45] * 13, tokenizer)
    with pytest.raises(UserError, match="has a decoder or reads from one side"):
        lattice_of(learner_of("GPT").model, [45], tokenizer)
