"""Heads: from what a position knows to an answer."""

import torch
from torch import Tensor, nn
from torch.nn.functional import gelu


class VocabularyHead(nn.Module):
    """Scores `[k, v]` for every word, with the embedding as output weights (tied, arXiv:1608.05859)."""

    def __init__(self, width: int, size: int, inner: int | None = None) -> None:
        super().__init__()
        self.projection = nn.Linear(width, inner) if inner is not None and inner != width else None
        self.bias = nn.Parameter(torch.zeros(size))

    def forward(self, hidden: Tensor, table: Tensor) -> Tensor:
        lifted = hidden if self.projection is None else self.projection(hidden)
        return torch.addmm(self.bias, lifted, table.T)

    def score_candidates(self, hidden: Tensor, words: Tensor, table: nn.Embedding) -> Tensor:
        """Scores `[k, w]` of some words `[k, w]` only."""
        lifted = hidden if self.projection is None else self.projection(hidden)
        return (table(words) @ lifted[:, :, None])[:, :, 0] + self.bias[words]

    def log_counts(self, hidden: Tensor, words: Tensor, table: nn.Embedding) -> Tensor:
        """The logarithm `[k, w]` of how often each position's word is seen with some words `[k, w]`."""
        return self.score_candidates(hidden, words, table)


class ReplacedHead(nn.Module):
    """One score `[k, 1]` for "replaced" (ELECTRA's released code: dense, GELU, dense)."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.dense, self.out_proj = nn.Linear(width, width), nn.Linear(width, 1)

    def forward(self, hidden: Tensor) -> Tensor:
        return self.out_proj(gelu(self.dense(hidden)))


def infersent_features(one: Tensor, other: Tensor) -> Tensor:
    """Two vectors, their distance and their product as one, `[..., 4d]` (InferSent, arXiv:1705.02364, sec. 3.1)."""
    return torch.cat([one, other, (one - other).abs(), one * other], dim=-1)


class LabelHead(nn.Module):
    """Scores `[k, c]` of a label at one position (BERT's released code: dense, tanh, dense).

    With `pairs` it reads two positions, compared as InferSent does (arXiv:1705.02364, sec. 3.1).
    """

    def __init__(self, width: int, classes: int, pairs: bool = False) -> None:
        super().__init__()
        self.dense, self.out_proj = nn.Linear(4 * width if pairs else width, width), nn.Linear(width, classes)

    def forward(self, hidden: Tensor) -> Tensor:
        return self.out_proj(torch.tanh(self.dense(hidden)))


class BoundaryHead(nn.Module):
    """What a place within a span may hold `[k, d]`, from the two words around the span (SpanBERT, sec. 3.2)."""

    def __init__(self, width: int, longest: int = 32) -> None:
        super().__init__()
        self.position_embedding = nn.Embedding(longest, width)
        self.fc1, self.ln_1 = nn.Linear(3 * width, width), nn.LayerNorm(width)
        self.fc2, self.ln_2 = nn.Linear(width, width), nn.LayerNorm(width)

    def forward(self, left: Tensor, right: Tensor, offset: Tensor) -> Tensor:
        """`left` and `right` `[k, d]`; `offset` `[k]` counts the places of the span from 0."""
        place = self.position_embedding(offset.clamp(0, self.position_embedding.num_embeddings - 1))
        inner = self.ln_1(gelu(self.fc1(torch.cat([left, right, place], dim=-1))))
        return self.ln_2(gelu(self.fc2(inner)))
