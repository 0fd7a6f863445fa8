"""Attention and stacks of transformer blocks (Vaswani et al. 2017; arXiv:2002.04745 for the order of the norms).

Shapes: b rows, n positions that attend (queries), m positions that they attend to (keys, those of a memory first),
h heads, d width, i inner width of an MLP. A head is d / h wide, or `head_dim`; a 1 is the same for all.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import sqrt
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn.functional import gelu, pad, relu, scaled_dot_product_attention, silu

from playground.batch import AttentionMask
from playground.models.architecture import Architecture
from playground.models.dropout import Dropout
from playground.models.positions import BUCKETS, PositionEncoding

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "gelu": gelu,
    "gelu tanh": partial(gelu, approximate="tanh"),
    "relu": relu,
    "geglu": partial(gelu, approximate="tanh"),
    "swiglu": silu,
}
"""What lies between the two matrices of an MLP; "gelu tanh" is the approximation of GPT's and ALBERT's code.

"geglu" is the same times a linear function of the input (arXiv:2002.05202, eq. 6; T5 1.1's released code), "swiglu"
that of SiLU.
"""

GATED = ("geglu", "swiglu")
"""Activations that are multiplied by a linear function of the input."""

AttentionWeights = dict[str, list[Tensor]]
"""Attention weights by matrix ("encoder", "content", "query", "decoder", "cross"), one `[b, h, n, m]` per layer."""

Weights = AttentionWeights | None
"""Where attention weights are collected, if they are."""


@dataclass(frozen=True)
class SdpaMask:
    """A mask for `scaled_dot_product_attention`: none, causal, or booleans `[b, 1, n, m]`; another for `odd_layers`."""

    mask: Tensor | None
    causal: bool
    odd_layers: "SdpaMask | None" = None

    @classmethod
    def of(cls, attn_mask: AttentionMask, memory: int = 0) -> "SdpaMask":
        """The mask behind so many positions of a `memory`, to which every query may attend."""
        above = None if attn_mask.odd_layers is None else cls.of(attn_mask.odd_layers, memory)
        if not memory and attn_mask.overrides is None and attn_mask.form in ("full", "causal"):
            return cls(None, attn_mask.form == "causal", above)
        cells = attn_mask.dense()[:, None]  # [b or 1, 1, n, m], the same for all heads
        return cls(pad(cells, (memory, 0), value=True) if memory else cells, False, above)

    def layer(self, number: int) -> "SdpaMask":
        return self if self.odd_layers is None or number % 2 == 0 else self.odd_layers

    def dense(self, scores: Tensor) -> Tensor | None:
        """The mask of scores `[b, h, n, m]` as booleans, also where it is a flag."""
        return torch.ones_like(scores[0, 0], dtype=torch.bool).tril() if self.causal else self.mask


FULL = SdpaMask(None, False)
"""Full attention."""


@dataclass(frozen=True)
class Memory:
    """Segment-level recurrence (Transformer-XL, arXiv:1901.02860, sec. 3.2): what each layer reads of the text before.

    `mems` are its kept states, `[b, m, d]` for each layer; those that the layers read now are appended to `states`,
    without those of the first, `virtual` tokens.
    """

    mems: tuple[Tensor, ...] = ()
    states: list[Tensor] | None = None
    virtual: int = 0

    def read(self, depth: int, x: Tensor) -> Tensor:
        """What a layer attends to, `[b, m + n, d]`: its memory and the states `x` `[b, n, d]`."""
        if self.states is not None:
            self.states.append(x[:, self.virtual :])
        return torch.cat([self.mems[depth].to(x.dtype), x], dim=1) if self.mems else x  # [b, m + n, d]

    def mask(self, allowed: AttentionMask) -> SdpaMask:
        """The mask over the memory and the positions of a stream."""
        return SdpaMask.of(allowed, self.mems[0].shape[1] if self.mems else 0)


NO_MEMORY = Memory()


class Attention(nn.Module):
    """Multi-head attention of `readers` `[b, n, d]` to `read` `[b, m, d]`; zero where a query has no allowed key.

    Scores are divided by the square root of a head's width unless `scaled` is off (T5). With `relative` it has the
    weights of `RelativePositions`, with `segments` also those of its segments.
    """

    def __init__(
        self,
        width: int,
        heads: int,
        bias: bool = False,
        scaled: bool = True,
        relative: bool = False,
        segments: bool = False,
        dropout: float = 0.0,
        head_dim: int = 0,
    ) -> None:
        super().__init__()
        self.heads, self.scaled, each = heads, scaled, head_dim or width // heads
        self.query, self.key, self.value = (nn.Linear(width, heads * each, bias=bias) for _ in range(3))
        self.out = nn.Linear(heads * each, width, bias=bias)
        if relative:
            self.position = nn.Linear(width, heads * each, bias=False)
            self.content_bias, self.position_bias = (nn.Parameter(torch.zeros(heads, each)) for _ in range(2))
        if relative and segments:
            self.segment_bias = nn.Parameter(torch.zeros(heads, each))
            self.segment_embedding = nn.Parameter(torch.zeros(2, heads, each))
        self.kept_heads = tuple(range(heads))  # fewer where heads were cut out, by their numbers before
        self.dropout = Dropout(dropout) if dropout else None
        self.prefix: Callable[[Tensor, float], Tensor] | None = None  # virtual tokens: queries, scale to values
        self.weight_taps: list[Callable[[Tensor], Tensor]] = []  # what reads or replaces weights (`taps.py`)

    def forward(
        self,
        readers: Tensor,
        read: Tensor,
        allowed: SdpaMask,
        positions: PositionEncoding | None = None,
        weights: list[Tensor] | None = None,
    ) -> Tensor:
        """Values `[b, n, d]`; attention weights `[b, h, n, m]` are appended to `weights`."""
        # q [b, h, n, d / h]; k and v [b, h, m, d / h]
        q, k, v = self._split(self.query(readers)), self._split(self.key(read)), self._split(self.value(read))
        bias = None
        if positions is not None:
            q, k, bias = positions(self, q, k)  # bias [b or 1, h, n, m], or none
        if weights is None and self.dropout is None and not self.weight_taps:
            gathered = attend(q, k, v, allowed, bias, self.scale(q))  # [b, h, n, d / h]
        else:
            each = attention_weights(q, k, allowed, bias, self.scale(q))  # [b, h, n, m]
            for tap in self.weight_taps:
                each = tap(each)
            if weights is not None:
                weights.append(each)
            gathered = (each if self.dropout is None else self.dropout(each)) @ v  # [b, h, n, d / h]
        if self.prefix is not None:
            gathered = gathered + self.prefix(q, self.scale(q))
        return self.out(gathered.transpose(1, 2).flatten(2))  # [b, n, h, d / h], [b, n, d], [b, n, d]

    def scale(self, q: Tensor) -> float:
        """The factor of all scores."""
        return 1 / sqrt(q.shape[-1]) if self.scaled else 1.0

    def _split(self, x: Tensor) -> Tensor:
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)  # [b, n, d], [b, n, h, d / h], [b, h, n, d / h]


def attend(
    q: Tensor, k: Tensor, v: Tensor, allowed: SdpaMask, bias: Tensor | None = None, scale: float | None = None
) -> Tensor:
    """The values of every query, `[b, h, n, d / h]`; on a CPU in float32, which is several times faster there."""
    if q.dtype == torch.bfloat16 and q.device.type == "cpu":
        with torch.autocast("cpu", enabled=False):
            return attend(q.float(), k.float(), v.float(), allowed, None if bias is None else bias.float(), scale)
    if bias is None:
        return scaled_dot_product_attention(q, k, v, attn_mask=allowed.mask, is_causal=allowed.causal, scale=scale)
    mask = allowed.dense(bias)
    terms = bias if mask is None else bias.masked_fill(~mask, float("-inf"))
    return scaled_dot_product_attention(q, k, v, attn_mask=terms, scale=scale)


def attention_weights(
    q: Tensor, k: Tensor, allowed: SdpaMask, bias: Tensor | None = None, scale: float | None = None
) -> Tensor:
    """Attention weights `[b, h, n, m]`; every row sums to 1, or to 0 where no key is allowed."""
    scores = q @ k.transpose(-1, -2) * (1 / sqrt(q.shape[-1]) if scale is None else scale)  # [b, h, n, m]
    scores = scores if bias is None else scores + bias
    mask = allowed.dense(scores)
    if mask is None:
        return scores.softmax(dim=-1)
    return scores.masked_fill(~mask, float("-inf")).softmax(dim=-1).masked_fill(~mask, 0.0)  # a sum of 1 over m


class MLP(nn.Module):
    """Linear, activation, linear; with a gate the activation is that of the `gate`, times the first linear."""

    def __init__(self, shape: Architecture, width: int) -> None:
        super().__init__()
        self.activation, inner, bias = ACTIVATIONS[shape.activation], round(shape.mlp_ratio * width), shape.mlp_bias
        self.fc1, self.fc2 = nn.Linear(width, inner, bias=bias), nn.Linear(inner, width, bias=bias)
        self.gate = nn.Linear(width, inner, bias=bias) if shape.activation in GATED else None

    def forward(self, x: Tensor) -> Tensor:
        if self.gate is None:
            return self.fc2(self.activation(self.fc1(x)))  # [b, n, d], [b, n, i], [b, n, d]
        return self.fc2(self.activation(self.gate(x)) * self.fc1(x))


def make_norm(shape: Architecture, width: int) -> nn.Module:
    """Layer norm, or without mean and bias (T5, arXiv:1910.10683, sec. 2.1; RMSNorm, arXiv:1910.07467)."""
    return (nn.LayerNorm if shape.norm == "layer norm" else nn.RMSNorm)(width, eps=shape.norm_eps)


class Block(nn.Module):
    """Self-attention, optional cross-attention, MLP, each with a residual connection and a norm before or after it.

    The parts that all layers share are those of `first`, which alone registers them (ALBERT, arXiv:1909.11942, sec.
    3.1); a sub-layer is shared with its norm.
    """

    def __init__(self, shape: Architecture, width: int, crosses: bool = False, first: "Block | None" = None) -> None:
        super().__init__()
        self.norm_first = shape.norm_first
        self.end = nn.Identity()  # every stream that leaves the block passes here, so that its states can be tapped
        self.dropout = Dropout(shape.dropout) if shape.dropout else None
        attention = partial(
            Attention, width, shape.heads, shape.attention_bias, shape.scale_attn_weights, dropout=shape.dropout,
            head_dim=shape.head_dim,
        )  # fmt: skip
        parts: list[tuple[str, str, str, Callable[[], nn.Module]]] = [
            (
                "attention",
                "ln_1",
                "attn",
                partial(attention, relative=shape.positions == "relative", segments=bool(shape.segments)),
            ),
            ("attention", "ln_cross_attn", "cross_attn", attention),
            ("mlp", "ln_2", "mlp", partial(MLP, shape, width)),
        ]
        for kind, norm, sublayer, make in parts if crosses else (parts[0], parts[2]):
            if first is not None and shape.layer_sharing in (kind, "all"):
                share_modules(self, **{norm: getattr(first, norm), sublayer: getattr(first, sublayer)})
            else:
                self.add_module(norm, make_norm(shape, width))
                self.add_module(sublayer, make())

    ln_1: nn.Module
    attn: Attention
    ln_cross_attn: nn.Module
    cross_attn: Attention
    ln_2: nn.Module
    mlp: MLP

    def forward(
        self,
        x: Tensor,
        allowed: SdpaMask,
        positions: PositionEncoding | None = None,
        weights: list[Tensor] | None = None,
        read: Tensor | None = None,
    ) -> Tensor:
        """One stream `[b, n, d]` that attends to itself, or to what is `read` `[b, m, d]`: itself behind a memory."""
        seen = self.normed(x, self.ln_1)  # [b, n, d]
        source = seen if read is None or read is x else self.normed(read, self.ln_1)  # [b, m, d]
        return self.add_mlp(self.add(x, self.attn(seen, source, allowed, positions, weights), self.ln_1))

    def normed(self, x: Tensor, norm: nn.Module) -> Tensor:
        """What a sub-layer reads: the states under its norm where norms come first."""
        return norm(x) if self.norm_first else x

    def add(self, x: Tensor, change: Tensor, norm: nn.Module) -> Tensor:
        """The residual connection around a sub-layer, under its norm where norms come last."""
        x = x + (change if self.dropout is None else self.dropout(change))
        return x if self.norm_first else norm(x)

    def add_mlp(self, x: Tensor) -> Tensor:
        """The MLP with its norm and its residual connection."""
        return self.end(self.add(x, self.mlp(self.normed(x, self.ln_2)), self.ln_2))


class Stack(nn.Module):
    """Blocks, and a final norm where norms come first; T5's distances have one table for all layers."""

    def __init__(self, shape: Architecture, layers: int, width: int, crosses: bool = False) -> None:
        super().__init__()
        blocks: list[Block] = []
        for _ in range(layers):
            blocks.append(Block(shape, width, crosses, blocks[0] if blocks else None))
        self.blocks = nn.ModuleList(blocks)
        self.ln_f = make_norm(shape, width) if shape.norm_first else nn.Identity()
        if shape.positions == "relative bias":
            self.relative_attention_bias = nn.Embedding(BUCKETS, shape.heads)

    @property
    def layers(self) -> list[Block]:
        return [cast("Block", block) for block in self.blocks]

    def forward(
        self,
        x: Tensor,
        allowed: AttentionMask,
        positions: PositionEncoding | None,
        weights: Weights,
        name: str,
        memory: Memory = NO_MEMORY,
    ) -> Tensor:
        """One stream that attends to itself and to a memory, `[b, n, d]`."""
        mask = memory.mask(allowed)
        for depth, block in enumerate(self.layers):
            read = memory.read(depth, x)  # [b, m, d]
            x = block(x, mask.layer(depth), positions, _weights_of(weights, name), read)  # [b, n, d]
        return self.ln_f(x)

    def hidden_states(
        self, x: Tensor, allowed: AttentionMask, positions: PositionEncoding | None, first: int, last: int
    ) -> list[Tensor]:
        """The levels from the given one, `first`, up to `last`, `[b, n, d]`; the highest is the final norm."""
        levels, mask = [x], SdpaMask.of(allowed)
        for depth, block in enumerate(self.layers[first:last], first):
            levels.append(block(levels[-1], mask.layer(depth), positions))
        return [*levels, self.ln_f(levels[-1])] if first <= len(self.blocks) < last else levels

    def two_stream(
        self,
        content: Tensor,
        query: Tensor,
        allowed: tuple[AttentionMask, AttentionMask],
        positions: tuple[PositionEncoding | None, PositionEncoding | None],
        weights: Weights,
        query_positions: Tensor,
        memory: Memory = NO_MEMORY,
    ) -> Tensor:
        """The query stream `[b, m, d]` at some positions `[b, m]`; content only as far as it is read (XLNet, sec. 2.3).

        Both streams attend to a memory of content states (sec. 2.4).
        """
        inner, outer = positions
        masks = (memory.mask(allowed[0]), memory.mask(allowed[1].at(query_positions)))
        for depth, block in enumerate(self.layers):
            seen, norm = block.normed(memory.read(depth, content), block.ln_1), block.ln_1
            own, others = (mask.layer(depth) for mask in masks)
            # query [b, m, d], the scored positions alone; content, what they and it attend to, [b, n, d]
            look = block.attn(block.normed(query, norm), seen, others, outer, _weights_of(weights, "query"))
            query = block.add_mlp(block.add(query, look, norm))
            if depth + 1 < len(self.blocks) or weights is not None:
                readers = block.normed(content, norm) if memory.mems else seen
                look = block.attn(readers, seen, own, inner, _weights_of(weights, "content"))
                content = block.add_mlp(block.add(content, look, norm))
        return self.ln_f(query)

    def decode(
        self,
        x: Tensor,
        source: Tensor,
        allowed: tuple[AttentionMask, AttentionMask],
        positions: tuple[PositionEncoding | None, PositionEncoding | None],
        weights: Weights,
    ) -> Tensor:
        """A decoder's stream with cross-attention to an encoder's output `[b, m, d]`; gives `[b, n, d]`."""
        own, cross = (SdpaMask.of(mask) for mask in allowed)  # own [b, 1, n, n], cross [b, 1, n, m]
        for depth, block in enumerate(self.layers):
            seen = block.normed(x, block.ln_1)
            look = block.attn(seen, seen, own.layer(depth), positions[0], _weights_of(weights, "decoder"))
            x = block.add(x, look, block.ln_1)
            seen = block.normed(x, block.ln_cross_attn)
            look = block.cross_attn(seen, source, cross, positions[1], _weights_of(weights, "cross"))  # [b, n, d]
            x = block.add_mlp(block.add(x, look, block.ln_cross_attn))  # [b, n, d]
        return self.ln_f(x)


def _weights_of(weights: Weights, name: str) -> list[Tensor] | None:
    return None if weights is None else weights.setdefault(name, [])


def share_modules(borrower: nn.Module, **parts: nn.Module) -> None:
    """Give a module parts of another one, which alone registers and saves their weights."""
    for name, part in parts.items():
        object.__setattr__(borrower, name, part)


@torch.no_grad()
def init_mimetic(stack: nn.Module, rng: torch.Generator) -> None:
    """Initialise values times outputs as 0.1 I (arXiv:2305.09828), which shortens the plateau of tiny models."""
    for module in stack.modules():
        if isinstance(module, Attention):
            width, inner = max(module.value.weight.shape), len(module.value.weight)
            basis = torch.linalg.qr(torch.randn(width, width, generator=rng))[0][:inner, : module.value.in_features]
            module.value.weight.copy_(basis)
            module.out.weight.copy_(0.1 * basis.T)
            for weight in (module.query.weight, module.key.weight):
                weight.copy_(torch.randn(weight.shape, generator=rng) * 0.2 / width**0.5)
        elif isinstance(module, Block):
            for linear, scale in ((module.mlp.fc1, 1.0), (module.mlp.fc2, 0.1)):
                fan_in = linear.weight.shape[1]
                linear.weight.copy_(torch.randn(linear.weight.shape, generator=rng) * scale / fan_in**0.5)
            _zero_biases(module)


@torch.no_grad()
def init_normal(stack: nn.Module, rng: torch.Generator, scaled: bool = False) -> None:
    """Initialise matrices from N(0, 0.02) and biases with 0 (BERT's released code).

    `scaled` divides the matrices that end in a residual connection by the root of their number (GPT-2, sec. 2.3).
    """
    for module in stack.modules():
        if isinstance(module, nn.Linear):
            module.weight.copy_(torch.randn(module.weight.shape, generator=rng) * 0.02)
    _zero_biases(stack)
    blocks = (module for module in stack.modules() if isinstance(module, Block))
    ends = [end for block in blocks for end in (block.attn.out, block.mlp.fc2)]
    for end in ends if scaled else ():
        end.weight.div_(len(ends) ** 0.5)


def _zero_biases(module: nn.Module) -> None:
    for part in module.modules():
        if isinstance(part, nn.Linear) and part.bias is not None:
            part.bias.zero_()
