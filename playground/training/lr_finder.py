"""The learning-rate finder: the rate grows in every step until the loss runs away (arXiv:1506.01186, sec. 3.3)."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from playground.errors import Refusal
from playground.training.loop import Run, prepared
from playground.training.snapshot import State
from playground.training.train_state import TrainState

SMOOTH = 0.8
"""How much of the running mean of the losses stays in each step."""

RUNAWAY = 2.0
"""The search ends where the running mean is so many times its lowest value."""


@dataclass(frozen=True)
class TriedRate:
    """One step at a rate, a multiple `share` of the recipe's own; `smooth` is the running mean of the losses."""

    share: float
    rate: float
    loss: float
    smooth: float


@dataclass(frozen=True)
class LRFinderResult:
    """The rate at which the loss fell fastest, for the recipe's `lr`; `matrix_rate` is for its `muon_lr`."""

    rate: float
    matrix_rate: float
    tried: tuple[TriedRate, ...]

    @property
    def sentence(self) -> str:
        """What was found, for a person."""
        last = self.tried[-1]
        return (
            f"The loss fell fastest around a rate of {self.rate:.2g} (and {self.matrix_rate:.2g} for Muon); the search "
            f"went from {self.tried[0].rate:.2g} to {last.rate:.2g} in {len(self.tried)} steps."
        )


def find_rate(
    run: Run, learner: TrainState | None = None, *, low: float = 1e-3, high: float = 30.0, steps: int = 80
) -> Iterator[TriedRate | LRFinderResult]:
    """Try the rates from `low` to `high` times the recipe's own, one step each; at last what was found.

    A given learner is put back to where it was, to the last bit, however the search ends.
    """
    if steps < 8 or not 0 < low < high:
        raise Refusal(f"steps is {steps}, low {low} and high {high}; at least 8 steps from a low to a higher rate.")
    course = prepared(run, learner)
    learner, kept = course.learner, State.of(course.learner)
    try:
        tried: list[TriedRate] = []
        for number in range(steps):
            share = low * (high / low) ** (number / (steps - 1))
            loss = float(learner.learn(course.blocks.at(kept.step + number), share=share)[1])
            if not math.isfinite(loss):
                break
            tried.append(_tried(learner, share, loss, tried))
            yield tried[-1]
            if tried[-1].smooth > RUNAWAY * min(t.smooth for t in tried):
                break
    finally:
        kept.give_back(learner)
    yield _found(learner, tried)


def _tried(learner: TrainState, share: float, loss: float, before: Sequence[TriedRate]) -> TriedRate:
    smooth = SMOOTH * before[-1].smooth + (1 - SMOOTH) * loss if before else loss
    return TriedRate(share, share * learner.entry.recipe.lr, loss, smooth)


def _found(learner: TrainState, tried: Sequence[TriedRate]) -> LRFinderResult:
    """The rate of the steepest fall, looked at over a few steps before the lowest loss."""
    if len(tried) < 4:
        raise Refusal("The loss was no number from the first steps on; begin with a lower rate.")
    lowest = min(range(len(tried)), key=lambda k: tried[k].smooth)
    falls = {k: tried[k - 3].smooth - tried[k].smooth for k in range(3, lowest + 1)}
    share = tried[max(falls, key=lambda k: falls[k])].share if falls else tried[0].share
    recipe = learner.entry.recipe
    return LRFinderResult(share * recipe.lr, share * recipe.muon_lr, tuple(tried))
