"""Change every chosen token into a mask."""

from dataclasses import dataclass, replace

import torch

from playground.batch import Action, Batch
from playground.objectives.change.tokens import rewritten
from playground.objectives.stage import Change


@dataclass(frozen=True)
class ReplaceWithMask(Change):
    """Every chosen token becomes [MASK], in its own position (InfoWord, arXiv:1910.08350, sec. 4)."""

    def build(self, batch: Batch) -> Batch:
        masks = torch.full_like(batch.tokens.ids, batch.tokens.specials.mask)
        action = batch.actions.masked_fill(batch.selected, Action.MASKED)
        return replace(batch, actions=action, inputs=rewritten(batch.inputs, masks, batch.selected))
