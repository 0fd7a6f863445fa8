"""Which training texts taught a model something: the truth by retraining without them, and three estimates of it.

Texts stand in groups. The training loss of a batch is the sum over groups of what each adds, so that a group can be
left out without any other term changing.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import scipy
import torch
from torch import Tensor

from playground.analysis.landscape import Weights, flat, moved, shaped

Terms = Callable[[Weights, int], Tensor]
"""What every group adds to the loss of a batch with this number, `[g]`, as a function of the weights."""

Query = Callable[[Weights], Tensor]
"""The loss that is to be explained, as a function of the weights."""

CLOSE = 1e-4
"""The solver ends when the residual is that small against the right side."""


@dataclass(frozen=True)
class GradientDescent:
    """Plain gradient descent: the start, the loss terms of each batch, which batch each step takes, and the rate.

    `batch_of` `[g]` is the one batch in which each group stands.
    """

    start: Weights
    terms: Terms
    batches: Sequence[int]
    rate: float
    batch_of: Sequence[int]

    @property
    def groups(self) -> int:
        return len(self.batch_of)


def descend(training: GradientDescent, without: int | None = None, keep: int = 0) -> list[Weights]:
    """The weights at the end, and before that those of every `keep`-th step from the start (0: none of them)."""
    counted = torch.ones(training.groups)
    if without is not None:
        counted[without] = 0.0
    weights, path = training.start, []
    for step, batch in enumerate(training.batches):
        if keep and step % keep == 0:
            path.append(weights)
        slopes = gradient(lambda w, b=batch: (training.terms(w, b) * counted).sum(), weights)
        weights = moved(weights, (-training.rate, slopes))
    return [*path, weights]


def gradient(loss: Query, weights: Weights) -> Weights:
    """The gradient of a loss; weights that it does not read have 0."""
    leaves = tuple(w.detach().requires_grad_() for w in weights)
    with torch.enable_grad():
        found = torch.autograd.grad(loss(leaves), leaves, allow_unused=True)
    return tuple(torch.zeros_like(w) if g is None else g for w, g in zip(weights, found, strict=True))


def left_out(training: GradientDescent, query: Query) -> Tensor:
    """By how many nats the query's loss is higher when a group is left out of training, for each group `[g]`."""
    with torch.no_grad():
        whole = query(descend(training)[-1])
        return torch.stack([query(descend(training, without)[-1]) - whole for without in range(training.groups)])


def group_gradients(training: GradientDescent, weights: Weights) -> Tensor:
    """The gradient of what each group adds to the loss of its batch, `[g, p]`."""
    each = [
        gradient(lambda w, g=g, b=batch: training.terms(w, b)[g], weights) for g, batch in enumerate(training.batch_of)
    ]
    return torch.stack([flat(one) for one in each])


def _whole(training: GradientDescent, weights: Weights) -> Tensor:
    """What each group adds in a pass over all batches, `[g]`."""
    return sum((training.terms(weights, b) for b in sorted({*training.batch_of})), torch.zeros(training.groups))


def dot_product(training: GradientDescent, query: Query, weights: Weights, own: Tensor | None = None) -> Tensor:
    """The product of the query's gradient with that of each group, at one position, `[g]`."""
    own = group_gradients(training, weights) if own is None else own
    return own @ flat(gradient(query, weights))


def tracin(training: GradientDescent, query: Query, path: Sequence[Weights]) -> Tensor:
    """The sum of these products over checkpoints, times the rate (Pruthi et al. 2020, arXiv:2002.08484), `[g]`."""
    return training.rate * sum(dot_product(training, query, weights) for weights in path)  # type: ignore[return-value]


def influence_function(
    training: GradientDescent, query: Query, weights: Weights, damping: float, most: int, own: Tensor | None = None
) -> Tensor:
    """The query's gradient times (H + damping)^-1 times each group's gradient, `[g]` (arXiv:1703.04730).

    H is the Hessian of the training loss, whose products are differences of gradients; the solver is conjugate
    gradients with at most so many steps, and ends where H + damping bends downwards.
    """
    own = group_gradients(training, weights) if own is None else own
    whole = lambda w: _whole(training, w).sum()  # noqa: E731 (a loss, as the two other functions take it)
    return own @ solve(lambda v: curvature(whole, weights, v) + damping * v, flat(gradient(query, weights)), most)


def curvature(loss: Query, weights: Weights, direction: Tensor) -> Tensor:
    """The Hessian of a loss times a direction `[p]`, by the difference of two gradients."""
    size = 1e-3 * float(flat(weights).norm()) / max(float(direction.norm()), 1e-12)
    step = shaped(direction * size, weights)
    ahead, behind = (gradient(loss, moved(weights, (sign, step))) for sign in (1.0, -1.0))
    return (flat(ahead) - flat(behind)) / (2 * size)


def solve(product: Callable[[Tensor], Tensor], target: Tensor, most: int) -> Tensor:
    """The x with product(x) = target by conjugate gradients, or the best before a direction bends downwards."""
    x, residual = torch.zeros_like(target), target.clone()
    direction, size = residual.clone(), residual @ residual
    for _ in range(most):
        if float(size) <= CLOSE**2 * float(target @ target):
            break
        image = product(direction)
        bend = direction @ image
        if float(bend) <= 0:
            return x if bool(x.any()) else target
        x = x + size / bend * direction
        residual = residual - size / bend * image
        direction, size = residual + (residual @ residual) / size * direction, residual @ residual
    return x


@dataclass(frozen=True)
class Agreement:
    """Spearman's rank correlation with its interval of 95 % by Fisher's z."""

    value: float
    low: float
    high: float


def agreement(estimate: Tensor, truth: Tensor) -> Agreement:
    """How an estimate ranks the groups against the truth; 0 with the widest interval where one has no order."""
    one, other = estimate.double().numpy(), truth.double().numpy()
    if len(one) < 4 or np.ptp(one) == 0 or np.ptp(other) == 0:
        return Agreement(0.0, -1.0, 1.0)
    value = float(scipy.stats.spearmanr(one, other).statistic)  # type: ignore[attr-defined]
    z, half = np.arctanh(np.clip(value, -1 + 1e-12, 1 - 1e-12)), 1.96 * 1.03 / np.sqrt(len(one) - 3)
    return Agreement(value, float(np.tanh(z - half)), float(np.tanh(z + half)))
