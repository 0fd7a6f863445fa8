"""The state of a learner, set aside: everything that a step changes, to go back to it bit for bit."""

from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from playground.training.train_state import TrainState
from playground.zoo.entry import Entry


@dataclass(frozen=True)
class State:
    """Weights, what the optimisers remember, and the counters, as they were at `step`."""

    step: int
    tokens: int
    graded: int
    seconds: float
    entry: Entry
    weights: dict[str, Tensor]
    optimisers: tuple[dict[str, Any], ...]

    @classmethod
    def of(cls, learner: TrainState) -> "State":
        """A copy that further steps do not change."""
        weights = {name: value.detach().clone() for name, value in learner.model.state_dict().items()}
        optimisers = tuple(deepcopy(optimiser.state_dict()) for optimiser in learner.optimisers)
        return cls(learner.step, learner.tokens, learner.graded, learner.seconds, learner.entry, weights, optimisers)

    def give_back(self, learner: TrainState) -> None:
        """Put a learner back to this state."""
        learner.step, learner.tokens, learner.graded = self.step, self.tokens, self.graded
        learner.seconds, learner.entry = self.seconds, self.entry
        learner.model.load_state_dict(self.weights)
        for optimiser, kept in zip(learner.optimisers, self.optimisers, strict=True):
            optimiser.state.clear()  # its memory is needed for what takes its place
            optimiser.load_state_dict(deepcopy(kept))
            optimiser.zero_grad(set_to_none=True)
