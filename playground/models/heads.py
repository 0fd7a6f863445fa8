"""Heads: from the state of a position to scores."""

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
        return torch.addmm(self.bias, self._projected(hidden), table.T)

    def score_candidates(self, hidden: Tensor, words: Tensor, table: nn.Embedding) -> Tensor:
        """Scores `[k, w]` of some words `[k, w]` only."""
        return (table(words) @ self._projected(hidden)[:, :, None])[:, :, 0] + self.bias[words]

    log_counts = score_candidates

    def _projected(self, hidden: Tensor) -> Tensor:
        return hidden if self.projection is None else self.projection(hidden)


class ReplacedHead(nn.Module):
    """One score `[k, 1]` for "replaced" (ELECTRA's released code: dense, GELU, dense)."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.dense, self.out_proj = nn.Linear(width, width), nn.Linear(width, 1)

    def forward(self, hidden: Tensor) -> Tensor:
        return self.out_proj(gelu(self.dense(hidden)))


def infersent_features(one: Tensor, other: Tensor) -> Tensor:
    """Two vectors, their absolute difference and product, `[..., 4d]` (InferSent, arXiv:1705.02364, sec. 3.1)."""
    return torch.cat([one, other, (one - other).abs(), one * other], dim=-1)


class LabelHead(nn.Module):
    """Scores `[k, c]` of a label (BERT's released code: dense, tanh, dense); `pairs` reads `infersent_features`."""

    def __init__(self, width: int, classes: int, pairs: bool = False) -> None:
        super().__init__()
        self.dense, self.out_proj = nn.Linear(4 * width if pairs else width, width), nn.Linear(width, classes)

    def forward(self, hidden: Tensor) -> Tensor:
        return self.out_proj(torch.tanh(self.dense(hidden)))


class BoundaryHead(nn.Module):
    """The state `[k, d]` of a token of a span, from those of the two tokens around the span (SpanBERT, sec. 3.2)."""

    def __init__(self, width: int, longest: int = 32) -> None:
        super().__init__()
        self.position_embedding = nn.Embedding(longest, width)
        self.fc1, self.ln_1 = nn.Linear(3 * width, width), nn.LayerNorm(width)
        self.fc2, self.ln_2 = nn.Linear(width, width), nn.LayerNorm(width)

    def forward(self, left: Tensor, right: Tensor, offset: Tensor) -> Tensor:
        """`left` and `right` `[k, d]`; `offset` `[k]` counts the tokens of the span from 0."""
        place = self.position_embedding(offset.clamp(0, self.position_embedding.num_embeddings - 1))
        inner = self.ln_1(gelu(self.fc1(torch.cat([left, right, place], dim=-1))))
        return self.ln_2(gelu(self.fc2(inner)))
