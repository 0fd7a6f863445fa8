"""Small trainable modules at every layer of the encoder; detached, they leave the model bit for bit as it was."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from functools import partial
from math import sqrt
from typing import Any, ClassVar

import torch
from torch import Generator, Tensor, nn
from torch.nn.functional import gelu, relu

from playground.errors import UserError
from playground.knob import knob
from playground.models.architecture import Architecture
from playground.models.model import LanguageModel, Network
from playground.models.transformer import FULL, Attention, Block, SdpaMask, attend
from playground.rng import generator

Undo = Callable[[], object]


class AdapterKind:
    """A kind of extra module; with `for_each_task` every task of several has its own beside a shared body.

    `rates` are the rows of its plan, and how many times as fast as the task's head each of them learns. `more_tokens`
    come before each text; a kind without any starts as the identity.
    """

    name: ClassVar[str]
    for_each_task: ClassVar[bool] = False
    more_tokens: ClassVar[int] = 0

    @property
    def rates(self) -> dict[str, float]:
        return {self.name: 1.0}

    def row(self, parameter: str) -> str:
        """The row of the plan in which a parameter of a module is."""
        return self.name

    def modules(self, model: LanguageModel, rng: Generator) -> nn.ModuleList:
        """A fresh module for every layer."""
        return nn.ModuleList(self.layer(model.shape, rng) for _ in model.layers)

    def layer(self, shape: Architecture, rng: Generator) -> nn.Module:
        raise NotImplementedError

    def attach(self, model: LanguageModel, modules: nn.ModuleList) -> list[Undo]:
        pairs = zip(model.layers, modules, strict=True)
        return [undo for block, module in pairs for undo in self.insert(block, module)]

    def insert(self, block: Block, module: nn.Module) -> list[Undo]:
        raise NotImplementedError


@dataclass
class Attached:
    """Extra modules of a model; they learn as the task's head does."""

    kind: AdapterKind
    model: LanguageModel
    modules: nn.ModuleList
    _undo: list[Undo] = field(default_factory=list)

    @property
    def rows(self) -> dict[str, list[nn.Parameter]]:
        """Its parameters by row of the plan; one that several layers share comes once for each."""
        found: dict[str, list[nn.Parameter]] = {row: [] for row in self.kind.rates}
        for module in self.modules:
            for name, parameter in module.named_parameters():
                found[self.kind.row(name)].append(parameter)
        return found

    def attach(self) -> None:
        self._undo += self.kind.attach(self.model, self.modules)

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


class Bottleneck(nn.Module):
    """Down-projection, an activation, zero-initialised up-projection."""

    def __init__(self, width: int, inner: int, activation: Callable[[Tensor], Tensor], rng: Generator) -> None:
        super().__init__()
        self.down_proj, self.up_proj, self.activation = nn.Linear(width, inner), nn.Linear(inner, width), activation
        _start(self.down_proj.weight, rng)
        for silent in (self.down_proj.bias, self.up_proj.weight, self.up_proj.bias):
            nn.init.zeros_(silent)

    def forward(self, x: Tensor) -> Tensor:
        return self.up_proj(self.activation(self.down_proj(x)))


@dataclass(frozen=True)
class Adapter(AdapterKind):
    """A bottleneck after each of the two sub-layers, before its result is added (arXiv:1902.00751, sec. 2.1).

    The norms of the layers are trained too, in copies that take their places while the modules are attached.
    """

    bottleneck_size: int = knob(16, 1, 256, unit="numbers", why="Width of the bottleneck; a wider one can learn more.")
    name = "adapters"

    def modules(self, model: LanguageModel, rng: Generator) -> nn.ModuleList:
        def layer(block: Block) -> nn.Module:
            bottlenecks = [Bottleneck(model.shape.width, self.bottleneck_size, gelu, rng) for _ in range(2)]
            return nn.ModuleList([*bottlenecks, deepcopy(block.ln_1), deepcopy(block.ln_2)])

        return nn.ModuleList(map(layer, model.layers))

    def insert(self, block: Block, module: nn.Module) -> list[Undo]:
        after_attn, after_mlp, *norms = module.children()
        undo: list[Undo] = [
            block.attn.register_forward_hook(lambda _, __, out: out + after_attn(out)).remove,
            block.mlp.register_forward_hook(lambda _, __, out: out + after_mlp(out)).remove,
        ]
        for own, copy in zip((block.ln_1, block.ln_2), norms, strict=True):
            own.forward = copy.forward
            undo.append(partial(delattr, own, "forward"))
        return undo


