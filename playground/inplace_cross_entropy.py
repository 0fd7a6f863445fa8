"""Memory-saving cross-entropy: overwrites the scores with log-probabilities, then with the gradient.

Fresh memory of the size of the scores would cost as much time as the arithmetic.
"""

from typing import Any

import torch
from torch import Tensor

CACHED = 1 << 18
"""Numbers per block: so many stay in the processor's cache while they are worked on."""


class CrossEntropy(torch.autograd.Function):
    """The loss `[k]` of targets `[k]` under scores `[k, v]`; its gradient can be taken once."""

    @staticmethod
    def forward(ctx: Any, scores: Tensor, right: Tensor) -> Tensor:
        for part in scores.split(_rows(scores)):
            torch.log_softmax(part, -1, out=part)
        ctx.logs, ctx.right = scores, right[:, None]
        return -ctx.logs.gather(1, ctx.right)[:, 0]

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Probabilities minus one at the target, times the gradient of each loss."""
        logs, ctx.logs = ctx.logs, None
        if logs is None:
            raise RuntimeError("The gradient of this cross-entropy was already taken.")
        cut = (part.split(_rows(logs)) for part in (logs, ctx.right, grad[:, None]))
        for part, right, weight in zip(*cut, strict=True):
            part.exp_().mul_(weight).scatter_add_(1, right, -weight)
        return logs, None


def _rows(scores: Tensor) -> int:
    return max(1, CACHED // scores.shape[1])


def inplace_cross_entropy(scores: Tensor, right: Tensor) -> Tensor:
    """The loss in nats of every answer, `[k]`."""
    return CrossEntropy.apply(scores, right)  # pyright: ignore[reportReturnType]
