"""Change a text that was cut in two."""

from dataclasses import dataclass, replace

from playground.batch import Action, Batch, language_ids_at, stream
from playground.objectives.ops.ragged import collect
from playground.objectives.stage import Change


@dataclass(frozen=True)
class DropTarget(Change):
    """Only what was not chosen stays in the input (T5's prefix language model, arXiv:1910.10683, sec. 3.2.3)."""

    def build(self, batch: Batch) -> Batch:
        tokens = batch.tokens
        kept = collect(batch, tokens.valid & ~batch.selected)
        inputs = stream(kept.ids, kept.origin, kept.real, language=language_ids_at(tokens, kept.origin))
        return replace(batch, actions=batch.actions.masked_fill(batch.selected, Action.DELETED), inputs=inputs)
