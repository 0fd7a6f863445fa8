"""Blocks of steps: the corruption of many batches is drawn in one call, so that small tensor calls are paid once."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from playground.batch import Batch, CooccurrenceTarget, NegativeSampling
from playground.objectives import Objective
from playground.slicing import trimmed_batches
from playground.training.data import BatchSampler
from playground.training.train_state import PartialBatch, TrainState

STEPS = 256
"""Steps of one block; it pays as long as a batch is so small that the calls take longer than their work."""

FEW = 32
"""Steps of one block where each of them is much work, so that nobody who watches waits for a block."""

MOST = 1 << 18
"""Tokens of one block: large batches come in shorter blocks, so that a small computer has room for them."""


@dataclass
class Prefetcher:
    """The examples of a run: that of a step follows from the seed and its block's number, wherever the run begins.

    Where a generator answers in every step, the examples of `ahead` steps are opened at once, each by its own draws.
    """

    feed: BatchSampler
    learner: TrainState
    steps: int
    ahead: int = 1
    _number: int = -1
    _drawn: list[Batch] = field(default_factory=list, repr=False)
    _opened: dict[int, PartialBatch] = field(default_factory=dict, repr=False)

    def at(self, step: int) -> Batch:
        """The example of a step (0-based), as wide as its own widest row."""
        if self.steps == 1:
            return self._alone(step)
        number, place = divmod(step, self.steps)
        if number != self._number:
            self.begin_anew(self.steps)  # the last block's memory is free before the next one is drawn
            first = number * self.steps
            whole = self.learner.example(self.feed.between(first, first + self.steps), "block", number)
            self._number, self._drawn = number, trimmed_batches(whole, self.feed.batch_size)
        return self._drawn[place]

    def _alone(self, step: int) -> Batch:
        """The example of a step that is drawn by itself; a GPU is waited for once for several of them."""
        learner = self.learner
        if not learner.objective.opens:
            return learner.example(self.feed.at(step), step)
        if step not in self._opened or self._opened[step].objective is not learner.objective:
            self._opened = {}
            self._opened = {k: learner.opened(self.feed.at(k), k) for k in range(step, step + self.ahead)}
        return self._opened[step].ended()

    def begin_anew(self, steps: int) -> None:
        """Forget what was drawn; from now on so many steps are drawn, or opened, at once."""
        if self.steps > 1:
            self.steps = steps
        self.ahead, self._number, self._drawn, self._opened = steps, -1, [], {}


def steps_together(objective: Objective, examples: Sequence[Batch], feed: BatchSampler) -> int:
    """How many steps may be drawn at once; examples of the objective show what it asks.

    Only one where a generator proposes words with its weights of that step, where every batch draws its part of a
    mixture, or where pairs of words are counted over the rows of a batch; few where wrong answers are drawn for each.
    """
    against = {type(q.loss) for example in examples for part in example.with_auxiliary for q in part.questions}
    mixed = any(chain.parts for chain in objective.chains)
    if objective.proposes or mixed or CooccurrenceTarget in against:
        return 1
    return most_at_once(feed, FEW if NegativeSampling in against else STEPS)


def most_at_once(feed: BatchSampler, steps: int) -> int:
    """So many steps, or as many as there is room for at once."""
    return max(1, min(steps, MOST // (feed.batch_size * feed.windows.ids.shape[1])))
