"""Heads: from what a position knows to an answer."""

import torch
from torch import Tensor, nn
from torch.nn.functional import gelu


class VocabularyHead(nn.Module):
    """Scores `[k, v]` for every word, with the embedding as output weights (tied, arXiv:1608.05859)."""

    def __init__(self, width: int, size: int, inner: int | None = None) -> None:
        super().__init__()
        self.lift = nn.Linear(width, inner) if inner is not None and inner != width else None
        self.bias = nn.Parameter(torch.zeros(size))

    def forward(self, hidden: Tensor, table: Tensor) -> Tensor:
        lifted = hidden if self.lift is None else self.lift(hidden)
        return torch.addmm(self.bias, lifted, table.T)

    def some(self, hidden: Tensor, words: Tensor, table: nn.Embedding) -> Tensor:
        """Scores `[k, w]` of some words `[k, w]` only."""
        lifted = hidden if self.lift is None else self.lift(hidden)
        return (table(words) @ lifted[:, :, None])[:, :, 0] + self.bias[words]

    def count(self, hidden: Tensor, words: Tensor, table: nn.Embedding) -> Tensor:
        """The logarithm `[k, w]` of how often each position's word is seen with some words `[k, w]`."""
        return self.some(hidden, words, table)


class ReplacedHead(nn.Module):
    """One score `[k, 1]` for "replaced" (ELECTRA's released code: dense, GELU, dense)."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.dense, self.score = nn.Linear(width, width), nn.Linear(width, 1)

    def forward(self, hidden: Tensor) -> Tensor:
        return self.score(gelu(self.dense(hidden)))


def compared(one: Tensor, other: Tensor) -> Tensor:
    """Two vectors, their distance and their product as one, `[..., 4d]` (InferSent, arXiv:1705.02364, sec. 3.1)."""
    return torch.cat([one, other, (one - other).abs(), one * other], dim=-1)


class LabelHead(nn.Module):
    """Scores `[k, c]` of a label at one position (BERT's released code: dense, tanh, dense).

    With `pairs` it reads two positions, compared as InferSent does (arXiv:1705.02364, sec. 3.1).
    """

    def __init__(self, width: int, classes: int, pairs: bool = False) -> None:
        super().__init__()
        self.dense, self.score = nn.Linear(4 * width if pairs else width, width), nn.Linear(width, classes)

    def forward(self, hidden: Tensor) -> Tensor:
        return self.score(torch.tanh(self.dense(hidden)))


class BoundaryHead(nn.Module):
    """What a place within a span may hold `[k, d]`, from the two words around the span (SpanBERT, sec. 3.2)."""

    def __init__(self, width: int, longest: int = 32) -> None:
        super().__init__()
        self.place = nn.Embedding(longest, width)
        self.first, self.first_norm = nn.Linear(3 * width, width), nn.LayerNorm(width)
        self.second, self.second_norm = nn.Linear(width, width), nn.LayerNorm(width)

    def forward(self, left: Tensor, right: Tensor, offset: Tensor) -> Tensor:
        """`left` and `right` `[k, d]`; `offset` `[k]` counts the places of the span from 0."""
        place = self.place(offset.clamp(0, self.place.num_embeddings - 1))
        inner = self.first_norm(gelu(self.first(torch.cat([left, right, place], dim=-1))))
        return self.second_norm(gelu(self.second(inner)))
