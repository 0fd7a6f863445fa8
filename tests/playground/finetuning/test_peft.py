"""Extra modules against those of PEFT, on copied weights: output and gradients."""

import pytest
import torch
from torch import nn

from playground.models.adapters import LoRALayer

peft = pytest.importorskip("peft")


@pytest.fixture(autouse=True)
def _exactly():
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


def rng(number=0):
    return torch.Generator().manual_seed(number)


class OneLinear(nn.Module):
    def __init__(self, bias=True):
        super().__init__()
        self.dense = nn.Linear(6, 9, bias=bias)

    def forward(self, x):
        return self.dense(x)


def pair(config, bias=True):
    """A linear layer, and the same in PEFT's hands."""
    plain = OneLinear(bias)
    theirs = peft.get_peft_model(OneLinear(bias), config)
    layer = theirs.base_model.model.dense
    layer.base_layer.load_state_dict(plain.dense.state_dict())
    return plain.dense.requires_grad_(False), theirs, layer


def scatter(parameters):
    """Weights that are not those of the start."""
    with torch.no_grad():
        for number, p in enumerate(parameters):
            p += 0.5 * torch.randn(p.shape, generator=rng(number))


def compare(ours, theirs, parameters):
    """Output, and gradients of the input and of pairs of parameters."""
    x = torch.randn(2, 5, 6, generator=rng(9))
    one, other = x.clone().requires_grad_(), x.clone().requires_grad_()
    first, second = ours(one), theirs(other)
    assert torch.allclose(first, second, atol=1e-5)
    own, known = zip(*parameters, strict=True)
    slopes = zip(
        torch.autograd.grad(first.square().sum(), [one, *own]),
        torch.autograd.grad(second.square().sum(), [other, *known]),
        strict=True,
    )
    for mine, right in slopes:
        assert bool(mine.any()) and torch.allclose(mine.flatten(), right.flatten(), atol=1e-5)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("dora", [False, True], ids=["LoRA", "DoRA"])
@pytest.mark.parametrize("stabilised", [False, True])
def test_low_rank_updates_are_those_of_peft(stabilised, dora, bias):
    config = peft.LoraConfig(
        r=4, lora_alpha=6, target_modules=["dense"], lora_dropout=0.0, use_rslora=stabilised, use_dora=dora
    )
    linear, theirs, layer = pair(config, bias)
    scale = 6 / 4**0.5 if stabilised else 6 / 4
    ours = LoRALayer(linear, 4, scale, dora, rng())
    scatter(ours.parameters())
    pairs = [(ours.lora_a.weight, layer.lora_A["default"].weight), (ours.lora_b.weight, layer.lora_B["default"].weight)]
    pairs += [(ours.magnitude, layer.lora_magnitude_vector["default"].weight)] if dora else []
    for own, known in pairs:
        known.data.copy_(own.data)
    compare(lambda x: ours(linear, x, linear(x)), theirs, pairs)
