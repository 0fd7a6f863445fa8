"""Rules on the weights at the end of a run: the mean of the last steps, the way back to the pre-trained weights."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import torch

from playground.finetuning.strategy.losses import TrainerView, WeightAverage
from playground.knob import knob


class After(ABC):
    """What replaces the weights after the last step; with `keeps_start` the pre-trained ones take part in it."""

    name: ClassVar[str]
    keeps_start: ClassVar[bool] = False

    @abstractmethod
    def begin(self, run: TrainerView) -> Callable[[int], None]:
        """What is done after each step, which is counted from 0; before the first step nothing has changed."""


@dataclass(frozen=True)
class LastSteps(After):
    """The mean of the weights over the last steps, the head's among them (arXiv:2002.10345)."""

    share: float = knob(
        0.5, 0.01, 1.0, unit="share of the steps", why="How much of the end of the run the mean is taken over."
    )
    name: ClassVar[str] = "mean of the last steps"

    def begin(self, run: TrainerView) -> Callable[[int], None]:
        mean, first = WeightAverage(run.every), run.steps - max(1, int(self.share * run.steps))

        def note(step: int) -> None:
            if step >= first:
                mean.take()
            if step + 1 == run.steps:
                mean.put(mean.mean)

        return note


@dataclass(frozen=True)
class WiSEFT(After):
    """The pre-trained and the fine-tuned weights, (1 - alpha) and alpha of them (WiSE-FT, arXiv:2109.01903, sec. 3).

    The task's head and other new modules have no pre-trained weights, so they stay as they were fine-tuned. At both
    ends of `alpha` every bit of the model is that of the end.
    """

    alpha: float = knob(
        0.5, 0.0, 1.0, unit="share of the fine-tuned weights", why="0 is the pre-trained model, 1 the fine-tuned one."
    )
    name: ClassVar[str] = "interpolation with the pre-trained weights"
    keeps_start: ClassVar[bool] = True

    def begin(self, run: TrainerView) -> Callable[[int], None]:
        weights = list(run.named.values())
        start = [p.detach().clone() for p in weights]

        def note(step: int) -> None:
            if step + 1 == run.steps:
                for p, old in zip(weights, start, strict=True):
                    p.data = torch.lerp(old, p.detach(), self.alpha)

        return note
