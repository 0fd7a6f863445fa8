"""Change tokens into nothing."""

from dataclasses import dataclass, replace

from playground.example import Action, Example, at_origin
from playground.objectives.weave import close_up


@dataclass(frozen=True)
class DeleteTokens:
    """Take the chosen tokens out without a mark: their places must be guessed (BART, arXiv:1910.13461, sec. 2.2)."""

    def build(self, example: Example) -> Example:
        inputs = example.inputs
        keep = inputs.real & ~at_origin(example.chosen, inputs.origin, False)
        action = example.action.masked_fill(example.chosen, Action.DELETED)
        return replace(example, inputs=close_up(example, keep), action=action)
