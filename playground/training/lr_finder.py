"""The learning-rate finder: the rate grows in every step until the loss runs away (arXiv:1506.01186, sec. 3.3)."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from playground.errors import UserError
from playground.training.loop import Run, prepared
from playground.training.train_state import Snapshot, TrainState

SMOOTH = 0.8
"""Decay of the running mean of the losses in each step."""

RUNAWAY = 2.0
"""The search ends when the running mean is this many times its lowest value."""


@dataclass(frozen=True)
class TriedRate:
    """One step at a rate."""

    share: float
    """The rate as a multiple of the recipe's own."""
    rate: float
    loss: float
    smooth: float
    """Running mean of the losses."""


@dataclass(frozen=True)
class LRFinderResult:
    """The learning rate at which the loss fell fastest."""

    rate: float
    """For the knob `lr`."""
    matrix_rate: float
    """For the knob `muon_lr`."""
    tried: tuple[TriedRate, ...]

    @property
    def sentence(self) -> str:
        """The result in a sentence."""
        return (
            f"The loss fell fastest around a rate of {self.rate:.2g} (and {self.matrix_rate:.2g} for Muon); the search "
            f"went from {self.tried[0].rate:.2g} to {self.tried[-1].rate:.2g} in {len(self.tried)} steps."
        )


def find_rate(
    run: Run, learner: TrainState | None = None, *, low: float = 1e-3, high: float = 30.0, steps: int = 80
) -> Iterator[TriedRate | LRFinderResult]:
    """Try rates of `low` to `high` times the recipe's, one step each; the result comes last, the learner goes back."""
    if steps < 8 or not 0 < low < high:
        raise UserError(f"steps is {steps}, low {low} and high {high}; at least 8 steps from a low to a higher rate.")
    state = prepared(run, learner)
    learner, start = state.learner, Snapshot.of(state.learner)
    try:
        tried: list[TriedRate] = []
        for number in range(steps):
            share = low * (high / low) ** (number / (steps - 1))
            loss = float(learner.learn(state.blocks.at(learner.step), share=share)[1])
            if not math.isfinite(loss):
                break
            smooth = SMOOTH * tried[-1].smooth + (1 - SMOOTH) * loss if tried else loss
            tried.append(TriedRate(share, share * learner.entry.recipe.lr, loss, smooth))
            yield tried[-1]
            if tried[-1].smooth > RUNAWAY * min(t.smooth for t in tried):
                break
    finally:
        start.restore(learner)
    yield _steepest(learner, tried)


def _steepest(learner: TrainState, tried: Sequence[TriedRate]) -> LRFinderResult:
    """The rate of the steepest fall over three steps before the lowest loss."""
    if len(tried) < 4:
        raise UserError("The loss was NaN or infinite from the first steps; begin with a lower rate.")
    lowest = min(range(len(tried)), key=lambda k: tried[k].smooth)
    falls = {k: tried[k - 3].smooth - tried[k].smooth for k in range(3, lowest + 1)}
    share = tried[max(falls, key=lambda k: falls[k])].share if falls else tried[0].share
    recipe = learner.entry.recipe
    return LRFinderResult(share * recipe.lr, share * recipe.muon_lr, tuple(tried))
