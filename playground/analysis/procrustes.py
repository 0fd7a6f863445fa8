"""Align the word vectors of two languages by a rotation (survey of Qiu et al., arXiv:2003.08271, sec. 4.2).

The best rotation has a formula, so this is no objective; `playground align` shows it. What is rotated are factors of
counts (positive PMI), not the vectors of a trained skip-gram, which factorises nearly the same. Words with the same
contexts, such as the names of towns, cannot be distinguished; a different word order costs most.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import normalize

from playground.analysis.words.vectors import nearest
from playground.corpora import Corpus
from playground.errors import UserError
from playground.objectives.ops.cooccurrence import cooccurrence, dense, factors, ppmi
from playground.rng import generator


@dataclass(frozen=True)
class Found:
    """How often the nearest vector of the other language is the translation: of known words and of new ones."""

    known: float
    new: float


@dataclass(frozen=True)
class Alignment(Found):
    """The same after the rotation and `before` it, and the `chance` level."""

    chance: float
    before: Found


def rotation(first: Tensor, second: Tensor) -> Tensor:
    """The rotation `[d, d]` of the first `[k, d]` onto the second with least squares: U V' (Schönemann 1966)."""
    left, _, right = torch.linalg.svd(first.T @ second)
    return left @ right


def align(first: Tensor, second: Tensor, dictionary: Sequence[tuple[int, int]], seeds: int) -> Alignment:
    """Rotate the first vectors `[v, d]` by the first `seeds` pairs of a dictionary; test on these and on the others."""
    if not 0 < seeds < len(dictionary):
        raise UserError(f"The number of known words is {seeds}; it must lie between 1 and {len(dictionary) - 1}.")
    one, other = torch.tensor(dictionary, device=first.device).T
    first, second = normalize(first, dim=-1), normalize(second, dim=-1)
    turned = first @ rotation(first[one[:seeds]], second[other[:seeds]])
    candidates = other.unique()

    def found(vectors: Tensor) -> tuple[float, float]:
        right = (nearest(vectors[one], second, candidates, 1)[0][:, 0] == other).double()
        return float(right[:seeds].mean()), float(right[seeds:].mean())

    return Alignment(*found(turned), 1.0 / len(candidates), Found(*found(first)))


def spaces(corpus: Corpus, width: int = 32, window: int = 8) -> tuple[Tensor, Tensor]:
    """Word vectors `[v, d]` of each language of a corpus, counted in that language's sentences alone."""
    if "language" not in corpus.labels or int(corpus.labels["language"].max()) < 1:
        raise UserError(f"{corpus.name} has one language; an alignment needs two, such as those of parallel.")
    specials, size = corpus.tokenizer.specials, len(corpus.tokenizer)
    own = (torch.where(corpus.labels["language"] == k, corpus.ids, specials.sep) for k in (0, 1))
    first, second = (factors(ppmi(dense(cooccurrence(ids, specials, window), size)), width) for ids in own)
    return first, second


def shuffled(pairs: Sequence[tuple[int, int]], seed: int) -> list[tuple[int, int]]:
    """The pairs in random order; a split by frequency would leave the rare words, which are the easy ones."""
    order = torch.randperm(len(pairs), generator=generator(seed, "dictionary")).tolist()
    return [pairs[k] for k in order]


def dictionary(corpus: Corpus, fewest: int = 20) -> list[tuple[int, int]]:
    """Each word of the first language with its most frequent alignment (at least `fewest`, not the same word)."""
    if "aligned" not in corpus.labels:
        raise UserError(f"{corpus.name} has no translations. Choose the corpus parallel.")
    first = (corpus.labels["language"] == 0) & (corpus.labels["aligned"] >= 0)
    begin = torch.searchsorted(corpus.sentence_ids, corpus.sentence_ids[first] + 1)
    twin = corpus.ids[begin + corpus.labels["aligned"][first].long()]
    pairs, count = torch.stack([corpus.ids[first], twin]).unique(dim=1, return_counts=True)
    found: dict[int, int] = {}
    for k in count.argsort(descending=True, stable=True).tolist():
        word, other = pairs[:, k].tolist()
        if int(count[k]) >= fewest and word != other:
            found.setdefault(word, other)
    return list(found.items())
