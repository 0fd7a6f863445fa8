"""Attention and stacks of pre-norm transformer blocks, with rotary positions.

Vaswani et al. 2017; arXiv:2002.04745 for the order of the norms; arXiv:2104.09864 for the positions.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn.functional import gelu, scaled_dot_product_attention

from playground.batch import AttentionMask

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
    def of(cls, visible: AttentionMask) -> "SdpaMask":
        if visible.overrides is None and visible.form in ("full", "causal"):
            return cls(None, visible.form == "causal")
        above = None if visible.odd_layers is None else cls.of(visible.odd_layers)
        return cls(visible.dense()[:, None], False, above)

    def layer(self, number: int) -> "SdpaMask":
        return self if self.odd_layers is None or number % 2 == 0 else self.odd_layers

    def dense(self, shape: torch.Size) -> Tensor | None:
        """The mask as booleans, also where it is a flag."""
        return torch.ones(shape[-2:], dtype=torch.bool).tril() if self.causal else self.mask


FULL = SdpaMask(None, False)
"""Full attention."""


@dataclass(frozen=True)
class RotaryEmbedding:
    """Cosines and sines `[b or 1, 1, n, d / 2h]` that rotate queries and keys by their positions."""

    cos: Tensor
    sin: Tensor

    @classmethod
    def of(cls, position: Tensor, width: int) -> "RotaryEmbedding":
        speed = 10_000.0 ** (-torch.arange(0, width, 2, device=position.device) / width)
        angle = position[:, None, :, None] * speed
        return cls(angle.cos(), angle.sin())

    def __call__(self, x: Tensor) -> Tensor:
        left, right = x.chunk(2, dim=-1)
        return torch.cat([left * self.cos - right * self.sin, left * self.sin + right * self.cos], dim=-1)


Rotary = tuple[RotaryEmbedding, RotaryEmbedding]
"""The rotations of queries and of keys."""


class Attention(nn.Module):
    """Multi-head attention of `readers` `[b, n, d]` to `read` `[b, m, d]`; zero where a query has no allowed key."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.out = (nn.Linear(width, width, bias=False) for _ in range(4))
        self.prefix: Callable[[Tensor], Tensor] | None = None  # virtual tokens: queries to values (prefix tuning)

    def forward(
        self,
        readers: Tensor,
        read: Tensor,
        allowed: SdpaMask,
        rotary: Rotary | None = None,
        weights: list[Tensor] | None = None,
    ) -> Tensor:
        """Values `[b, n, d]`; attention weights `[b, h, n, m]` are appended to `weights`."""
        q, k, v = self._split(self.query(readers)), self._split(self.key(read)), self._split(self.value(read))
        if rotary is not None:
            q, k = rotary[0](q), rotary[1](k)
        if weights is None:
            gathered = attend(q, k, v, allowed)
        else:
            weights.append(attention_weights(q, k, allowed))
            gathered = weights[-1] @ v
        if self.prefix is not None:
            gathered = gathered + self.prefix(q)
        return self.out(gathered.transpose(1, 2).flatten(2))

    def _split(self, x: Tensor) -> Tensor:
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)


def attend(q: Tensor, k: Tensor, v: Tensor, allowed: SdpaMask) -> Tensor:
    """The values of every query, `[b, h, n, d / h]`; on a CPU in float32, which is several times faster there."""
    if q.dtype != torch.bfloat16 or q.device.type != "cpu":
        return scaled_dot_product_attention(q, k, v, attn_mask=allowed.mask, is_causal=allowed.causal)
    with torch.autocast("cpu", enabled=False):
        return attend(q.float(), k.float(), v.float(), allowed)


def attention_weights(q: Tensor, k: Tensor, allowed: SdpaMask) -> Tensor:
    """Attention weights `[b, h, n, m]`; every row sums to 1, or to 0 where no key is allowed."""
    scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
    mask = allowed.dense(scores.shape)
    if mask is None:
        return scores.softmax(dim=-1)
    mask = mask.to(scores.device)
    return scores.masked_fill(~mask, float("-inf")).softmax(dim=-1).masked_fill(~mask, 0.0)


class MLP(nn.Module):
    """Linear, GELU, linear."""

    def __init__(self, width: int, ratio: int) -> None:
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(width, ratio * width), nn.Linear(ratio * width, width)

    def forward(self, x: Tensor) -> Tensor:
        return self.fc2(gelu(self.fc1(x)))


class Block(nn.Module):
    """Pre-norm block: self-attention, optional cross-attention, MLP, each with a residual connection."""

    def __init__(self, width: int, heads: int, mlp_ratio: int, crosses: bool = False) -> None:
        super().__init__()
        self.ln_1, self.attn = nn.LayerNorm(width), Attention(width, heads)
        if crosses:
            self.ln_cross_attn, self.cross_attn = nn.LayerNorm(width), Attention(width, heads)
        self.ln_2, self.mlp = nn.LayerNorm(width), MLP(width, mlp_ratio)

    def forward(
        self, x: Tensor, allowed: SdpaMask, rotary: Rotary | None = None, weights: list[Tensor] | None = None
    ) -> Tensor:
        """One stream that attends to itself, `[b, n, d]`."""
        seen = self.ln_1(x)
        return self.add_mlp(x + self.attn(seen, seen, allowed, rotary, weights))

    def add_mlp(self, x: Tensor) -> Tensor:
        """The MLP with its norm and its residual connection."""
        return x + self.mlp(self.ln_2(x))


