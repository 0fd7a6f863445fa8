"""Small trainable modules at every layer of the encoder; detached, they leave the model bit for bit as it was."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import ClassVar

import torch
from torch import Generator, Tensor, nn
from torch.nn.functional import gelu, relu

from playground.errors import UserError
from playground.knob import knob
from playground.models.architecture import Architecture
from playground.models.model import LanguageModel
from playground.models.transformer import FULL, Attention, Block, SdpaMask, attend

Undo = Callable[[], object]


class AdapterKind:
    """A kind of extra module; with `for_each_task` every task of several has its own beside a shared body."""

    name: ClassVar[str]
    for_each_task: ClassVar[bool] = False

    def modules(self, model: LanguageModel, rng: Generator) -> nn.ModuleList:
        """A fresh module for every layer."""
        return nn.ModuleList(self.layer(model.shape, rng) for _ in model.layers)

    def layer(self, shape: Architecture, rng: Generator) -> nn.Module:
        raise NotImplementedError

    def insert(self, block: Block, module: nn.Module) -> list[Undo]:
        raise NotImplementedError


@dataclass
class Attached:
    """Extra modules of a model; they learn as the task's head does."""

    kind: AdapterKind
    model: LanguageModel
    modules: nn.ModuleList
    _undo: list[Undo] = field(default_factory=list)

    def attach(self) -> None:
        for block, module in zip(self.model.layers, self.modules, strict=True):
            self._undo += self.kind.insert(block, module)

    def detach(self) -> None:
        while self._undo:
            self._undo.pop()()

    @contextmanager
    def instead_of(self, other: "Attached") -> Iterator[None]:
        """These modules are attached in the place of others, as those of another task."""
        other.detach()
        self.attach()
        try:
            yield
        finally:
            self.detach()
            other.attach()


def make_adapter(kind: AdapterKind, model: LanguageModel, rng: Generator) -> Attached:
    """The modules of a kind for a model, not yet attached."""
    return Attached(kind, model, kind.modules(model, rng).to(model.token_embedding.weight.device))


def attach(kind: AdapterKind, model: LanguageModel, rng: Generator) -> Attached:
    """Make the modules of a kind for a model and attach them."""
    attached = make_adapter(kind, model, rng)
    attached.attach()
    return attached


class BottleneckAdapter(nn.Module):
    """Down-projection, GELU, zero-initialised up-projection, residual connection."""

    def __init__(self, width: int, inner: int, rng: Generator) -> None:
        super().__init__()
        self.down_proj, self.up_proj = nn.Linear(width, inner), nn.Linear(inner, width)
        _start(self.down_proj.weight, rng)
        for silent in (self.down_proj.bias, self.up_proj.weight, self.up_proj.bias):
            nn.init.zeros_(silent)

    def forward(self, x: Tensor) -> Tensor:
        return x + self.up_proj(gelu(self.down_proj(x)))


@dataclass(frozen=True)
class Adapter(AdapterKind):
    """A bottleneck after each of the two sub-layers, before its result is added (arXiv:1902.00751, sec. 2.1)."""

    bottleneck_size: int = knob(16, 1, 256, unit="numbers", why="Width of the bottleneck: room for what is new.")
    name = "adapters"

    def layer(self, shape: Architecture, rng: Generator) -> nn.Module:
        return nn.ModuleList(BottleneckAdapter(shape.width, self.bottleneck_size, rng) for _ in range(2))

    def insert(self, block: Block, module: nn.Module) -> list[Undo]:
        after_attn, after_mlp = module.children()
        return [
            block.attn.register_forward_hook(lambda _, __, out: after_attn(out)).remove,
            block.mlp.register_forward_hook(lambda _, __, out: after_mlp(out)).remove,
        ]


class LoRALayer(nn.Module):
    """A low-rank update `x A B`, 0 at first."""

    def __init__(self, width: int, rank: int, outputs: int, rng: Generator) -> None:
        super().__init__()
        self.lora_a, self.lora_b = nn.Linear(width, rank, bias=False), nn.Linear(rank, outputs, bias=False)
        _start(self.lora_a.weight, rng)
        nn.init.zeros_(self.lora_b.weight)

    def forward(self, x: Tensor) -> Tensor:
        return self.lora_b(self.lora_a(x))


@dataclass(frozen=True)
class LoRA(AdapterKind):
    """LoRA: a low-rank update beside the query and value matrices (arXiv:2106.09685, sec. 4.1-4.2)."""

    rank: int = knob(4, 1, 64, unit="rank", why="How many directions the matrices may change in.")
    name = "low-rank updates"

    def layer(self, shape: Architecture, rng: Generator) -> nn.Module:
        return nn.ModuleList(LoRALayer(shape.width, self.rank, shape.heads * shape.head_width, rng) for _ in range(2))

    def insert(self, block: Block, module: nn.Module) -> list[Undo]:
        query, value = module.children()
        return [
            block.attn.query.register_forward_hook(lambda _, args, out: out + query(args[0])).remove,
            block.attn.value.register_forward_hook(lambda _, args, out: out + value(args[0])).remove,
        ]


