"""Tables of word vectors: static ones (word2vec, arXiv:1301.3781; fastText, arXiv:1607.04606), and sums (GDES)."""

from collections.abc import Callable, Sequence
from typing import cast

import torch
from torch import Tensor, nn

from playground.batch import AttentionMask, Stream
from playground.errors import UnfitModel, UserError
from playground.models.architecture import need
from playground.models.transformer import Weights, share_modules
from playground.models.window import side_by_side

SHORTEST, LONGEST = 3, 6
"""Characters of an n-gram (fastText, sec. 4.2)."""


class StaticNetwork(nn.Module):
    """A state is the mean of the allowed word vectors; with `grams` these are sums with that many n-gram buckets.

    With a `radius` a query's state is what the words on both sides, as far as that and side by side, say to a hidden
    layer (Collobert and Weston 2008, sec. 3).
    """

    ngram_ids: Tensor
    ngram_offsets: Tensor

    def __init__(self, width: int, grams: int = 0, words: Sequence[str] = (), radius: int = 0) -> None:
        super().__init__()
        self.offsets = range(-radius, radius + 1)
        if radius:
            self.boundary, self.fc = nn.Parameter(torch.zeros(width)), nn.Linear(2 * radius * width, width)
        self.num_buckets = grams
        if grams:
            if not words:
                raise UserError("Vectors computed from n-grams need the spelling of the words; give the vocabulary.")
            self.ngram_embedding = nn.Embedding(grams, width)
            found = [buckets(word, grams) for word in words]
            starts = torch.tensor([0, *(len(f) for f in found[:-1])]).cumsum(0)
            ids = torch.tensor([g for f in found for g in f], dtype=torch.long)
            self.register_buffer("ngram_ids", ids, persistent=False)
            self.register_buffer("ngram_offsets", starts, persistent=False)

    def vectors(self, table: Tensor) -> Tensor:
        """The vector of every word of the vocabulary, `[v, d]`."""
        if not self.num_buckets:
            return table
        ngrams = self.ngram_embedding.weight
        return table + nn.functional.embedding_bag(self.ngram_ids, ngrams, self.ngram_offsets, mode="sum")

    def forward(self, stream: Stream, table: Tensor, attn_weights: Weights = None, name: str = "encoder") -> Tensor:
        """The mean under the attention mask of a stream, `[b, n, d]`."""
        return self._mean(self._embed(stream, table), stream.attn_mask, attn_weights, name)

    def query_stream(self, stream: Stream, positions: Tensor, table: Tensor, attn_weights: Weights = None) -> Tensor:
        """The mean under the query mask at the given positions `[b, m]`, `[b, m, d]`."""
        assert stream.query_attn_mask is not None, "a see stage for a query stream must come before"
        content = self._mean(self._embed(stream, table), stream.attn_mask, attn_weights, "content")
        seen = self._seen(content, stream.query_attn_mask, attn_weights)
        return seen.gather(1, positions[..., None].expand(-1, -1, seen.shape[-1]))

    def decode(self, decoder: Stream, source: Stream, table: Tensor, attn_weights: Weights = None) -> Tensor:
        raise UnfitModel(
            "This objective writes with a decoder, which static vectors cannot do", "set kind to transformer"
        )

    def _embed(self, stream: Stream, table: Tensor) -> Tensor:
        return nn.functional.embedding(stream.ids, self.vectors(table))

    def _seen(self, content: Tensor, attn_mask: AttentionMask, attn_weights: Weights) -> Tensor:
        """What the query stream `[b, n, d]` has of the words around."""
        radius = self.offsets.stop - 1
        if not radius:
            return self._mean(content, attn_mask, attn_weights, "query")
        words = side_by_side(content, attn_mask.dense(), self.boundary, self.offsets)
        return self.fc(torch.cat([words[:, :, :radius], words[:, :, radius + 1 :]], dim=2).flatten(2))

    def _mean(self, values: Tensor, attn_mask: AttentionMask, attn_weights: Weights, name: str) -> Tensor:
        if attn_weights is not None:
            attn_weights.setdefault(name, []).append(mean_weights(attn_mask).to(values.dtype)[:, None])
        if attn_mask.form == "alone":
            return values
        if attn_mask.form == "window":
            return mean_of_window(values, attn_mask)
        return mean_weights(attn_mask).to(values.dtype) @ values


