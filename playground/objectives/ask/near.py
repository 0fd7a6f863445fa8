"""Ask for words that stand near each other: the centre from its window, a neighbour from the centre, or how often."""

from dataclasses import dataclass, replace

from torch import Tensor

from playground.batch import Batch, CooccurrenceTarget, Target, gather_origin
from playground.knob import knob
from playground.objectives.ask.words import asked, in_place
from playground.objectives.stage import Ask


@dataclass(frozen=True)
class AskCentre(Ask):
    """The word at every chosen place that has others in its window (CBOW, arXiv:1301.3781, sec. 3.1)."""

    def build(self, example: Batch) -> Batch:
        query = example.inputs.query_attn_mask
        assert query is not None, "a see stage with a window must come before"
        assert query.window is not None
        first, last = query.window
        question = in_place(example, "query")
        return asked(example, replace(question, name="centre word", loss_mask=question.loss_mask & (last > first)))


@dataclass(frozen=True)
class AskNeighbour(Ask):
    """For every pair the word near the centre, from the centre alone (skip-gram, arXiv:1301.3781, sec. 3.2)."""

    def build(self, example: Batch) -> Batch:
        return asked(example, _named(example, "word nearby"))


@dataclass(frozen=True)
class AskCount(Ask):
    """For every cell how often its two words were seen together (GloVe, Pennington et al. 2014, eq. 8-9)."""

    x_max: float = knob(100.0, 1.0, 1000.0, unit="times", why="A cell seen more often than this counts no more.")
    alpha: float = knob(0.75, 0.0, 1.0, unit="exponent", why="How much a cell that was seen seldom counts.")

    def build(self, example: Batch) -> Batch:
        seen = example.tokens.labels["seen"]
        question = _named(example, "how often")
        return asked(example, replace(question, loss=CooccurrenceTarget(seen, self.x_max, self.alpha)))


def _named(example: Batch, name: str) -> Target:
    """A question for the word that each position names by its span of one."""
    real = example.inputs.valid
    origin = example.spans.start.where(real, -1)
    targets: Tensor = gather_origin(example.tokens.ids, origin, example.tokens.specials.pad)
    return Target(name, "vocabulary", "inputs", targets, real, origin)
