"""Delete tokens."""

from dataclasses import dataclass, replace

from playground.batch import Action, Batch, gather_origin
from playground.objectives.ops.ragged import kept_first, reorder
from playground.objectives.stage import Change


@dataclass(frozen=True)
class DeleteTokens(Change):
    """Delete the chosen tokens without a trace: their places must be guessed (BART, arXiv:1910.13461, sec. 2.2)."""

    def build(self, example: Batch) -> Batch:
        inputs = example.inputs
        keep = inputs.valid & ~gather_origin(example.selected, inputs.origin, False)
        action = example.actions.masked_fill(example.selected, Action.DELETED)
        return replace(example, inputs=reorder(example, *kept_first(keep)), actions=action)
