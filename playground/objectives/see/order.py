"""See by an order of prediction, in two streams."""

from dataclasses import dataclass, replace

from playground.example import Example, at_origin, by_level
from playground.knob import knob


@dataclass(frozen=True)
class SeeOrder:
    """The order of prediction decides, in two streams (XLNet, arXiv:1906.08237, sec. 2.3).

    The content stream sees what comes earlier and itself, the query stream only what comes earlier. `context`
    says whether the tokens that are not predicted see each other (released code) or follow the order too (equation).
    """

    context: str = knob("together", choices=("together", "strict"), why="Released code against the paper's equation.")

    def build(self, example: Example) -> Example:
        inputs = example.inputs
        rank = example.rank if self.context == "strict" else example.rank.masked_fill(~example.chosen, -1)
        level = at_origin(rank, inputs.origin, -1)
        content = by_level(level, level, inputs.real)
        query = by_level(level - 1, level, inputs.real)
        return replace(example, inputs=replace(inputs, visible=content, query_visible=query))
