"""Ask for words that stand near each other: the centre from its window, a neighbour from the centre, or how often."""

from dataclasses import dataclass, replace

from torch import Tensor

from playground.example import Count, Example, Question, at_origin
from playground.knob import knob
from playground.objectives.ask.words import asked, in_place


@dataclass(frozen=True)
class AskCentre:
    """The word at every chosen place that has others in its window (CBOW, arXiv:1301.3781, sec. 3.1)."""

    def build(self, example: Example) -> Example:
        query = example.inputs.query_visible
        assert query is not None, "a see stage with a window must come before"
        assert query.window is not None
        first, last = query.window
        question = in_place(example, "query")
        return asked(example, replace(question, name="centre word", graded=question.graded & (last > first)))


@dataclass(frozen=True)
class AskNeighbour:
    """For every pair the word near the centre, from the centre alone (skip-gram, arXiv:1301.3781, sec. 3.2)."""

    def build(self, example: Example) -> Example:
        return asked(example, _named(example, "word nearby"))


@dataclass(frozen=True)
class AskCount:
    """For every cell how often its two words were seen together (GloVe, Pennington et al. 2014, eq. 8-9)."""

    x_max: float = knob(100.0, 1.0, 1000.0, unit="times", why="A cell seen more often than this counts no more.")
    alpha: float = knob(0.75, 0.0, 1.0, unit="exponent", why="How much a cell that was seen seldom counts.")

    def build(self, example: Example) -> Example:
        seen = example.tokens.labels["seen"]
        question = _named(example, "how often")
        return asked(example, replace(question, against=Count(seen, self.x_max, self.alpha)))


def _named(example: Example, name: str) -> Question:
    """A question for the word that each position names by its span of one."""
    real = example.inputs.real
    origin = example.spans.start.where(real, -1)
    targets: Tensor = at_origin(example.tokens.ids, origin, example.tokens.specials.pad)
    return Question(name, "vocabulary", "inputs", targets, real, origin)
