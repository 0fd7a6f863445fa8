"""A look at one sentence while a model learns; it can be sent to a worker, which then takes the same looks."""

from dataclasses import dataclass, field

from playground.analysis.glance import Glance, glance_at, watched
from playground.example import Example, Tokens
from playground.objectives import Objective
from playground.training.learner import Learner


@dataclass
class LookAt:
    """Looks at one sentence; what is asked of it is drawn once, unless a generator draws it anew with every step."""

    sentence: Tokens
    _drawn: list[tuple[Objective, Example]] = field(default_factory=list, repr=False)

    def __call__(self, learner: Learner) -> Glance:
        objective = learner.objective
        if objective.proposes or not self._drawn or self._drawn[0][0] is not objective:
            self._drawn[:] = [(objective, watched(learner.model, objective, self.sentence))]
        return glance_at(learner.model, self._drawn[0][1], learner.step)
