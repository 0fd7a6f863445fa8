"""Vectors of words without context: neighbours, analogies, sums."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import normalize

from playground.analysis.subject import Subject
from playground.corpora import Corpus
from playground.errors import UserError
from playground.models import LanguageModel
from playground.models.model import Network
from playground.models.word_vectors import StaticNetwork

__all__ = ["frequent_words", "word_vectors"]


@torch.no_grad()
def word_vectors(model: LanguageModel) -> Tensor:
    """A vector for each word `[v, d]`: what a static model trains, else the input embeddings."""
    table, network = model.token_embedding.weight, model.network
    if isinstance(network, StaticNetwork):
        return network.vectors(table).detach().cpu()
    characters = network.characters if isinstance(network, Network) else None
    return (table if characters is None else characters()).detach().cpu()


def frequent_words(corpus: Corpus, fewest: int = 5) -> Tensor:
    """The ids of words that the training text has at least so often, the most frequent first."""
    counts = torch.bincount(corpus.ids[: corpus.held_out_from], minlength=len(corpus.tokenizer))
    counts[~corpus.tokenizer.specials.is_word(torch.arange(len(counts)))] = 0
    order = counts.argsort(descending=True, stable=True)
    return order[: int((counts >= fewest).sum())]


def known_words(corpus: Corpus, fewest: int = 1) -> frozenset[str]:
    """The words that the training text has at least so often."""
    return frozenset(corpus.tokenizer.words[number] for number in frequent_words(corpus, fewest).tolist())


def id_of(subject: Subject, word: str) -> int:
    """The id of one word that the training text has; refuses others."""
    known = frequent_words(subject.corpus, 1).tolist()
    found = subject.tokenizer.encode_word(word.strip().lower())
    if len(found) != 1 or found[0] not in known:
        some = ", ".join(subject.tokenizer.words[k] for k in known[20:26])
        raise UserError(f"The training text has no word {word!r}; it has {len(known)}, such as {some}.")
    return found[0]


def nearest(target: Tensor, vectors: Tensor, candidates: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """The ids and cosines `[k, count]` of the candidates `[c]` nearest to each target `[k, d]`."""
    cosines = normalize(target, dim=-1) @ normalize(vectors[candidates], dim=-1).T
    found = cosines.topk(min(count, len(candidates)), dim=-1)
    return candidates[found.indices], found.values


@dataclass(frozen=True)
class Solved:
    """The answers of analogy questions: ids `[q]`, and the same if c alone is asked for its neighbour."""

    answers: Tensor
    without_offset: Tensor


def three_cos_add(vectors: Tensor, candidates: Tensor, questions: Sequence[tuple[int, int, int]]) -> Solved:
    """The word nearest to b - a + c, of unit vectors and without a, b, c themselves (3CosAdd, W14-1618, sec. 2)."""
    unit = normalize(vectors, dim=-1)
    a, b, c = torch.tensor(questions).T
    row = torch.full((len(vectors),), -1)
    row[candidates] = torch.arange(len(candidates))

    def answered(target: Tensor) -> Tensor:
        cosines = normalize(target, dim=-1) @ unit[candidates].T
        for word in (a, b, c):
            there = row[word] >= 0
            cosines[there.nonzero()[:, 0], row[word][there]] = -2.0
        return candidates[cosines.argmax(1)]

    return Solved(answered(unit[b] - unit[a] + unit[c]), answered(unit[c]))


def in_a_plane(x: Tensor, corners: Tensor | None = None) -> Tensor:
    """Points `[k, 2]` on the first two principal axes of `x`, or of its `corners` alone; signs are fixed."""
    of = x if corners is None else corners
    centre = of.mean(0)
    axes = torch.linalg.svd((of - centre).double(), full_matrices=False)[2][:2]
    axes = axes * axes.gather(1, axes.abs().argmax(1, keepdim=True)).sign()
    plane = (x - centre).double() @ axes.T
    return torch.nn.functional.pad(plane, (0, 2 - plane.shape[1]))
