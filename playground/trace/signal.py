"""The signal meter: how much of the text that is read also teaches."""

from collections.abc import Mapping
from dataclasses import dataclass

from torch import Generator

from playground.batch import Batch, Target, Tokens
from playground.objectives.objective import Objective


@dataclass(frozen=True)
class Meter:
    """One question: how many positions are graded, how many tokens of text were read for it, which rows ask nothing."""

    graded: int
    read: int
    idle_rows: int

    @property
    def share(self) -> float:
        """Graded positions for each token that is read: 1 where every token teaches; above 1 where signs do too."""
        return self.graded / max(1, self.read)


@dataclass(frozen=True)
class Signal:
    """The meters of all questions by name; `main` is the question whose loss is reported first."""

    questions: Mapping[str, Meter]
    main: str

    @property
    def share(self) -> float:
        """The share of the main question, 0 where nothing is asked."""
        return self.questions[self.main].share if self.main else 0.0


def measure(example: Batch) -> Signal:
    """The signal of a batch, those questions included that are asked beside."""
    meters = {q.name: _meter(part, q) for part in example.with_auxiliary for q in part.questions}
    return Signal(meters, example.questions[0].name if example.questions else "")


def signal(objective: Objective, tokens: Tokens, rng: Generator) -> Signal:
    """What an objective makes of a batch of texts."""
    return measure(objective.example(tokens, rng))


def _meter(part: Batch, question: Target) -> Meter:
    by_row = question.loss_mask.sum(1)
    return Meter(int(by_row.sum()), int(part.tokens.lengths.sum()), int((by_row == 0).sum()))
