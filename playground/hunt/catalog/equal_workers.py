"""Workers of a data loader that draw the same random numbers."""

import math
from dataclasses import dataclass

from torch import Generator

from playground.batch import Batch
from playground.hunt.fault import Fault, exchange_stage
from playground.hunt.suspect import Suspect
from playground.objectives.choose import ChooseTokens
from playground.objectives.choose.tokens import Chosen
from playground.objectives.ops import sampling
from playground.zoo import Entry


@dataclass(frozen=True)
class ChooseTokensInWorkers(ChooseTokens):
    """Each of some workers makes every so many-th batch, all from one random state."""

    batch_size: int = 16
    workers: int = 4

    def plan(self, batch: Batch, rng: Generator) -> Chosen:
        candidates = self.candidates(batch)
        rows, width = candidates.shape
        rounds = math.ceil(rows / (self.batch_size * self.workers))
        noise = sampling.noise((rounds, 1, self.batch_size, width), rng).expand(-1, self.workers, -1, -1)
        noise = noise.reshape(-1, width)[:rows]
        return Chosen(sampling.lowest(self._number(batch, candidates, rng), candidates, noise))


def in_workers(entry: Entry) -> Entry:
    """The same objective, whose batches are made by workers with one seed."""
    return exchange_stage(
        entry, ChooseTokens, lambda stage: ChooseTokensInWorkers(**vars(stage), batch_size=entry.recipe.batch_size)
    )


def gaps_again(suspect: Suspect) -> float:
    """The share of the gaps of a batch that are at the same positions in the next batch."""
    size = suspect.learner.entry.recipe.batch_size
    first, second = suspect.batch(2 * size).selected.split(size)
    return float((first & second).sum() / first.sum())


EQUAL_WORKERS = Fault(
    name="the same random numbers in every worker",
    group="Data",
    symptom="Four batches, one after the other, have their gaps at the same positions, though their texts are others.",
    explanation="Each worker of the data loader is a copy of the process, and so is the random state of NumPy in it. "
    "Each worker needs a seed of its own.",
    repository="pytorch/pytorch",
    thread="https://github.com/pytorch/pytorch/issues/5059",
    law="Two batches have their gaps at different positions.",
    shows="the share of gaps that the next batch has at the same positions",
    figure=gaps_again,
    holds=lambda suspect: gaps_again(suspect) < 0.5,
    change_entry=in_workers,
    steps=60,
)