class Stack(nn.Module):
    """Blocks and a final norm."""

    def __init__(self, layers: int, width: int, heads: int, mlp_ratio: int, crosses: bool = False) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(Block(width, heads, mlp_ratio, crosses) for _ in range(layers))
        self.ln_f = nn.LayerNorm(width)

    @property
    def layers(self) -> list[Block]:
        return [cast("Block", block) for block in self.blocks]

    def forward(self, x: Tensor, allowed: SdpaMask, rotary: Rotary | None, weights: Weights, name: str) -> Tensor:
        """One stream that attends to itself, `[b, n, d]`."""
        for depth, block in enumerate(self.layers):
            x = block(x, allowed.layer(depth), rotary, _weights_of(weights, name))
        return self.ln_f(x)

    def hidden_states(self, x: Tensor, allowed: SdpaMask, rotary: Rotary | None, first: int, last: int) -> list[Tensor]:
        """The levels from the given one, `first`, up to `last`, `[b, n, d]`; the highest is the final norm."""
        levels = [x]
        for block in self.layers[first:last]:
            levels.append(block(levels[-1], allowed, rotary))
        return [*levels, self.ln_f(levels[-1])] if first <= len(self.blocks) < last else levels

    def two_stream(
        self,
        content: Tensor,
        query: Tensor,
        allowed: tuple[SdpaMask, SdpaMask],
        rotary: Rotary | None,
        weights: Weights,
    ) -> Tensor:
        """The query stream `[b, m, d]` over the content stream, computed as far as it is read (XLNet, sec. 2.3)."""
        inner = None if rotary is None else (rotary[0], rotary[0])
        outer = None if rotary is None else (rotary[1], rotary[0])
        for depth, block in enumerate(self.layers):
            seen = block.ln_1(content)
            own, others = (each.layer(depth) for each in allowed)
            query = block.add_mlp(
                query + block.attn(block.ln_1(query), seen, others, outer, _weights_of(weights, "query"))
            )
            if depth + 1 < len(self.blocks) or weights is not None:
                content = block.add_mlp(content + block.attn(seen, seen, own, inner, _weights_of(weights, "content")))
        return self.ln_f(query)

    def decode(
        self, x: Tensor, source: Tensor, allowed: tuple[SdpaMask, SdpaMask], rotary: Rotary | None, weights: Weights
    ) -> Tensor:
        """A decoder's stream with cross-attention to an encoder's output `[b, m, d]`; gives `[b, n, d]`."""
        own = None if rotary is None else (rotary[0], rotary[0])
        for block in self.layers:
            seen = block.ln_1(x)
            x = x + block.attn(seen, seen, allowed[0], own, _weights_of(weights, "decoder"))
            x = block.add_mlp(
                x + block.cross_attn(block.ln_cross_attn(x), source, allowed[1], rotary, _weights_of(weights, "cross"))
            )
        return self.ln_f(x)


def _weights_of(weights: Weights, name: str) -> list[Tensor] | None:
    return None if weights is None else weights.setdefault(name, [])


@torch.no_grad()
def init_mimetic(stack: Stack, rng: torch.Generator) -> None:
    """Initialise values times outputs as 0.1 I (arXiv:2305.09828), which shortens the plateau of tiny models."""
    for module in stack.modules():
        if isinstance(module, Attention):
            width = module.value.weight.shape[0]
            basis = torch.linalg.qr(torch.randn(width, width, generator=rng))[0]
            module.value.weight.copy_(basis)
            module.out.weight.copy_(0.1 * basis.T)
            for weight in (module.query.weight, module.key.weight):
                weight.copy_(torch.randn(weight.shape, generator=rng) * 0.2 / width**0.5)
        elif isinstance(module, Block):
            for linear, scale in ((module.mlp.fc1, 1.0), (module.mlp.fc2, 0.1)):
                fan_in = linear.weight.shape[1]
                linear.weight.copy_(torch.randn(linear.weight.shape, generator=rng) * scale / fan_in**0.5)
                linear.bias.zero_()


@torch.no_grad()
def init_normal(stack: Stack, rng: torch.Generator) -> None:
    """Initialise matrices from N(0, 0.02) and biases with 0 (BERT's released code)."""
    for module in stack.modules():
        if isinstance(module, nn.Linear):
            module.weight.copy_(torch.randn(module.weight.shape, generator=rng) * 0.02)
            if module.bias is not None:
                module.bias.zero_()
