"""The cross-entropy of many scores in the memory of the scores: log-probabilities take their place, then the gradient.

Fresh memory of that size costs as much as the arithmetic, for the system clears every page of it.
"""

from typing import Any

import torch
from torch import Tensor, nn

CACHED = 1 << 18
"""Numbers that stay in the processor's cache while they are worked on."""


class CrossEntropy(torch.autograd.Function):
    """The loss `[k]` of right answers `[k]` under scores `[k, v]`; its gradient can be taken once.

    The scores become log-probabilities, which say the same, and with `backward` the gradient.
    """

    @staticmethod
    def forward(ctx: Any, scores: Tensor, right: Tensor) -> Tensor:
        """Minus the log-probability of the right answer."""
        for part in scores.split(_rows(scores)):
            torch.log_softmax(part, -1, out=part)
        ctx.logs, ctx.right = scores, right[:, None]
        return -ctx.logs.gather(1, ctx.right)[:, 0]

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Probabilities minus one at the right answer, weighed by the gradient of each loss."""
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
    """The loss in nats of every answer, `[k]`; a compiler makes its own of the plain one."""
    if torch.compiler.is_compiling():
        return nn.functional.cross_entropy(scores, right, reduction="none")
    return CrossEntropy.apply(scores, right)  # pyright: ignore[reportReturnType]
