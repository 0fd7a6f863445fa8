"""Delete tokens."""

from dataclasses import dataclass, replace

from playground.batch import Action, Batch, gather_origin
from playground.objectives.ops.ragged import kept_first, reorder
from playground.objectives.stage import Change


@dataclass(frozen=True)
class DeleteTokens(Change):
    """Delete the chosen tokens without a trace: their places must be guessed (BART, arXiv:1910.13461, sec. 2.2)."""

    def build(self, batch: Batch) -> Batch:
        inputs = batch.inputs
        keep = inputs.valid & ~gather_origin(batch.selected, inputs.origin, False)
        action = batch.actions.masked_fill(batch.selected, Action.DELETED)
        return replace(batch, inputs=reorder(batch, *kept_first(keep)), actions=action)