class LoRALayer(nn.Module):
    """A low-rank update `x A B` of a linear layer, times a scale, 0 at first.

    With `use_dora` each row of the updated matrix is divided by its norm, through which no gradient passes, and
    multiplied by a learned magnitude, at first the norm of the row (arXiv:2402.09353, sec. 4.1 and 4.3).
    """

    def __init__(self, linear: nn.Linear, rank: int, scale: float, use_dora: bool, rng: Generator) -> None:
        super().__init__()
        self.lora_a = nn.Linear(linear.in_features, rank, bias=False)
        self.lora_b = nn.Linear(rank, linear.out_features, bias=False)
        self.scale = scale
        _start(self.lora_a.weight, rng)
        nn.init.zeros_(self.lora_b.weight)
        self.magnitude = nn.Parameter(linear.weight.detach().norm(dim=1)) if use_dora else None

    def forward(self, linear: nn.Linear, x: Tensor, out: Tensor) -> Tensor:
        """What the layer gives for `x`, updated; `out` is what it gives without."""
        update = self.scale * self.lora_b(self.lora_a(x))
        if self.magnitude is None:
            return out + update
        product = out if linear.bias is None else out - linear.bias
        with torch.no_grad():
            norm = (linear.weight + self.scale * self.lora_b.weight @ self.lora_a.weight).norm(dim=1)
        factor = self.magnitude / norm.clamp(min=1e-12)  # a pruned row has no norm
        return out + (factor - 1) * product + factor * update


ATTENTION, MLP = ("query", "key", "value", "out"), ("fc1", "fc2", "gate")
TARGETS = {
    "query": ("query",), "key": ("key",), "value": ("value",), "output": ("out",), "query and key": ("query", "key"),
    "query and value": ("query", "value"), "attention": ATTENTION, "mlp": MLP, "attention and mlp": ATTENTION + MLP,
}  # fmt: skip
"""The linear layers of a block that LoRA updates, by what they are called (arXiv:2106.09685, table 5)."""


def linears(block: Block, targets: str) -> list[nn.Linear]:
    """The linear layers of a block that are targets."""
    parts = dict((*block.attn.named_children(), *block.mlp.named_children()))
    return [part for name in TARGETS[targets] if isinstance(part := parts.get(name), nn.Linear)]


def beside(linear: nn.Linear, module: nn.Module) -> Undo:
    """A module changes what a linear layer gives."""
    return linear.register_forward_hook(lambda own, args, out: module(own, args[0], out)).remove


@dataclass(frozen=True)
class LoRA(AdapterKind):
    """LoRA: low-rank updates beside some matrices of every layer (arXiv:2106.09685, sec. 4.1-4.2).

    rsLoRA divides by the root of the rank (arXiv:2312.03732), LoRA+ has a rate of its own for what is not A
    (arXiv:2402.12354), DoRA learns the magnitudes of the rows too (arXiv:2402.09353).
    """

    rank: int = knob(4, 1, 64, unit="rank", why="How many directions the matrices may change in.")
    alpha: float = knob(4.0, 0.125, 512.0, unit="", why="Updates are multiplied by alpha / rank.")
    targets: str = knob("query and value", choices=tuple(TARGETS), why="Which matrices of a layer are updated.")
    use_rslora: bool = knob(False, why="Multiply by alpha / sqrt(rank), so that a high rank learns as fast as a low.")
    loraplus_lr_ratio: float = knob(1.0, 1.0, 64.0, unit="times", why="B's learning rate, in times of A's (LoRA+).")
    use_dora: bool = knob(False, why="Learn the length of each row of a matrix apart from its direction (DoRA).")
    name = "low-rank updates"

    @property
    def rates(self) -> dict[str, float]:
        if self.loraplus_lr_ratio == 1.0:
            return {self.name: 1.0}
        return {f"{self.name} A": 1.0, f"{self.name} B": self.loraplus_lr_ratio}

    def row(self, parameter: str) -> str:
        return [*self.rates][0 if "lora_a" in parameter else -1]

    def modules(self, model: LanguageModel, rng: Generator) -> nn.ModuleList:
        scale = self.alpha / (sqrt(self.rank) if self.use_rslora else self.rank)
        make = partial(LoRALayer, rank=self.rank, scale=scale, use_dora=self.use_dora, rng=rng)
        return nn.ModuleList(nn.ModuleList(map(make, linears(block, self.targets))) for block in model.layers)

    def insert(self, block: Block, module: nn.Module) -> list[Undo]:
        return list(map(beside, linears(block, self.targets), module.children()))