def mean_weights(attn_mask: AttentionMask) -> Tensor:
    """The weights `[b, n, m]` of a mean over the allowed keys; 0 for a query without any."""
    cells = attn_mask.dense().float()
    return cells / cells.sum(-1, keepdim=True).clamp(min=1.0)


def mean_of_window(values: Tensor, attn_mask: AttentionMask) -> Tensor:
    """The mean over each window without its excluded position, by differences of running sums, `[b, n, d]`."""
    assert attn_mask.window is not None
    first, last = attn_mask.window
    sums = nn.functional.pad(values.cumsum(1), (0, 0, 1, 0))
    upto, before = (sums.gather(1, at[..., None].expand_as(values)) for at in (last + 1, first))
    return (upto - before - values) / (last - first).clamp(min=1)[..., None]


class DisentangledEmbedding(nn.Module):
    """A table `[v, d]`: that of the generator, to which no gradient flows, plus `delta` (arXiv:2111.09543, sec. 3.3).

    The generator registers and saves its own table; `delta` starts at 0.
    """

    def __init__(self, base: nn.Embedding) -> None:
        super().__init__()
        share_modules(self, base=base)
        self.delta = nn.Parameter(torch.zeros_like(base.weight))

    @property
    def weight(self) -> Tensor:
        """The sum `[v, d]`; its gradient is that of `delta`."""
        return cast("nn.Embedding", self.base).weight.detach() + self.delta

    @property
    def num_embeddings(self) -> int:
        return len(self.delta)

    def forward(self, ids: Tensor) -> Tensor:
        return nn.functional.embedding(ids, self.weight)

    def merged(self) -> nn.Embedding:
        """The sum as a plain table."""
        return nn.Embedding.from_pretrained(self.weight.detach().clone(), freeze=False)


class StaticHead(nn.Module):
    """Scores of words by a second table, of context vectors (arXiv:1310.4546, eq. 2), without a bias.

    Counts have a bias on either side (GloVe, eq. 8): the last number of a word's own vector, and `bias` of the other.
    """

    def __init__(self, width: int, size: int, counts: bool = False) -> None:
        super().__init__()
        self.out = nn.Embedding(size, width)
        self.bias = nn.Parameter(torch.zeros(size)) if counts else None

    def forward(self, hidden: Tensor, table: Tensor, bias: Tensor | None = None) -> Tensor:
        """Scores `[k, v]` of every word; words have no bias here."""
        return hidden @ self.out.weight.T

    def score_candidates(self, hidden: Tensor, words: Tensor, table: Callable[[Tensor], Tensor]) -> Tensor:
        """Scores `[k, w]` of some words `[k, w]`."""
        return (self.out(words) @ hidden[:, :, None])[:, :, 0]

    def log_counts(self, hidden: Tensor, words: Tensor, table: Callable[[Tensor], Tensor]) -> Tensor:
        """The logarithm `[k, w]` of how often each position's word co-occurs with some words `[k, w]`."""
        need(self.bias is not None, "counts pairs of words", "counts to yes")
        assert self.bias is not None
        return (self.out(words)[..., :-1] @ hidden[:, :-1, None])[:, :, 0] + self.bias[words] + hidden[:, -1:]


def buckets(word: str, number: int) -> list[int]:
    """The buckets of a word's n-grams, its ends marked with < and >; the whole word is not one of them."""
    marked = f"<{word}>"
    lengths = range(SHORTEST, min(LONGEST, len(marked) - 1) + 1)
    return [_fnv1a(marked[i : i + n]) % number for n in lengths for i in range(len(marked) - n + 1)]


def _fnv1a(text: str) -> int:
    value = 2166136261
    for byte in text.encode():
        value = (value ^ byte) * 16777619 % 2**32
    return value
