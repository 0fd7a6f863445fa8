"""Stacks of pre-norm transformer blocks (Vaswani et al. 2017; arXiv:2002.04745 for the order of the norms)."""

from typing import cast

import torch
from torch import Tensor, nn
from torch.nn.functional import gelu

from playground.models.attention import Attention, RotaryEmbedding, SdpaMask

AttentionWeights = dict[str, list[Tensor]]
"""Attention weights by matrix ("encoder", "content", "query", "decoder", "cross"), one `[b, h, n, m]` per layer."""

Rotary = tuple[RotaryEmbedding, RotaryEmbedding]
"""The rotations of queries and of keys."""


class MLP(nn.Module):
    """Two linear layers with a GELU between them, on each position alone."""

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
        self.ln_2 = nn.LayerNorm(width)
        self.mlp = MLP(width, mlp_ratio)

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
    """Blocks one above the other and a final norm."""

    def __init__(self, layers: int, width: int, heads: int, mlp_ratio: int, crosses: bool = False) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(Block(width, heads, mlp_ratio, crosses) for _ in range(layers))
        self.ln_f = nn.LayerNorm(width)

    @property
    def layers(self) -> list[Block]:
        """The blocks from the bottom up."""
        return [cast("Block", block) for block in self.blocks]

    def forward(
        self, x: Tensor, allowed: SdpaMask, rotary: RotaryEmbedding | None, weights: AttentionWeights | None, name: str
    ) -> Tensor:
        """One stream that attends to itself, `[b, n, d]`."""
        both = None if rotary is None else (rotary, rotary)
        for depth, block in enumerate(self.layers):
            x = block(x, allowed.layer(depth), both, _weights_of(weights, name))
        return self.ln_f(x)

    def hidden_states(
        self, x: Tensor, allowed: SdpaMask, rotary: RotaryEmbedding | None, first: int, last: int
    ) -> list[Tensor]:
        """The level that is given, `first`, and every level above up to `last`, `[b, n, d]`; above all is the norm."""
        both = None if rotary is None else (rotary, rotary)
        levels = [x]
        for block in self.layers[first:last]:
            levels.append(block(levels[-1], allowed, both))
        return [*levels, self.ln_f(levels[-1])] if first <= len(self.blocks) < last else levels

    def two_stream(
        self,
        content: Tensor,
        query: Tensor,
        allowed: tuple[SdpaMask, SdpaMask],
        rotary: Rotary | None,
        weights: AttentionWeights | None,
    ) -> Tensor:
        """Two streams with one set of weights (XLNet, sec. 2.3); the query reads the content stream, `[b, m, d]`.

        The content stream is not computed beyond the last layer that the query stream reads.
        """
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
        self,
        x: Tensor,
        source: Tensor,
        allowed: tuple[SdpaMask, SdpaMask],
        rotary: Rotary | None,
        weights: AttentionWeights | None,
    ) -> Tensor:
        """A decoder's stream that looks at itself and at an encoder's output `[b, m, d]`; gives `[b, n, d]`."""
        own = None if rotary is None else (rotary[0], rotary[0])
        for block in self.layers:
            seen = block.ln_1(x)
            x = x + block.attn(seen, seen, allowed[0], own, _weights_of(weights, "decoder"))
            x = block.add_mlp(
                x + block.cross_attn(block.ln_cross_attn(x), source, allowed[1], rotary, _weights_of(weights, "cross"))
            )
        return self.ln_f(x)


def _weights_of(weights: AttentionWeights | None, name: str) -> list[Tensor] | None:
    return None if weights is None else weights.setdefault(name, [])


@torch.no_grad()
def init_mimetic(stack: Stack, rng: torch.Generator) -> None:
    """Start attention as an averaging residual: values times outputs make 0.1 I (after arXiv:2305.09828).

    Co-occurring words then attract each other from the first step, which shortens the plateau of tiny models.
    """
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
    """Start every matrix from N(0, 0.02) and every bias from 0 (BERT's released code)."""
    for module in stack.modules():
        if isinstance(module, nn.Linear):
            module.weight.copy_(torch.randn(module.weight.shape, generator=rng) * 0.02)
            if module.bias is not None:
                module.bias.zero_()