class IA3Layer(nn.Module):
    """Factors, 1 at first, for the keys and the values, and for what the second linear layer of the MLP reads."""

    def __init__(self, block: Block) -> None:
        super().__init__()
        sizes = (block.attn.key.out_features, block.attn.value.out_features, block.mlp.fc2.in_features)
        self.key, self.value, self.inner = (nn.Parameter(torch.ones(size)) for size in sizes)


@dataclass(frozen=True)
class IA3(AdapterKind):
    """(IA)3: keys, values and the inner activations of the MLP times learned factors (arXiv:2205.05638, sec. 3.3)."""

    name = "learned factors"

    def modules(self, model: LanguageModel, rng: Generator) -> nn.ModuleList:
        return nn.ModuleList(map(IA3Layer, model.layers))

    def insert(self, block: Block, module: nn.Module) -> list[Undo]:
        def scaled(name: str) -> Callable[..., Tensor]:  # read by its name, so that a stack can put its own there
            return lambda _, args, *out: getattr(module, name) * (out or args)[0]

        return [
            block.attn.key.register_forward_hook(scaled("key")).remove,
            block.attn.value.register_forward_hook(scaled("value")).remove,
            block.mlp.fc2.register_forward_pre_hook(scaled("inner")).remove,
        ]


class VeRALayer(nn.Module):
    """An update `x A d B b` of a linear layer: frozen random A and B, learned vectors d and b, of which b starts at 0.

    `vera_a` `[r, i]` and `vera_b` `[o, r]` are as much of the matrices that all layers share as this one needs.
    """

    def __init__(self, linear: nn.Linear, shared_a: Tensor, shared_b: Tensor, d_initial: float) -> None:
        super().__init__()
        self.register_buffer("vera_a", shared_a[:, : linear.in_features])
        self.register_buffer("vera_b", shared_b[: linear.out_features])
        self.vera_lambda_d = nn.Parameter(torch.full((len(shared_a),), d_initial))
        self.vera_lambda_b = nn.Parameter(torch.zeros(linear.out_features))

    vera_a: Tensor
    vera_b: Tensor

    def forward(self, _: nn.Linear, x: Tensor, out: Tensor) -> Tensor:
        inner = self.vera_lambda_d * (x @ self.vera_a.T)  # [b, n, r]
        return out + self.vera_lambda_b * (inner @ self.vera_b.T)


@dataclass(frozen=True)
class VeRA(AdapterKind):
    """VeRA: low-rank updates whose matrices are random, frozen and the same in all layers (arXiv:2310.11454, sec. 3).

    They depend on a key of their own and not on the seed of the run, so that they need not be stored.
    """

    rank: int = knob(32, 1, 1024, unit="rank", why="Size of the learned vector between the two random matrices.")
    d_initial: float = knob(0.1, 0.001, 1.0, unit="", why="Where the numbers of that vector start.")
    targets: str = knob("query and value", choices=tuple(TARGETS), why="Which matrices of a layer are updated.")
    projection_prng_key: int = knob(0, 0, 1000, unit="", why="Seed of the two random matrices.")
    name = "vectors between random matrices"

    def modules(self, model: LanguageModel, rng: Generator) -> nn.ModuleList:
        updated = [linears(block, self.targets) for block in model.layers]
        widest = [max(sizes) for sizes in zip(*(each.weight.shape for some in updated for each in some), strict=True)]
        own, device = generator(self.projection_prng_key, "VeRA"), model.token_embedding.weight.device
        a, b = (_uniform(shape, own).to(device) for shape in ((self.rank, widest[1]), (widest[0], self.rank)))
        return nn.ModuleList(nn.ModuleList(VeRALayer(each, a, b, self.d_initial) for each in some) for some in updated)

    def insert(self, block: Block, module: nn.Module) -> list[Undo]:
        return list(map(beside, linears(block, self.targets), module.children()))


