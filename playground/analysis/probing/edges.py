"""Edge probing with a scalar mix of all levels: at which level does a property stand (Tenney et al. 2019)?

A scalar mix cannot be fitted by scikit-learn, so its linear classifier is trained by gradient descent in torch.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from playground.analysis.probing.classifier import Split, baselines, split_items
from playground.analysis.probing.items import Items
from playground.batch import Tokens
from playground.errors import UserError
from playground.optimisers import AdamW

RATE, WEIGHT_DECAY = 0.05, 1e-2
"""Learning rate and weight decay of AdamW, whose steps take all items at once."""


@dataclass(frozen=True)
class EdgeProbe:
    """What the scalar mix says (arXiv:1905.05950, sec. 3).

    `weights` are the shares s of the levels in the mix of all, `gravity` is their centre, sum of k s_k. `cumulative` is
    the accuracy with levels 0 to k, `expected_level` weighs each level by what it adds: sum of k d_k over sum of d_k.
    `random_cumulative` and `control_cumulative` are the same of a random encoder and of the control task.
    """

    weights: tuple[float, ...]
    cumulative: tuple[float, ...]
    control_cumulative: tuple[float, ...]
    random_cumulative: tuple[float, ...]
    chance: float

    @property
    def gravity(self) -> float:
        return sum(k * share for k, share in enumerate(self.weights))

    @property
    def expected_level(self) -> float:
        """NaN where the levels above the lowest add nothing in sum."""
        gains = [after - before for before, after in zip(self.cumulative, self.cumulative[1:], strict=False)]
        total = sum(gains)
        return sum(k * gain for k, gain in enumerate(gains, 1)) / total if total > 0 else float("nan")


class ScalarMix(nn.Module):
    """A linear classifier of a weighted mean of levels: gamma times the sum of softmax(a)_k h_k (arXiv:1802.05365)."""

    def __init__(self, levels: int, width: int, classes: int) -> None:
        super().__init__()
        self.mix, self.gamma = nn.Parameter(torch.zeros(levels)), nn.Parameter(torch.ones(()))
        self.linear = nn.Linear(width, classes)
        nn.init.zeros_(self.linear.weight)
        nn.init.zeros_(self.linear.bias)

    @property
    def shares(self) -> Tensor:
        return self.mix.softmax(0)

    def forward(self, x: Tensor) -> Tensor:
        """Scores `[m, c]` of items at all levels `[l, m, d]`."""
        return self.linear(self.gamma * torch.einsum("l,lmd->md", self.shares, x))


def fit_mix(x: Tensor, labels: Tensor, classes: int, steps: int) -> ScalarMix:
    """Train a scalar mix on items at all levels `[l, m, d]`; it begins from equal shares, without chance."""
    probe = ScalarMix(len(x), x.shape[-1], classes)
    optimiser = AdamW(probe.parameters(), lr=RATE, weight_decay=WEIGHT_DECAY)
    for _ in range(steps):
        optimiser.zero_grad()
        cross_entropy(probe(x), labels).backward()  # of the probe's own weights alone
        optimiser.step()
    return probe


def edge_probe(
    own: Sequence[Tensor], random: Sequence[Tensor], tokens: Tokens, items: Items, seed: int = 0, steps: int = 100
) -> EdgeProbe:
    """Fit a mix of levels 0 to k for each k, on the states `[r, t, d]` of a model and of a `random` encoder."""
    if len(own) < 2:
        raise UserError("Static vectors have one level; a mix of levels needs a model with layers.")
    items = items.sample(seed)
    split, control = split_items(items, seed), items.control(seed)
    x, other = (_standard(torch.stack([items.features(s, tokens) for s in levels]), split) for levels in (own, random))
    tops = range(1, len(own) + 1)
    fitted = [_mixed(x[:top], items.labels, split, steps) for top in tops]
    return EdgeProbe(
        tuple(fitted[-1][1]),
        tuple(score for score, _ in fitted),
        tuple(_mixed(x[:top], control, split, steps)[0] for top in tops),
        tuple(_mixed(other[:top], items.labels, split, steps)[0] for top in tops),
        baselines(items, split)[0],
    )


def _standard(x: Tensor, split: Split) -> Tensor:
    """Every level `[l, m, d]` with mean 0 and the same length on average, so that shares compare levels fairly."""
    x = (x - x[:, split.train].mean(1, keepdim=True)).float()
    return x / x[:, split.train].square().mean((1, 2), keepdim=True).sqrt().clamp(min=1e-9)


def _mixed(x: Tensor, labels: Tensor, split: Split, steps: int) -> tuple[float, list[float]]:
    """The accuracy on the test items and the shares of the levels."""
    probe = fit_mix(x[:, split.train], labels[split.train], int(labels.max()) + 1, steps)
    with torch.no_grad():
        right = probe(x[:, split.test]).argmax(1) == labels[split.test]
    return float(right.double().mean()), probe.shares.tolist()
