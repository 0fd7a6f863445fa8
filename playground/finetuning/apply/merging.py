"""Several finished models merged into one by their weights: soups, task arithmetic, TIES, DARE.

A rule gets the task vectors `[m, n]`, what each of m models has moved away from its start, and gives the one that is
added to the start `[n]`. A vector may be a whole model, as in the papers, or one tensor, as in PEFT.
"""

from collections.abc import Callable, Sequence

import torch
from torch import Generator, Tensor

from playground.analysis.landscape import Weights, flat, less, moved, shaped

Rule = Callable[[Tensor], Tensor]
"""From task vectors `[m, n]` to the merged one `[n]`."""

SCALE, DENSITY = 0.4, 0.2
"""The factor of task arithmetic where no labels are held out to choose it, and what TIES keeps (its k of 20 %)."""


def average(vectors: Tensor) -> Tensor:
    """The mean: a uniform soup (arXiv:2203.05482, sec. 2)."""
    return vectors.mean(0)


def task_arithmetic(vectors: Tensor, scale: float = SCALE) -> Tensor:
    """The sum of all task vectors times a factor (arXiv:2212.04089)."""
    return scale * vectors.sum(0)


def ties(vectors: Tensor, density: float = DENSITY, scale: float = 1.0) -> Tensor:
    """Trim each vector, elect the sign of each number, and take the mean of what agrees (TIES, arXiv:2306.01708)."""
    return scale * mean_of_elected(trim(vectors, density))


def dare(vectors: Tensor, rng: Generator, density: float = DENSITY, scale: float = SCALE) -> Tensor:
    """Drop numbers at random, rescale the others, then task arithmetic (DARE, arXiv:2311.03099)."""
    return task_arithmetic(drop(vectors, density, rng), scale)


def dare_ties(vectors: Tensor, rng: Generator, density: float = DENSITY, scale: float = 1.0) -> Tensor:
    """The same, then the election of signs of TIES in the place of the sum."""
    return scale * mean_of_elected(drop(vectors, density, rng))


def trim(vectors: Tensor, density: float) -> Tensor:
    """Each vector with 0 in the place of all but the share `density` of its numbers that are largest in size."""
    kept = vectors.abs().topk(int(density * vectors.shape[1]), dim=1).indices
    return torch.zeros_like(vectors).scatter(1, kept, vectors.gather(1, kept))


def drop(vectors: Tensor, density: float, rng: Generator) -> Tensor:
    """Each number is kept with probability `density` and divided by it, so that its expected value stays."""
    masks = [torch.bernoulli(torch.full(v.shape, density), generator=rng).to(v) for v in vectors]
    return vectors * torch.stack(masks) / density


def mean_of_elected(vectors: Tensor) -> Tensor:
    """For each number the mean over the models whose sign is that of the sum; those with 0 do not count."""
    agrees = vectors.sign() == torch.where(vectors.sum(0) >= 0, 1, -1)
    return (vectors * agrees).sum(0) / agrees.sum(0).clamp(min=1)


def merge(start: Weights, models: Sequence[Weights], rule: Rule = average) -> Weights:
    """The start plus the task vectors of whole models, merged by a rule."""
    return moved(start, (1.0, shaped(rule(torch.stack([flat(less(model, start)) for model in models])), start)))


def greedy_soup(models: Sequence[Weights], score: Callable[[Weights], float]) -> tuple[Weights, tuple[int, ...]]:
    """The mean of those models that help, and their numbers (arXiv:2203.05482, recipe 1).

    From the best to the worst by `score`, each is kept if the mean with it scores at least what it scored without it.
    The score must not come from the texts on which the soup is tested.
    """
    scores = [score(model) for model in models]
    first, *others = sorted(range(len(models)), key=lambda k: -scores[k])
    kept, soup, best = (first,), models[first], scores[first]
    for k in others:
        larger = merge(models[first], [models[i] for i in (*kept, k)])
        if (reached := score(larger)) >= best:
            kept, soup, best = (*kept, k), larger, reached
    return soup, kept
