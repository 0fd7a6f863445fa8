"""Stacks of pre-norm transformer blocks (Vaswani et al. 2017; arXiv:2002.04745 for the order of the norms)."""

from typing import cast

import torch
from torch import Tensor, nn
from torch.nn.functional import gelu

from playground.models.attention import Allowed, Attention, Turns

Taps = dict[str, list[Tensor]]
"""Attention weights by matrix ("encoder", "content", "query", "decoder", "cross"), one `[b, h, n, m]` per layer."""


class Block(nn.Module):
    """Look around, then think alone; a decoder's block in between looks at the encoder."""

    def __init__(self, width: int, heads: int, feed: int, crosses: bool = False) -> None:
        super().__init__()
        self.look_norm, self.look = nn.LayerNorm(width), Attention(width, heads)
        if crosses:
            self.cross_norm, self.cross = nn.LayerNorm(width), Attention(width, heads)
        self.think_norm = nn.LayerNorm(width)
        self.widen, self.narrow = nn.Linear(width, feed * width), nn.Linear(feed * width, width)

    def think(self, x: Tensor) -> Tensor:
        return x + self.narrow(gelu(self.widen(self.think_norm(x))))


class Stack(nn.Module):
    """Blocks one above the other and a last norm."""

    def __init__(self, layers: int, width: int, heads: int, feed: int, crosses: bool = False) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(Block(width, heads, feed, crosses) for _ in range(layers))
        self.norm = nn.LayerNorm(width)

    @property
    def layers(self) -> list[Block]:
        """The blocks from the bottom up."""
        return [cast("Block", block) for block in self.blocks]

    def read(self, x: Tensor, allowed: Allowed, turns: Turns | None, taps: Taps | None, name: str) -> Tensor:
        """One stream that looks at itself, `[b, n, d]`."""
        both = None if turns is None else (turns, turns)
        for depth, block in enumerate(self.layers):
            seen = block.look_norm(x)
            x = block.think(x + block.look(seen, seen, allowed.layer(depth), both, _tap(taps, name)))
        return self.norm(x)

    def climb(self, x: Tensor, allowed: Allowed, turns: Turns | None, first: int, last: int) -> list[Tensor]:
        """The level that is given, `first`, and every level above up to `last`, `[b, n, d]`; above all is the norm."""
        both = None if turns is None else (turns, turns)
        levels = [x]
        for block in self.layers[first:last]:
            seen = block.look_norm(levels[-1])
            levels.append(block.think(levels[-1] + block.look(seen, seen, allowed, both)))
        return [*levels, self.norm(levels[-1])] if first <= len(self.blocks) < last else levels

    def read_twice(
        self,
        content: Tensor,
        query: Tensor,
        allowed: tuple[Allowed, Allowed],
        turns: tuple[Turns, Turns] | None,
        taps: Taps | None,
    ) -> Tensor:
        """Two streams with one set of weights (XLNet, sec. 2.3); the query reads the content stream, `[b, m, d]`.

        The content stream is not computed beyond the last layer that the query stream reads.
        """
        inner = None if turns is None else (turns[0], turns[0])
        outer = None if turns is None else (turns[1], turns[0])
        for depth, block in enumerate(self.layers):
            seen = block.look_norm(content)
            own, others = (each.layer(depth) for each in allowed)
            query = block.think(query + block.look(block.look_norm(query), seen, others, outer, _tap(taps, "query")))
            if depth + 1 < len(self.blocks) or taps is not None:
                content = block.think(content + block.look(seen, seen, own, inner, _tap(taps, "content")))
        return self.norm(query)

    def write(
        self,
        x: Tensor,
        source: Tensor,
        allowed: tuple[Allowed, Allowed],
        turns: tuple[Turns, Turns] | None,
        taps: Taps | None,
    ) -> Tensor:
        """A decoder's stream that looks at itself and at an encoder's output `[b, m, d]`; gives `[b, n, d]`."""
        own = None if turns is None else (turns[0], turns[0])
        for block in self.layers:
            seen = block.look_norm(x)
            x = x + block.look(seen, seen, allowed[0], own, _tap(taps, "decoder"))
            x = block.think(x + block.cross(block.cross_norm(x), source, allowed[1], turns, _tap(taps, "cross")))
        return self.norm(x)


def _tap(taps: Taps | None, name: str) -> list[Tensor] | None:
    return None if taps is None else taps.setdefault(name, [])


@torch.no_grad()
def start_mimetic(stack: Stack, rng: torch.Generator) -> None:
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
            for linear, scale in ((module.widen, 1.0), (module.narrow, 0.1)):
                fan_in = linear.weight.shape[1]
                linear.weight.copy_(torch.randn(linear.weight.shape, generator=rng) * scale / fan_in**0.5)
                linear.bias.zero_()


@torch.no_grad()
def start_normal(stack: Stack, rng: torch.Generator) -> None:
    """Start every matrix from N(0, 0.02) and every bias from 0 (BERT's released code)."""
    for module in stack.modules():
        if isinstance(module, nn.Linear):
            module.weight.copy_(torch.randn(module.weight.shape, generator=rng) * 0.02)
            if module.bias is not None:
                module.bias.zero_()