class PALLayer(nn.Module):
    """A narrow attention parallel to a layer, without an output matrix; the projections are shared by all layers."""

    def __init__(self, projections: tuple[nn.Linear, nn.Linear], heads: int, rng: Generator) -> None:
        super().__init__()
        self.down_proj, self.up_proj = projections
        self.attn = Attention(self.down_proj.out_features, heads, bias=True)
        self.attn.add_module("out", nn.Identity())
        for linear in (self.attn.query, self.attn.key, self.attn.value):
            _start(linear.weight, rng)
            nn.init.zeros_(linear.bias)

    def forward(self, readers: Tensor, read: Tensor, allowed: SdpaMask) -> Tensor:
        return gelu(self.up_proj(self.attn(self.down_proj(readers), self.down_proj(read), allowed)))


@dataclass(frozen=True)
class PAL(AdapterKind):
    """PAL: a small attention parallel to each layer, projections shared by all (arXiv:1902.02671, sec. 3, and code).

    It reads what the layer's attention reads and is added to what the MLP gives: `LN(MLP(y) + y + PAL(h))` where norms
    come last, as in the paper; `MLP(LN(y)) + y + PAL(LN(h))` where they come first.
    """

    projection_size: int = knob(16, 4, 128, unit="numbers", why="Width of the parallel attention.")
    heads: int = knob(2, 1, 8, unit="heads", why="How many attention patterns the parallel attention computes.")
    name = "projected attention"
    for_each_task = True

    def __post_init__(self) -> None:
        if self.projection_size % self.heads:
            raise UserError(
                f"projection_size {self.projection_size} does not fit {self.heads} heads; it must be a multiple of "
                f"{self.heads}."
            )

    def modules(self, model: LanguageModel, rng: Generator) -> nn.ModuleList:
        width, size = model.shape.width, self.projection_size
        down, up = nn.Linear(width, size), nn.Linear(size, width)
        _start(down.weight, rng)
        for silent in (down.bias, up.weight, up.bias):
            nn.init.zeros_(silent)
        return nn.ModuleList(PALLayer((down, up), self.heads, rng) for _ in model.layers)

    def insert(self, block: Block, module: nn.Module) -> list[Undo]:
        parallel = list[Any]()  # from the block's attention to its MLP
        return [
            block.attn.register_forward_hook(lambda _, args, __: parallel.append(module(*args[:3]))).remove,
            block.mlp.register_forward_hook(lambda _, __, out: out + parallel.pop()).remove,
        ]


class PrefixKV(nn.Module):
    """Keys and values `[h, p, d / h]` of virtual tokens, and a gate `[h, 1, 1]`."""

    def __init__(self, heads: int, places: int, head_width: int, rng: Generator) -> None:
        super().__init__()
        self.keys, self.values = (nn.Parameter(torch.empty(heads, places, head_width)) for _ in range(2))
        self.gate = nn.Parameter(torch.zeros(heads, 1, 1))
        for drawn in (self.keys, self.values):
            _start(drawn, rng)

    def forward(self, q: Tensor, scale: float) -> Tensor:
        k, v = (each.expand(len(q), -1, -1, -1) for each in (self.keys, self.values))
        return self.gate * attend(q, k, v, FULL, scale=scale)


@dataclass(frozen=True)
class PrefixTuning(AdapterKind):
    """Prefix tuning: learnt keys and values of virtual tokens at every layer (arXiv:2101.00190, sec. 4).

    In the paper they share one softmax with the words and so take attention from them before they have learnt anything.
    Here they have a softmax of their own behind a gate that starts at 0, so that they start as the identity
    (LLaMA-Adapter's zero-init attention, arXiv:2303.16199, sec. 3.2).
    """

    num_virtual_tokens: int = knob(4, 1, 64, unit="tokens", why="How many virtual tokens come before the text.")
    name = "prefix"

    def layer(self, shape: Architecture, rng: Generator) -> nn.Module:
        return PrefixKV(shape.heads, self.num_virtual_tokens, shape.head_width, rng)

    def insert(self, block: Block, module: nn.Module) -> list[Undo]:
        block.attn.prefix = module.forward
        return [lambda: setattr(block.attn, "prefix", None)]


