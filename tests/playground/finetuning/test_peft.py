"""Extra modules against those of PEFT, on copied weights: output and gradients. Merged models against PEFT's."""

from types import SimpleNamespace

import peft
import pytest
import torch
from peft.utils import merge_utils
from torch import nn

from playground.finetuning.apply import merging
from playground.models.adapters import IA3, IA3Layer, LoRALayer, VeRALayer


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


class OneBlock(nn.Module):
    """Keys, values and an MLP, named as those of our blocks."""

    def __init__(self):
        super().__init__()
        self.key, self.value, self.fc1, self.fc2 = (nn.Linear(*sizes) for sizes in ((6, 6), (6, 6), (6, 9), (9, 6)))

    def forward(self, x):
        return self.fc2((self.key(x) * self.value(x) + self.fc1(x)[..., :6]).repeat(1, 1, 2)[..., :9])


def test_learned_factors_are_those_of_peft():
    config = peft.IA3Config(target_modules=["key", "value", "fc2"], feedforward_modules=["fc2"])
    model, ours = OneBlock().requires_grad_(False), OneBlock().requires_grad_(False)
    ours.load_state_dict(model.state_dict())
    theirs = peft.get_peft_model(model, config)
    block = SimpleNamespace(attn=SimpleNamespace(key=ours.key, value=ours.value), mlp=SimpleNamespace(fc2=ours.fc2))
    factors = IA3Layer(block)
    IA3().insert(block, factors)
    scatter(factors.parameters())
    inner = theirs.base_model.model
    layers = ((factors.key, inner.key), (factors.value, inner.value), (factors.inner, inner.fc2))
    pairs = [(own, layer.ia3_l["default"]) for own, layer in layers]
    for own, known in pairs:
        known.data.copy_(own.data.view(known.shape))
    compare(ours, theirs, pairs)


@pytest.mark.parametrize("bias", [True, False])
def test_vectors_between_random_matrices_are_those_of_peft(bias):
    config = peft.VeraConfig(r=5, target_modules=["dense"], vera_dropout=0.0, d_initial=0.1)
    linear, theirs, layer = pair(config, bias)
    ours = VeRALayer(linear, layer.vera_A["default"], layer.vera_B["default"], 0.1)
    pairs = [
        (ours.vera_lambda_d, layer.vera_lambda_d["default"]),
        (ours.vera_lambda_b, layer.vera_lambda_b["default"]),
    ]
    assert all(torch.equal(own, known) for own, known in pairs), "they start alike"
    scatter(ours.parameters())
    for own, known in pairs:
        known.data.copy_(own.data)
    compare(lambda x: ours(linear, x, linear(x)), theirs, pairs)


# merged models


@pytest.mark.parametrize("models", [2, 3])
@pytest.mark.parametrize("rule", ["task_arithmetic", "ties", "dare_linear", "dare_ties"])
def test_merged_vectors_are_those_of_peft(rule, models):
    """One scale for all; the same seed drops the same numbers. Some numbers are 0, as where a model did not move."""
    vectors = torch.randn(models, 500, generator=rng())
    vectors[0, :100] = 0.0
    scales, density = torch.full((models,), 0.7), 0.3
    own = {
        "task_arithmetic": lambda: merging.task_arithmetic(vectors, 0.7),
        "ties": lambda: merging.ties(vectors, density, 0.7),
        "dare_linear": lambda: merging.dare(vectors, rng(5), density, 0.7),
        "dare_ties": lambda: merging.dare_ties(vectors, rng(5), density, 0.7),
    }
    torch.manual_seed(5)
    more = () if rule == "task_arithmetic" else (density,)
    known = getattr(merge_utils, rule)(list(vectors), scales, *more)
    assert bool(known.any()) and torch.allclose(own[rule](), known, atol=1e-6)
