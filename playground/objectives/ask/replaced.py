"""Ask whether a token was replaced."""

from dataclasses import dataclass

import torch

from playground.example import Action, Example, Question, at_origin
from playground.knob import knob
from playground.objectives.ask.words import asked


@dataclass(frozen=True)
class AskReplaced:
    """Original or replaced, everywhere; a lucky sample counts as original (ELECTRA, arXiv:2003.10555, sec. 3.1)."""

    weight: float = knob(50.0, 0.0, 100.0, unit="times the generator's loss", why="A yes-or-no loss is small.")

    def build(self, example: Example) -> Example:
        inputs = example.inputs
        label = (at_origin(example.action, inputs.origin) == Action.REPLACED).long()
        nowhere = torch.full_like(inputs.origin, -1)
        question = Question("replaced?", "replaced", "inputs", label, inputs.real, nowhere, self.weight)
        return asked(example, question)