class VirtualTokens(nn.Module):
    """Vectors `[k, d]` of virtual tokens, as the first layer reads them."""

    def __init__(self, vectors: Tensor) -> None:
        super().__init__()
        self.vectors = nn.Parameter(vectors)

    def forward(self) -> Tensor:
        return self.vectors


@dataclass(frozen=True)
class PromptTuning(AdapterKind):
    """Prompt tuning: learnt vectors of virtual tokens before the text, at the input only (arXiv:2104.08691, sec. 2).

    No position is added to them and no norm changes them; the text keeps its positions. The decoder of a model with two
    stacks does not attend to them.
    """

    num_virtual_tokens: int = knob(20, 1, 100, unit="tokens", why="How many virtual tokens come before the text.")
    prompt_tuning_init: str = knob(
        "vocabulary", choices=("vocabulary", "random"), why="The vectors start as those of random words, or as noise."
    )
    name = "virtual tokens"

    @property
    def more_tokens(self) -> int:
        return self.num_virtual_tokens

    def modules(self, model: LanguageModel, rng: Generator) -> nn.ModuleList:
        assert model.layers, "refuses a model that has none"
        return nn.ModuleList(VirtualTokens(self._vectors(model, network, rng)) for network in model.networks)

    @torch.no_grad()
    def _vectors(self, model: LanguageModel, network: Network, rng: Generator) -> Tensor:
        """Vectors between -0.5 and 0.5, or those of words of the vocabulary (sec. 2.1)."""
        if self.prompt_tuning_init == "random":
            return torch.rand(self.num_virtual_tokens, network.width, generator=rng) - 0.5
        table = model.token_embedding.weight
        words = torch.randint(len(table), (self.num_virtual_tokens,), generator=rng)
        return network.embed_words(words.to(table.device), table)

    def attach(self, model: LanguageModel, modules: nn.ModuleList) -> list[Undo]:
        for network, module in zip(model.networks, modules, strict=True):
            network.prompt = module.forward
        return [partial(setattr, network, "prompt", None) for network in model.networks]


@dataclass(frozen=True)
class PfeifferAdapter(AdapterKind):
    """One bottleneck per layer, after the MLP (AdapterFusion, arXiv:2005.00247; MAD-X, arXiv:2005.00052).

    With x what the MLP's residual connection carries and f its result: where norms come last, LN(x + f + A(LN(x + f)))
    with the layer's own norm twice; where they come first, x + f + A(x + f). A starts at 0.
    """

    bottleneck_size: int = knob(16, 1, 256, unit="numbers", why="Width of the bottleneck; a wider one can learn more.")
    name = "Pfeiffer adapters"

    def layer(self, shape: Architecture, rng: Generator) -> nn.Module:
        if shape.norm_first and shape.layer_sharing == "all":
            raise UserError(
                "Pfeiffer adapters are at the end of each layer, and with shared layers whose norms come first "
                "(norm_first=yes, layer_sharing=all) there is no one end of all; set one of them otherwise, or take "
                "adapters."
            )
        return Bottleneck(shape.width, self.bottleneck_size, relu, rng)

    def insert(self, block: Block, module: nn.Module) -> list[Undo]:
        if block.norm_first:
            return [block.end.register_forward_hook(lambda _, __, out: out + module(out)).remove]
        return [block.ln_2.register_forward_hook(lambda norm, args, out: norm.forward(args[0] + module(out))).remove]


def _uniform(shape: tuple[int, int], rng: Generator) -> Tensor:
    """Kaiming's uniform initialisation (arXiv:1502.01852)."""
    return (2 * torch.rand(shape, generator=rng) - 1) * sqrt(6 / shape[1])


@torch.no_grad()
def _start(weight: Tensor, rng: Generator) -> None:
    weight.copy_(torch.randn(weight.shape, generator=rng) / weight.shape[-1] ** 0.5)
