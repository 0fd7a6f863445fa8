"""Heads: from the state of a position to scores."""

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn.functional import gelu

from playground.models.architecture import Architecture
from playground.models.transformer import ACTIVATIONS, make_norm


class VocabularyHead(nn.Module):
    """Scores `[k, v]` for every word, with the embedding as output weights (tied, arXiv:1608.05859) or a second table.

    The states are projected where word vectors are narrower; with `head_transform` there is a layer with a norm between
    (BERT's released code). `scale_decoder_outputs` is T5's factor for a tied table (its released code).
    """

    def __init__(self, shape: Architecture, size: int, width: int) -> None:
        super().__init__()
        inner = shape.table_width
        self.projection = nn.Linear(width, inner) if inner != width or shape.head_transform else None
        self.ln = make_norm(shape, inner) if shape.head_transform else None
        self.activation = ACTIVATIONS[shape.activation]
        self.table = None if shape.tie_word_embeddings else nn.Embedding(size, inner)
        self.bias = nn.Parameter(torch.zeros(size)) if shape.lm_head_bias else None
        self.factor = width**-0.5 if shape.scale_decoder_outputs else 1.0

    def forward(self, hidden: Tensor, table: Tensor, bias: Tensor | None = None) -> Tensor:
        """Scores of every word, with another `bias` where one is given."""
        table = table if self.table is None else self.table.weight
        return nn.functional.linear(self._projected(hidden), table, self.bias if bias is None else bias)

    def score_candidates(self, hidden: Tensor, words: Tensor, table: Callable[[Tensor], Tensor]) -> Tensor:
        """Scores `[k, w]` of some words `[k, w]` only."""
        table = table if self.table is None else self.table
        scores = (table(words) @ self._projected(hidden)[:, :, None])[:, :, 0]
        return scores if self.bias is None else scores + self.bias[words]

    log_counts = score_candidates

    def _projected(self, hidden: Tensor) -> Tensor:
        hidden = hidden if self.factor == 1.0 else hidden * self.factor
        hidden = hidden if self.projection is None else self.projection(hidden)
        return hidden if self.ln is None else self.ln(self.activation(hidden))


class RegressionHead(nn.Module):
    """A vector `[k, d]` for each state `[k, d]` (data2vec's released code for text: two layers, the first 2d wide)."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, hidden: Tensor) -> Tensor:
        return self.fc2(gelu(self.fc1(hidden)))


def infersent_features(one: Tensor, other: Tensor) -> Tensor:
    """Two vectors, their absolute difference and product, `[..., 4d]` (InferSent, arXiv:1705.02364, sec. 3.1)."""
    return torch.cat([one, other, (one - other).abs(), one * other], dim=-1)


class ClassificationHead(nn.Module):
    """Scores `[k, c]` of the classes of a label: dense, activation, dense; `pairs` reads `infersent_features`.

    The activation is tanh in BERT's released code, and GELU in ELECTRA's, whose one score is for "replaced".
    """

    def __init__(
        self, width: int, classes: int, activation: Callable[[Tensor], Tensor] = torch.tanh, pairs: bool = False
    ) -> None:
        super().__init__()
        self.activation = activation
        self.dense, self.out_proj = nn.Linear(4 * width if pairs else width, width), nn.Linear(width, classes)

    def forward(self, hidden: Tensor) -> Tensor:
        return self.out_proj(self.activation(self.dense(hidden)))


class BoundaryHead(nn.Module):
    """The state `[k, d]` of a token of a span, from those of the two tokens around the span (SpanBERT, sec. 3.2)."""

    def __init__(self, width: int, longest: int = 32) -> None:
        super().__init__()
        self.position_embedding = nn.Embedding(longest, width)
        self.fc1, self.ln_1 = nn.Linear(3 * width, width), nn.LayerNorm(width)
        self.fc2, self.ln_2 = nn.Linear(width, width), nn.LayerNorm(width)

    def forward(self, left: Tensor, right: Tensor, offset: Tensor) -> Tensor:
        """`left` and `right` `[k, d]`; `offset` `[k]` counts the tokens of the span from 0."""
        position = self.position_embedding(offset.clamp(0, self.position_embedding.num_embeddings - 1))
        inner = self.ln_1(gelu(self.fc1(torch.cat([left, right, position], dim=-1))))
        return self.ln_2(gelu(self.fc2(inner)))
