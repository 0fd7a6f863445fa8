"""Change every chosen token into a mask."""

from dataclasses import dataclass, replace

import torch

from playground.example import Action, Example
from playground.objectives.change.tokens import rewritten


@dataclass(frozen=True)
class ReplaceWithMask:
    """Every chosen token becomes [MASK], in its own place (InfoWord, arXiv:1910.08350, sec. 4)."""

    def build(self, example: Example) -> Example:
        masks = torch.full_like(example.tokens.ids, example.tokens.specials.mask)
        action = example.action.masked_fill(example.chosen, int(Action.MASKED))
        return replace(example, action=action, inputs=rewritten(example.inputs, masks, example.chosen))
