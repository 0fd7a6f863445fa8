"""Change what the content stream of a permutation shows."""

from dataclasses import dataclass, replace

import torch

from playground.batch import Action, Batch
from playground.knob import knob
from playground.objectives.change.tokens import rewritten
from playground.objectives.stage import Change


@dataclass(frozen=True)
class MaskContentStream(Change):
    """[MASK] instead of every word that is predicted (the collator of the transformers library; XLNet shows the words).

    A word that comes late in the order then never learns what the early ones were.
    """

    content: str = knob("masks", choices=("masks", "words"), why="What stands at the targets of the content stream.")

    def build(self, example: Batch) -> Batch:
        if self.content == "words":
            return example
        masks = torch.full_like(example.tokens.ids, example.tokens.specials.mask)
        action = example.actions.masked_fill(example.selected, Action.MASKED)
        return replace(example, actions=action, inputs=rewritten(example.inputs, masks, example.selected))
