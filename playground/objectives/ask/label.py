"""Ask for a label: of a pair of texts at its first sign, or of every token."""

from dataclasses import dataclass

import torch

from playground.example import Example, Question
from playground.knob import knob
from playground.objectives.ask.words import asked


@dataclass(frozen=True)
class AskPair:
    """What became of the pair, asked once at the first position (BERT, arXiv:1810.04805, sec. 3.1; ALBERT, sec. 3.1).

    `classes` names the outcomes of the arrange stage in their order; a pair with an empty half asks nothing.
    """

    classes: tuple[str, ...]
    weight: float = knob(1.0, 0.0, 100.0, unit="times", why="How much this label counts beside the words.")

    def build(self, example: Example) -> Example:
        inputs = example.inputs
        place = torch.arange(inputs.ids.shape[1], device=inputs.ids.device).expand_as(inputs.ids)
        whole = torch.stack([((inputs.origin >= 0) & (inputs.segment == half)).any(1) for half in (0, 1)]).all(0)
        outcome = example.tokens.labels["pair"].amax(1, keepdim=True) if inputs.ids.shape[1] else inputs.ids
        graded = (place == 0) & whole[:, None]
        targets = outcome.expand_as(inputs.ids).where(graded, 0)
        nowhere = torch.full_like(inputs.ids, -1)
        question = Question("pair", "label:pair", "inputs", targets, graded, nowhere, self.weight, classes=self.classes)
        return asked(example, question)
