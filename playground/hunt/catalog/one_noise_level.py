"""One noise level for all texts of a batch."""

import math
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean, stdev

import torch
from torch import Generator, Tensor

from playground.batch import Batch
from playground.hunt.fault import Fault, exchange_stage
from playground.hunt.suspect import Suspect
from playground.objectives.choose import ChooseSplit
from playground.objectives.ops import sampling
from playground.zoo import Entry


@dataclass(frozen=True)
class ChooseOneSplit(ChooseSplit):
    """Cut all texts of a batch at the same share of their length."""

    batch_size: int = 16

    def plan(self, batch: Batch, rng: Generator) -> Tensor:
        """How many tokens `[b]` are in the first part."""
        number = batch.tokens.lengths
        share = sampling.noise((math.ceil(len(number) / self.batch_size),), rng)
        share = share.repeat_interleave(self.batch_size)[: len(number)]
        return torch.minimum((share * (number - 1)).long() + 1, number)


def drawn_once(entry: Entry) -> Entry:
    """The same objective with one draw for each batch."""
    size = entry.recipe.batch_size
    return exchange_stage(entry, ChooseSplit, lambda _: ChooseOneSplit(batch_size=size))


def spread_of_scored(suspect: Suspect) -> float:
    """The standard deviation of the number of scored positions of a step, in means."""
    scored = [0, *(point.scored for point in suspect.points if point.loss is not None)]
    numbers = [after - before for before, after in pairwise(scored)]
    return stdev(numbers) / fmean(numbers)


def has_several_levels(suspect: Suspect) -> bool:
    """Whether two texts of a batch have another share of scored positions."""
    return len(suspect.batch(16).selected.sum(1).unique()) > 1


ONE_NOISE_LEVEL = Fault(
    name="one noise level for the whole batch",
    group="Objective",
    symptom="The training loss jumps up and down from step to step, and some batches have hardly a scored position.",
    explanation="The share of a text that is hidden was drawn once for each batch, so all its texts are easy or all "
    "are hard. It must be drawn for each text.",
    repository="p-doom/jasmine",
    thread="https://github.com/p-doom/jasmine/pull/101",
    law="The texts of a batch have different noise levels.",
    shows="the standard deviation of the number of scored positions of a step, divided by their mean",
    figure=spread_of_scored,
    holds=has_several_levels,
    change_entry=drawn_once,
    entry="seq2seq LM",
    steps=100,
)
