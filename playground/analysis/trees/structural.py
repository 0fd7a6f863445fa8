"""The structural probe: a linear map under which squared distances are tree distances (Hewitt and Manning 2019)."""

from collections.abc import Callable
from dataclasses import dataclass
from statistics import mean

import torch
from torch import Generator, Tensor

from playground.analysis.trees.gold import GoldTrees, depth_spearman, distance_spearman, uuas
from playground.optimisers import AdamW

RATE = 0.02
"""Learning rate of Adam, whose steps take all training sentences at once."""


@dataclass(frozen=True)
class TreeScores:
    """How well predicted distances agree with gold trees: UUAS, mean Spearman over lengths, and that by length."""

    uuas: float
    spearman: float
    by_length: dict[int, float]


@dataclass(frozen=True)
class DepthScores:
    """The share of roots that are the word of the least predicted depth, and mean Spearman over lengths."""

    root: float
    spearman: float


def squared_distances(x: Tensor) -> Tensor:
    """Squared L2 distances between the words of each sentence, `[r, t, d]` to `[r, t, t]`."""
    return (x[:, :, None, :] - x[:, None, :, :]).square().sum(-1)


def fit_distances(x: Tensor, gold: GoldTrees, rank: int, rng: Generator, steps: int) -> Tensor:
    """The map B `[d, k]` with the least mean over sentences of sum |tree distance - squared distance| / length^2."""
    gold_distances, valid = gold.distances, gold.tokens.valid
    both = (valid[:, :, None] & valid[:, None, :]).float()
    weight = both / gold.tokens.lengths[:, None, None].float().square()
    return _descend(
        x, rank, rng, steps, lambda y: ((gold_distances - squared_distances(y)).abs() * weight).sum() / len(x)
    )


def fit_depths(x: Tensor, gold: GoldTrees, rank: int, rng: Generator, steps: int) -> Tensor:
    """The map B `[d, k]` with the least mean over sentences of sum |depth - squared norm| / length."""
    gold_depths = gold.depths
    weight = gold.tokens.valid.float() / gold.tokens.lengths[:, None].float()
    return _descend(x, rank, rng, steps, lambda y: ((gold_depths - y.square().sum(-1)).abs() * weight).sum() / len(x))


def _descend(x: Tensor, rank: int, rng: Generator, steps: int, loss: Callable[[Tensor], Tensor]) -> Tensor:
    """Adam from small random weights, at a rate that falls to a fiftieth."""
    x = x.float()
    start = torch.empty(x.shape[-1], rank).uniform_(-0.05, 0.05, generator=rng)
    probe = torch.nn.Parameter(start)
    optimiser = AdamW([probe], lr=RATE, weight_decay=0.0)
    falling = torch.optim.lr_scheduler.LinearLR(optimiser, 1.0, 0.02, steps)
    with torch.enable_grad():
        for _ in range(steps):
            optimiser.zero_grad()
            loss(x @ probe).backward()  # of the probe alone: the states carry no gradient
            optimiser.step()
            falling.step()
    return probe.detach()


def standardised(train: Tensor, test: Tensor, valid: Tensor) -> tuple[Tensor, Tensor]:
    """States less the mean of the training words, and all divided by one number: the mean length."""
    centre = train[valid].mean(0)
    scale = (train[valid] - centre).square().sum(-1).mean().sqrt().clamp(min=1e-9)
    return (train - centre) / scale, (test - centre) / scale


def score_distances(predicted: Tensor, gold: GoldTrees) -> TreeScores:
    """The scores of predicted distances `[r, t, t]`."""
    lengths = distance_spearman(predicted, gold)
    return TreeScores(uuas(predicted, gold), mean(lengths.values()) if lengths else float("nan"), lengths)


def score_depths(predicted: Tensor, gold: GoldTrees) -> DepthScores:
    """The scores of predicted depths `[r, t]`; punctuation is no root."""
    lengths = depth_spearman(predicted, gold)
    least = predicted.masked_fill(~gold.counted, float("inf")).argmin(1)
    root = ((gold.heads < 0) & gold.tokens.valid).long().argmax(1)
    share = float((least == root).double().mean())
    return DepthScores(share, mean(lengths.values()) if lengths else float("nan"))
