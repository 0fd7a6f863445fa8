"""The cross-entropy of many scores, whose gradient takes the place of the log-probabilities instead of new memory."""

from typing import Any

import torch
from torch import Tensor

ROWS = 256
"""Rows that stay in the processor's cache while their gradient is formed."""


class CrossEntropy(torch.autograd.Function):
    """The loss `[k]` of right answers `[k]` under scores `[k, v]`; its gradient can be taken once."""

    @staticmethod
    def forward(ctx: Any, scores: Tensor, right: Tensor) -> Tensor:
        """Minus the log-probability of the right answer."""
        ctx.logs, ctx.right = scores.log_softmax(-1), right[:, None]
        return -ctx.logs.gather(1, ctx.right)[:, 0]

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Probabilities minus one at the right answer, weighed by the gradient of each loss."""
        logs, ctx.logs = ctx.logs, None
        if logs is None:
            raise RuntimeError("The gradient of this cross-entropy was already taken.")
        for part, right, weight in zip(logs.split(ROWS), ctx.right.split(ROWS), grad[:, None].split(ROWS), strict=True):
            part.exp_().mul_(weight).scatter_add_(1, right, -weight)
        return logs, None


def cross_entropy(scores: Tensor, right: Tensor) -> Tensor:
    """The loss in nats of every answer, `[k]`."""
    return CrossEntropy.apply(scores, right)  # pyright: ignore[reportReturnType]
