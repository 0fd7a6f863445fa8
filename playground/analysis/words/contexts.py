"""How contextual vectors are, and where senses stand (Ethayarajh 2019, arXiv:1909.00512)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Generator, Tensor
from torch.nn.functional import normalize

from playground.analysis.probing.classifier import Split, accuracy
from playground.batch import Tokens

PAIRS = 2000
"""Pairs of random words over which anisotropy is averaged."""


@dataclass(frozen=True)
class Contextuality:
    """Mean cosines of one level: of random words (anisotropy), of one word in several texts, of words of a sentence.

    `explained` is the share of variance that the first principal component of a word's vectors holds.
    """

    anisotropy: float
    self_similarity: float
    sentence_similarity: float
    explained: float

    @property
    def adjusted_self_similarity(self) -> float:
        """Self-similarity less anisotropy: 1 where the word alone decides, 0 where it is like any other word."""
        return self.self_similarity - self.anisotropy


def contextuality(states: Tensor, tokens: Tokens, fewest: int, most: int, rng: Generator) -> Contextuality:
    """The four means of a level `[r, t, d]`, over words that stand `fewest` times, `most` occurrences of each."""
    rows, positions = tokens.maskable.nonzero(as_tuple=True)
    vectors, words = states[rows, positions], tokens.ids[rows, positions]
    unit = normalize(vectors, dim=-1)
    one, other = torch.randint(len(unit), (2, PAIRS), generator=rng)
    apart = words[one] != words[other]
    anisotropy = float((unit[one] * unit[other]).sum(-1)[apart].mean())
    groups = [
        group[:most] for word in words.unique().tolist() if len(group := (words == word).nonzero()[:, 0]) >= fewest
    ]
    own = [mean_cosine(unit[group]) for group in groups]
    explained = [first_component(vectors[group]) for group in groups]
    mean = torch.zeros(len(states), states.shape[-1]).index_add_(0, rows, vectors)
    inside = (unit * normalize(mean, dim=-1)[rows]).sum(-1)
    count = torch.bincount(rows, minlength=len(states)).clamp(min=1)
    sentence = torch.zeros(len(states)).index_add_(0, rows, inside) / count
    return Contextuality(anisotropy, _mean(own), float(sentence[rows.unique()].mean()), _mean(explained))


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if values else float("nan")


def mean_cosine(unit: Tensor) -> float:
    """The mean cosine of all pairs of different unit vectors `[k, d]`."""
    count = len(unit)
    return float((unit.sum(0).square().sum() - count) / (count * (count - 1)))


def first_component(vectors: Tensor) -> float:
    """The share of the variance of vectors `[k, d]` along their first principal component; 1 where there is none."""
    values = torch.linalg.svdvals((vectors - vectors.mean(0)).double()).square()
    total = float(values.sum())
    return float(values[0]) / total if total > 1e-9 * float(vectors.double().square().sum()) else 1.0


def participation_ratio(vectors: Tensor) -> float:
    """The number of dimensions that vectors `[k, d]` use: the sum of their variances squared by that of the squares."""
    values = torch.linalg.svdvals((vectors - vectors.mean(0)).double()).square()
    total = float(values.square().sum())
    return float(values.sum()) ** 2 / total if total > 0 else 0.0


def silhouette(vectors: Tensor, senses: Tensor) -> float:
    """scikit-learn's silhouette by cosine of vectors `[k, d]` under gold senses `[k]`; 0 where all are alike."""
    from sklearn.metrics import silhouette_score

    spread = float((vectors - vectors.mean(0)).abs().max())
    if spread < 1e-6 or len(senses.unique()) in (1, len(senses)):
        return 0.0
    return float(silhouette_score(vectors.double().numpy(), senses.numpy(), metric="cosine"))


def subspace_curve(
    x: Tensor, labels: Tensor, split: Split, sizes: Sequence[int], rng: Generator
) -> list[dict[str, float]]:
    """Accuracy of a linear probe in few dimensions: those trained for the classes, principal ones, and random ones.

    Trained are scikit-learn's linear discriminants, at most classes - 1.
    """
    from sklearn.decomposition import PCA
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    train, classes = x[split.train].double().numpy(), labels[split.train].numpy()
    several = np.isin(classes, np.flatnonzero(np.bincount(classes) > 1))  # one item has no spread
    trained = LinearDiscriminantAnalysis(solver="eigen", shrinkage=0.1).fit(train[several], classes[several])
    principal = PCA(min(train.shape), svd_solver="full").fit(train)
    random = torch.randn(x.shape[1], x.shape[1], generator=rng)
    spaces = {
        "trained": torch.from_numpy(np.ascontiguousarray(trained.transform(x.double().numpy()))),
        "principal": torch.from_numpy(principal.transform(x.double().numpy())),
        "random": (x @ random).double(),
    }
    return [{name: accuracy(space[:, :size], labels, split) for name, space in spaces.items()} for size in sizes]
