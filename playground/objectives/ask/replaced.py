"""Ask whether a token was replaced."""

from dataclasses import dataclass

import torch
from torch import Tensor

from playground.batch import Action, Batch, Target, gather_origin
from playground.knob import knob
from playground.objectives.ask.words import asked
from playground.objectives.ops.segments import places, runs
from playground.objectives.stage import Ask


@dataclass(frozen=True)
class AskReplaced(Ask):
    """Original or replaced, everywhere; a lucky sample counts as original (ELECTRA, arXiv:2003.10555, sec. 2).

    With "mentions" only names are asked, once each at their first token (WKLM, arXiv:1912.09637, sec. 2).
    """

    where: str = "everywhere"
    weight: float = knob(50.0, 0.0, 100.0, unit="times the generator's loss", why="A yes-or-no loss is small.")

    def build(self, example: Batch) -> Batch:
        inputs = example.inputs
        label = (gather_origin(example.actions, inputs.origin) == Action.REPLACED).long()
        nowhere = torch.full_like(inputs.origin, -1)
        question = Target("replaced?", "replaced", "inputs", label, self._graded(example), nowhere, self.weight)
        return asked(example, question)

    def _graded(self, example: Batch) -> Tensor:
        if self.where == "everywhere":
            return example.inputs.valid
        number = example.tokens.labels["mention"]
        names = runs(example, example.maskable & (number >= 0), number)
        return gather_origin((names.of >= 0) & (names.first == places(example)), example.inputs.origin, False)
