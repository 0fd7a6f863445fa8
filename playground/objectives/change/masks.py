"""Change every chosen token into a mask."""

from dataclasses import dataclass, replace

import torch

from playground.batch import Action, Batch
from playground.objectives.change.tokens import rewritten
from playground.objectives.stage import Change


@dataclass(frozen=True)
class ReplaceWithMask(Change):
    """Every chosen token becomes [MASK], in its own place (InfoWord, arXiv:1910.08350, sec. 4)."""

    def build(self, example: Batch) -> Batch:
        masks = torch.full_like(example.tokens.ids, example.tokens.specials.mask)
        action = example.actions.masked_fill(example.selected, Action.MASKED)
        return replace(example, actions=action, inputs=rewritten(example.inputs, masks, example.selected))
