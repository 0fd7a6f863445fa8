"""A language model in any order: shuffled words with the positions of the next ones, change/order.py."""

from collections import Counter
from itertools import permutations
from math import factorial

import pytest
import torch

from playground import leaks
from playground.batch import AttentionMask, begin
from playground.models import Architecture, LanguageModel, total_loss, with_required_parts
from playground.objectives import find_objective
from playground.objectives.choose import ChooseAnyOrder
from playground.rng import generator
from tests.laws import assert_law, assert_same
from tests.texts import SPECIALS, plain_rows, tokens_of

TEXT = [40, 41, 42, 43]
ANY_ORDER = find_objective("any-order LM")
SHAPES = {
    "added": Architecture(width=16, heads=2, attention="left to right"),
    "concatenated": Architecture(
        width=16, heads=2, attention="left to right", positions="learned", second_positions="concatenated"
    ),
}


def batch_in(order, tokens=None):
    tokens = tokens_of([TEXT]) if tokens is None else tokens
    return ANY_ORDER.steps(tokens, generator(0), {"order": order})[-1].batch


def test_words_in_an_order_by_hand_are_read_with_their_positions_and_with_those_of_the_next():
    batch = batch_in([3, 1, 4, 2])
    inputs, target = batch.inputs, batch.targets[0]
    assert inputs.ids.tolist() == [[SPECIALS.start, 42, 40, 43]]
    assert inputs.position_ids.tolist() == [[0, 3, 1, 4]]
    assert inputs.second_position_ids.tolist() == [[3, 1, 4, 2]]
    assert target.labels.tolist() == [[42, 40, 43, 41]]
    assert target.loss_mask.all(), "every word is predicted"
    assert inputs.attn_mask.dense()[0].tolist() == torch.ones(4, 4).tril().bool().tolist()
    assert not leaks.check(batch).leak


def test_in_the_order_of_the_text_it_is_the_language_model_with_a_second_position():
    tokens = tokens_of([TEXT])
    batch, lm = batch_in([1, 2, 3, 4]), find_objective("LM").batch(tokens, generator(0))
    assert batch.inputs.second_position_ids.tolist() == [[1, 2, 3, 4]]
    for name in ("ids", "origin", "valid", "position_ids", "attn_mask"):
        assert_same(getattr(batch.inputs, name), getattr(lm.inputs, name))
    assert_same(batch.targets, lm.targets)
    assert_same(batch.actions, lm.actions)


def test_every_order_is_equally_likely():
    plan = ChooseAnyOrder().plan(begin(plain_rows(24_000, 3)), generator(0))
    assert_law(Counter(map(tuple, plan.tolist())), dict.fromkeys(permutations(range(3)), 1 / 6))


@pytest.mark.parametrize("second", SHAPES)
def test_the_mean_over_all_orders_is_the_weighted_sum_over_all_beginnings_of_an_order(second):
    """A word behind k others is predicted in (T-k-1)! of the T! orders; each beginning is read alone, as its own text.

    So nothing after a position counts, and each word is predicted at its own position.
    """
    shape = with_required_parts(SHAPES[second], batch_in([1, 2, 3, 4]))
    assert shape.second_positions == second
    model = LanguageModel(shape, SPECIALS.size, generator(1)).double()
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-2)
    for step in range(10):
        total_loss(model(ANY_ORDER.batch(tokens_of([TEXT]), generator(step))))[0].backward()
        optimiser.step()
        optimiser.zero_grad()
    orders = list(permutations(range(1, 5)))
    mean = sum(float(total_loss(model(batch_in(order)))[0].detach()) for order in orders) / len(orders)
    summed = 0.0
    for known in range(4):
        for begun in permutations(range(4), known + 1):
            *seen, asked = begun
            text = tokens_of([[TEXT[place] for place in seen]])
            positions = torch.tensor([[0, *(place + 1 for place in seen)]])
            network, table = model.network, model.token_embedding.weight
            x = table[torch.tensor([[SPECIALS.start, *text.ids[0].tolist()]])]
            ahead = torch.tensor([[place + 1 for place in begun]])
            if second == "added":
                x = x + network.second_position_embedding(ahead)
            else:
                x = x + torch.cat(
                    [network.second_position_embedding(positions), network.second_position_embedding(ahead)], dim=-1
                )
            mask = batch_in([1, 2, 3, 4]).inputs.attn_mask.dense()[:, : known + 1, : known + 1]
            state = network.encoder(x, _masked(mask), network._positions(positions), None, "encoder")[0, -1]
            scores = model.score(state[None], "vocabulary", network)[0]
            summed -= float(scores.detach().log_softmax(-1)[TEXT[asked]]) * factorial(3 - known) / factorial(4)
    assert mean == pytest.approx(summed / 4, abs=1e-9)


def _masked(cells):

    level = torch.zeros(1, cells.shape[1], dtype=torch.long)
    return AttentionMask(level, level, overrides=cells)
