"""Change a text that was cut in two."""

from dataclasses import dataclass, replace

from playground.example import Action, Batch, language_ids_at, stream
from playground.objectives.weave import collect


@dataclass(frozen=True)
class DropTarget:
    """Only what was not chosen stays in the input (T5's prefix language model, arXiv:1910.10683, sec. 3.2.3)."""

    def build(self, example: Batch) -> Batch:
        tokens = example.tokens
        kept = collect(example, tokens.valid & ~example.selected)
        inputs = stream(kept.ids, kept.origin, kept.real, language=language_ids_at(tokens, kept.origin))
        action = example.actions.masked_fill(example.selected, Action.DELETED)
        return replace(example, actions=action, inputs=inputs)
