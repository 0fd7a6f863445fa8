"""Change a text that was cut in two."""

from dataclasses import dataclass, replace

from playground.example import Action, Example, spoken, stream
from playground.objectives.weave import collect


@dataclass(frozen=True)
class DropTarget:
    """Only what was not chosen stays in the input (T5's prefix language model, arXiv:1910.10683, sec. 3.2.3)."""

    def build(self, example: Example) -> Example:
        tokens = example.tokens
        kept = collect(example, tokens.real & ~example.chosen)
        inputs = stream(kept.ids, kept.origin, kept.real, language=spoken(tokens, kept.origin))
        action = example.action.masked_fill(example.chosen, Action.DELETED)
        return replace(example, action=action, inputs=inputs)