class PALLayer(nn.Module):
    """A narrow attention parallel to a layer's own; the projections are shared by all layers."""

    def __init__(self, projections: tuple[nn.Linear, nn.Linear], heads: int, rng: Generator) -> None:
        super().__init__()
        self.down_proj, self.up_proj = projections
        self.attn = Attention(self.down_proj.out_features, heads)
        for parameter in self.attn.parameters():
            _start(parameter, rng)

    def forward(self, readers: Tensor, read: Tensor, allowed: SdpaMask) -> Tensor:
        return self.up_proj(self.attn(self.down_proj(readers), self.down_proj(read), allowed))


@dataclass(frozen=True)
class PAL(AdapterKind):
    """PAL: a small attention in parallel to each layer's own, projections shared by all (arXiv:1902.02671, sec. 3)."""

    projection_size: int = knob(16, 4, 128, unit="numbers", why="Width of the parallel attention.")
    heads: int = knob(2, 1, 8, unit="heads", why="How many attention patterns the parallel attention computes.")
    name = "projected attention"
    for_each_task = True

    def modules(self, model: LanguageModel, rng: Generator) -> nn.ModuleList:
        width, size = model.shape.width, self.projection_size
        down, up = nn.Linear(width, size, bias=False), nn.Linear(size, width, bias=False)
        _start(down.weight, rng)
        nn.init.zeros_(up.weight)
        return nn.ModuleList(PALLayer((down, up), self.heads, rng) for _ in model.layers)

    def insert(self, block: Block, module: nn.Module) -> list[Undo]:
        return [block.attn.register_forward_hook(lambda _, args, out: out + module(*args[:3])).remove]


class PrefixKV(nn.Module):
    """Keys and values `[h, p, d / h]` of virtual tokens, and a gate `[h, 1, 1]`."""

    def __init__(self, heads: int, places: int, head_width: int, rng: Generator) -> None:
        super().__init__()
        self.keys, self.values = (nn.Parameter(torch.empty(heads, places, head_width)) for _ in range(2))
        self.gate = nn.Parameter(torch.zeros(heads, 1, 1))
        for drawn in (self.keys, self.values):
            _start(drawn, rng)

    def forward(self, q: Tensor) -> Tensor:
        k, v = (each.expand(len(q), -1, -1, -1) for each in (self.keys, self.values))
        return self.gate * attend(q, k, v, FULL)


@dataclass(frozen=True)
class PrefixTuning(AdapterKind):
    """Prefix tuning: learnt keys and values of virtual tokens at every layer (arXiv:2101.00190, sec. 4).

    In the paper they share one softmax with the words and so take attention from them before they have learnt anything.
    Here they have a softmax of their own behind a gate that starts at 0, so that they start as the identity
    (LLaMA-Adapter's zero-init attention, arXiv:2303.16199, sec. 3.2).
    """

    num_virtual_tokens: int = knob(4, 1, 64, unit="places", why="How many virtual words stand before the text.")
    name = "prefix"

    def layer(self, shape: Architecture, rng: Generator) -> nn.Module:
        return PrefixKV(shape.heads, self.num_virtual_tokens, shape.head_width, rng)

    def insert(self, block: Block, module: nn.Module) -> list[Undo]:
        block.attn.prefix = module.forward
        return [lambda: setattr(block.attn, "prefix", None)]


class PfeifferLayer(nn.Module):
    """Down-projection, ReLU, zero-initialised up-projection, without a residual connection of its own."""

    def __init__(self, width: int, inner: int, rng: Generator) -> None:
        super().__init__()
        self.down_proj, self.up_proj = nn.Linear(width, inner), nn.Linear(inner, width)
        _start(self.down_proj.weight, rng)
        for silent in (self.down_proj.bias, self.up_proj.weight, self.up_proj.bias):
            nn.init.zeros_(silent)

    def forward(self, x: Tensor) -> Tensor:
        return self.up_proj(relu(self.down_proj(x)))


@dataclass(frozen=True)
class PfeifferAdapter(AdapterKind):
    """One bottleneck per layer, after the MLP (AdapterFusion, arXiv:2005.00247; MAD-X, arXiv:2005.00052).

    With x what the MLP's residual connection carries and f its result: where norms come last, LN(x + f + A(LN(x + f)))
    with the layer's own norm twice; where they come first, x + f + A(x + f). A starts at 0.
    """

    bottleneck_size: int = knob(16, 1, 256, unit="numbers", why="Width of the bottleneck: room for what is new.")
    name = "Pfeiffer adapters"

    def layer(self, shape: Architecture, rng: Generator) -> nn.Module:
        if shape.norm_first and shape.layer_sharing == "all":
            raise UserError(
                "Pfeiffer adapters stand at the end of each layer, and with shared layers whose norms come first "
                "(norm_first=yes, layer_sharing=all) there is no one end of all; set one of them otherwise, or take "
                "adapters."
            )
        return PfeifferLayer(shape.width, self.bottleneck_size, rng)

    def insert(self, block: Block, module: nn.Module) -> list[Undo]:
        if block.norm_first:
            return [block.end.register_forward_hook(lambda _, __, out: out + module(out)).remove]
        return [block.ln_2.register_forward_hook(lambda norm, args, out: norm.forward(args[0] + module(out))).remove]


@torch.no_grad()
def _start(weight: Tensor, rng: Generator) -> None:
    weight.copy_(torch.randn(weight.shape, generator=rng) / weight.shape[-1] ** 0.5)
