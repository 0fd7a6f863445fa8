"""Two languages in one model: likeness of states, retrieval of translations, alignment of words."""

from dataclasses import dataclass

from torch import Tensor
from torch.nn.functional import normalize

from playground.batch import Tokens


def linear_cka(one: Tensor, other: Tensor) -> float:
    """Linear CKA of states of the same items, `[k, d]` and `[k, e]` (Kornblith et al. 2019, arXiv:1905.00414).

    1 where one is a rotation of the other, scaled and shifted; NaN where one is constant.
    """
    x, y = (side.double() - side.double().mean(0) for side in (one, other))
    shared = (y.T @ x).square().sum()
    length = (x.T @ x).square().sum().sqrt() * (y.T @ y).square().sum().sqrt()
    return float(shared / length) if float(length) > 0 else float("nan")


def sentence_means(states: Tensor, which: Tensor) -> Tensor:
    """The mean `[r, d]` of the states `[r, t, d]` of some words of each row; 0 where there are none."""
    count = which.sum(1, keepdim=True).clamp(min=1)
    return (states * which[..., None]).sum(1) / count


@dataclass(frozen=True)
class Retrieval:
    """How often the nearest sentence of the other language is the translation, in both directions."""

    forward: float
    back: float

    @property
    def mean(self) -> float:
        return (self.forward + self.back) / 2


def retrieve(one: Tensor, other: Tensor, centred: bool = False) -> Retrieval:
    """P@1 by cosine of sentences `[r, d]` whose translation has the same row; `centred`: less their language's mean.

    Where k sentences are equally near, the translation counts 1/k.
    """
    if centred:
        one, other = one - one.mean(0), other - other.mean(0)
    cosines = normalize(one.double(), dim=-1) @ normalize(other.double(), dim=-1).T
    own = cosines.diagonal()

    def share(table: Tensor) -> float:
        best = (table >= own[:, None] - 1e-12).sum(1)
        return float((1.0 / best).where(own >= table.amax(1) - 1e-12, 0.0).mean())

    return Retrieval(share(cosines), share(cosines.T))


def align_words(first: Tensor, second: Tensor) -> set[tuple[int, int]]:
    """The pairs of words `[m, d]`, `[n, d]` of which each is the nearest by cosine to the other (arXiv:2004.08728)."""
    cosines = normalize(first, dim=-1) @ normalize(second, dim=-1).T
    forward, back = cosines.argmax(1).tolist(), cosines.argmax(0).tolist()
    return {(a, b) for a, b in enumerate(forward) if back[b] == a}


@dataclass(frozen=True)
class AlignmentScores:
    """Alignment error rate (Och and Ney 2003, all gold links sure), precision and recall."""

    error: float
    precision: float
    recall: float


def alignment_scores(predicted: list[set[tuple[int, int]]], gold: list[set[tuple[int, int]]]) -> AlignmentScores:
    """The scores over all sentences: the error is 1 - 2 |A and S| / (|A| + |S|)."""
    right = sum(len(a & s) for a, s in zip(predicted, gold, strict=True))
    found, expected = sum(map(len, predicted)), sum(map(len, gold))
    return AlignmentScores(1 - 2 * right / max(1, found + expected), right / max(1, found), right / max(1, expected))


def gold_links(tokens: Tokens) -> list[set[tuple[int, int]]]:
    """The gold links of each sentence: a word of the first language, and the position of its translation."""
    aligned = tokens.labels["aligned"]
    rows = zip(aligned.tolist(), tokens.lengths.tolist(), strict=True)
    return [{(a, b) for a, b in enumerate(row[:length]) if b >= 0} for row, length in rows]
