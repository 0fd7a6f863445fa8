"""Two sets of word vectors laid over each other by a turn, and how many words then lie nearest to their translation.

So one space holds two languages without any text in both (survey of Qiu et al., arXiv:2003.08271, sec. 4.2). Nothing is
trained by a loss: the best turn has a formula, so this is no objective; `playground align` shows it. What is turned are
factors of counts (positive PMI), not the vectors of a trained skip-gram, which factorises nearly the same. Words that
stand in each other's place, such as the names of towns, cannot be told apart; an order of words that differs between
the languages costs most.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import normalize

from playground.analysis.cooccurrence import cooccurrence, dense, factors, ppmi
from playground.corpora import Corpus
from playground.errors import Refusal
from playground.rng import generator


@dataclass(frozen=True)
class Found:
    """How often a word's nearest vector of the other language is its translation: known words and new ones."""

    known: float
    new: float


@dataclass(frozen=True)
class Alignment(Found):
    """The same after the turn, and `before` it.

    `chance` is what guessing among all words of the other language would reach, `turned` the first language's vectors
    `[v, d]` in the other's space.
    """

    chance: float
    turned: Tensor
    before: Found


def rotation(first: Tensor, second: Tensor) -> Tensor:
    """The turn `[d, d]` that brings the rows of the first `[k, d]` nearest to those of the second (Schönemann 1966).

    The sum of squared distances is least for U V', the singular vectors of first' second; lengths and angles stay.
    """
    left, _, right = torch.linalg.svd(first.T @ second)
    return left @ right


def translated(first: Tensor, second: Tensor, candidates: Tensor) -> Tensor:
    """For each row `[k, d]` the one of the candidates `[c]`, rows of the second `[v, d]`, at the smallest angle."""
    scores = normalize(first, dim=-1) @ normalize(second[candidates], dim=-1).T
    return candidates[scores.argmax(dim=-1)]


def align(first: Tensor, second: Tensor, dictionary: Sequence[tuple[int, int]], seeds: int) -> Alignment:
    """Turn the first vectors `[v, d]` by the first `seeds` pairs of a dictionary, test on these and on the others."""
    if not 0 < seeds < len(dictionary):
        raise Refusal(f"The number of known words is {seeds}; it must lie between 1 and {len(dictionary) - 1}.")
    one, other = torch.tensor(dictionary, device=first.device).T
    first, second = normalize(first, dim=-1), normalize(second, dim=-1)
    turned = first @ rotation(first[one[:seeds]], second[other[:seeds]])
    candidates = other.unique()

    def found(vectors: Tensor) -> tuple[float, float]:
        right = (translated(vectors[one], second, candidates) == other).double()
        return float(right[:seeds].mean()), float(right[seeds:].mean())

    return Alignment(*found(turned), 1.0 / len(candidates), turned, Found(*found(first)))


def spaces(corpus: Corpus, width: int = 32, window: int = 8) -> tuple[Tensor, Tensor]:
    """Word vectors `[v, d]` of each language of a corpus, counted in that language's sentences alone."""
    if "language" not in corpus.labels or int(corpus.labels["language"].max()) < 1:
        raise Refusal(f"{corpus.name} has one language; two can be laid over each other, as those of parallel.")
    specials, size = corpus.tokenizer.specials, len(corpus.tokenizer)
    own = (torch.where(corpus.labels["language"] == k, corpus.ids, specials.sep) for k in (0, 1))
    first, second = (factors(ppmi(dense(cooccurrence(ids, specials, window), size)), width) for ids in own)
    return first, second


def shuffled(pairs: Sequence[tuple[int, int]], seed: int) -> list[tuple[int, int]]:
    """The pairs in an order drawn by lot: split by frequency, the rare words that are left are the easy ones."""
    order = torch.randperm(len(pairs), generator=generator(seed, "dictionary")).tolist()
    return [pairs[k] for k in order]


def dictionary(corpus: Corpus, fewest: int = 20) -> list[tuple[int, int]]:
    """Each word of the first language with the one that it is aligned to most often, the frequent ones first.

    Words that were aligned less often than `fewest` times, or look the same in both languages, are left out.
    """
    if "aligned" not in corpus.labels:
        raise Refusal(f"{corpus.name} holds no translations, so nobody knows which word is which; take parallel.")
    said = (corpus.labels["language"] == 0) & (corpus.labels["aligned"] >= 0)
    begin = torch.searchsorted(corpus.sentence_ids, corpus.sentence_ids[said] + 1)
    twin = corpus.ids[begin + corpus.labels["aligned"][said].long()]
    pairs, count = torch.stack([corpus.ids[said], twin]).unique(dim=1, return_counts=True)
    found: dict[int, int] = {}
    for k in count.argsort(descending=True, stable=True).tolist():
        word, other = pairs[:, k].tolist()
        if int(count[k]) >= fewest and word != other:
            found.setdefault(word, other)
    return list(found.items())
