"""How attention learns the order of positions: rotations, or terms that are added to its scores; and added vectors."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

if TYPE_CHECKING:
    from playground.models.transformer import Attention

BUCKETS, FURTHEST = 32, 128
"""Distances that T5 tells apart, and from where on all are one (arXiv:1910.10683, sec. 2.1)."""

LONGEST_WAVE = 10_000.0
"""The base of the wave lengths of sinusoids and rotations (Vaswani et al. 2017, sec. 3.5)."""


PositionEncoding = Callable[["Attention", Tensor, Tensor], tuple[Tensor, Tensor, Tensor | None]]
"""Queries and keys `[b, h, n, d / h]` as an attention compares them, and a term of the scores `[b, h, n, m]`."""


def rotary(query: Tensor, key: Tensor, width: int) -> PositionEncoding:
    """Rotations of queries and of keys by their positions `[b or 1, n]` (arXiv:2104.09864)."""
    angles = [p[:, None, :, None] * _speeds(width, p.device) for p in ([query] if key is query else [query, key])]
    turns = [(angle.cos(), angle.sin()) for angle in angles]  # [b or 1, 1, n, d / 2h] each
    return lambda attn, q, k: (_rotated(q, *turns[0]), _rotated(k, *turns[-1]), None)


def _rotated(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    left, right = x.chunk(2, dim=-1)
    return torch.cat([left * cos - right * sin, left * sin + right * cos], dim=-1)


def relative_bias(query: Tensor, key: Tensor, table: nn.Embedding, both_sides: bool) -> PositionEncoding:
    """One learned number `[b or 1, h, n, m]` for each distance and head, the same in all layers (T5, sec. 2.1)."""
    bias = table(distance_buckets(key[:, None, :] - query[:, :, None], both_sides)).permute(0, 3, 1, 2)
    return lambda attn, q, k: (q, k, bias)


def distance_buckets(distance: Tensor, both_sides: bool) -> Tensor:
    """The bucket of each distance, key less query: half of them exact, the rest in steps that grow with the distance.

    A decoder sees no key to its right, so that all of its buckets are for the left (T5's released code).
    """
    number, first = BUCKETS, torch.zeros_like(distance)
    if both_sides:
        number //= 2
        first, distance = (distance > 0).long() * number, distance.abs()
    else:
        distance = (-distance).clamp(min=0)
    exact = number // 2
    steps = (distance.clamp(min=1).float() / exact).log() / torch.tensor(FURTHEST / exact).log() * (number - exact)
    return first + torch.where(distance < exact, distance, (exact + steps.long()).clamp(max=number - 1))


@dataclass(frozen=True)
class RelativePositions:
    """Scores of content and of distance apart (Transformer-XL, arXiv:1901.02860, sec. 3.3, terms a to d).

    `table` `[r, d]` are sinusoids of all distances, `index` `[b or 1, n, m]` the row of each pair in it; `other`
    `[b, n, m]` are the pairs of two segments, which have a term of their own (XLNet, arXiv:1906.08237, sec. 2.5). The
    device is asked for the shortest and the longest distance unless a `span` that holds them is known.
    """

    table: Tensor
    index: Tensor
    other: Tensor | None = None

    @classmethod
    def of(
        cls,
        query: Tensor,
        key: Tensor,
        width: int,
        span: tuple[int, int] | None = None,
        other: Tensor | None = None,
    ) -> "RelativePositions":
        distance = query[:, :, None] - key[:, None, :]
        low, high = torch.stack([distance.amin(), distance.amax()]).tolist() if span is None else span
        angle = torch.arange(low, high + 1, device=query.device)[:, None] * _speeds(width, query.device)
        return cls(torch.cat([angle.sin(), angle.cos()], dim=-1), distance - low, other)

    def __call__(self, attn: "Attention", q: Tensor, k: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        by_distance = attn.position(self.table.to(q.dtype)).unflatten(-1, (attn.heads, -1)).permute(1, 2, 0)
        scores = (q + attn.position_bias[:, None]) @ by_distance
        bias = scores.gather(-1, self.index[:, None].expand(len(q), attn.heads, -1, -1))
        if self.other is not None:
            terms = (q + attn.segment_bias[:, None]) @ attn.segment_embedding.permute(1, 2, 0)
            bias = bias + terms.gather(-1, self.other[:, None].long().expand(-1, attn.heads, -1, -1))
        return q + attn.content_bias[:, None], k, bias * attn.scale(q)


def sinusoids(position: Tensor, width: int) -> Tensor:
    """The vectors `[..., d]` that are added to those of the words: sines and cosines by turns (Vaswani, sec. 3.5)."""
    angle = position[..., None] * _speeds(width, position.device)
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(-2)


def _speeds(width: int, device: torch.device) -> Tensor:
    """The angle per position of each pair of numbers `[d / 2]`, from the shortest wave to the longest."""
    return LONGEST_WAVE ** (-torch.arange(0, width, 2, device=device) / width)
