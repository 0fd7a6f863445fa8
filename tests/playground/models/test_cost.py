"""Operations are counted, and a training step is three passes."""

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from playground.models import make_model, with_required_parts
from playground.models.cost import PASSES, OperationCounter, forward_flops, operations, positions, step_flops
from playground.models.groups import layer_groups
from playground.objectives import find_objective
from playground.rng import generator
from playground.tokenizing.vocabulary import FIRST_WORD
from playground.zoo import find_entry
from tests.texts import SPECIALS, tokens_of


@pytest.mark.parametrize("name", ["RoBERTa", "GPT", "BART", "ELECTRA"])
def test_every_entry_has_a_cost(name):
    entry = find_entry(name)
    batch = entry.objective.batch(tokens_of([[FIRST_WORD + k for k in range(12)]] * 3), generator(0))
    model = make_model(with_required_parts(entry.model, batch), SPECIALS.size, generator(0))
    assert step_flops(model, batch) == 3 * forward_flops(model, batch) > 0
    assert all(p.requires_grad for p in model.parameters()), "the model itself is left as it was"


def test_the_count_is_that_of_the_products_on_paper():
    entry, number, width = find_entry("RoBERTa"), 12, 64
    batch = find_objective("MLM").batch(tokens_of([[FIRST_WORD + k for k in range(number)]]), generator(0))
    model = make_model(entry.model, SPECIALS.size, generator(0))
    layer = 2 * number * (4 * width**2 + 2 * 4 * width**2) + 2 * 2 * number**2 * width
    scored = int(batch.targets[0].loss_mask.sum())
    paper = entry.model.layers * layer + 2 * scored * width * SPECIALS.size
    assert forward_flops(model, batch) == pytest.approx(paper, rel=0.02)
    assert positions(batch) == number


def test_what_is_said_from_the_sizes_is_what_is_counted():
    entry, number = find_entry("RoBERTa"), 12
    batch = find_objective("MLM").batch(tokens_of([[FIRST_WORD + k for k in range(number)]]), generator(0))
    model = make_model(entry.model, SPECIALS.size, generator(0))
    layers = [group for group in layer_groups(model) if group.startswith("encoder")]
    sizes = {name: p.numel() for name, p in model.named_parameters() if p.dim() > 1}
    said = sum(
        number * operations(sum(sizes.get(name, 0) for name in layer_groups(model)[layer]), number * 64, 1.0, 1.0)
        for layer in layers
    )
    scored = len(batch.targets[0].loss_positions.rows)
    assert step_flops(model, batch) == pytest.approx(said + PASSES * 2 * scored * 64 * SPECIALS.size, rel=0.02)
    assert PASSES == 3


@pytest.mark.parametrize(("learns", "beneath", "passes"), [(0.0, 0.0, 1), (1.0, 0.0, 2), (0.0, 1.0, 2), (1.0, 1.0, 3)])
def test_what_rests_needs_no_backward(learns, beneath, passes):
    assert operations(100, 0, learns, beneath) == passes * operations(100, 0, 0.0, 0.0)
    assert operations(0, 100, learns, beneath) == (3 if learns or beneath else 1) * operations(0, 100, 0.0, 0.0)


@pytest.mark.filterwarnings("ignore:TF32")
@pytest.mark.parametrize("name", ["RoBERTa", "GPT", "BART", "ELECTRA", "ULMFiT"])
def test_the_count_is_that_of_torch(name):
    entry = find_entry(name)
    batch = entry.objective.batch(tokens_of([[FIRST_WORD + k for k in range(12)]] * 3), generator(0))
    model = make_model(with_required_parts(entry.model, batch), SPECIALS.size, generator(0)).requires_grad_(False)
    plain = torch.backends.mkldnn.flags(enabled=False)
    with plain, OperationCounter() as ours, FlopCounterMode(display=False) as theirs:
        model.attention(batch)
    assert ours.total == theirs.get_total_flops() == forward_flops(model, batch) > 0
