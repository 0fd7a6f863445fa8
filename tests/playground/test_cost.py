"""Operations are counted, and a training step is three passes."""

import pytest

from playground.models import fitted, make_model
from playground.models.cost import forward_flops, positions, step_flops
from playground.objectives import find_objective
from playground.seeds import generator
from playground.zoo import find_entry
from tests.texts import SPECIALS, tokens_of


@pytest.mark.parametrize("name", ["BERT", "GPT", "XLNet", "BART", "ELECTRA"])
def test_every_entry_has_a_cost(name):
    entry = find_entry(name)
    example = entry.objective.example(tokens_of([[SPECIALS.first_word + k for k in range(12)]] * 3), generator(0))
    model = make_model(fitted(entry.model, example), SPECIALS.size, generator(0))
    assert step_flops(model, example) == 3 * forward_flops(model, example) > 0
    assert all(p.requires_grad for p in model.parameters()), "the model itself is left as it was"


def test_the_count_is_that_of_the_products_on_paper():
    entry, number, width = find_entry("BERT"), 12, 64
    example = find_objective("MLM").example(tokens_of([[SPECIALS.first_word + k for k in range(number)]]), generator(0))
    model = make_model(entry.model, SPECIALS.size, generator(0))
    layer = 2 * number * (4 * width**2 + 2 * 4 * width**2) + 2 * 2 * number**2 * width
    graded = int(example.questions[0].graded.sum())
    paper = entry.model.layers * layer + 2 * graded * width * SPECIALS.size
    assert forward_flops(model, example) == pytest.approx(paper, rel=0.02)
    assert positions(example) == number
