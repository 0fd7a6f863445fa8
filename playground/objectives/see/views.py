"""See the whole text, and beside it only what stands before or after."""

from dataclasses import dataclass, replace

from playground.example import Example, by_level, causal, full
from playground.objectives.see.alone import from_right


@dataclass(frozen=True)
class SeeViews:
    """All of the text for the teacher; beside it a left and a right half for students (arXiv:1809.08370, sec. 3.2).

    The first example beside reads from the left, the second from the right.
    """

    def build(self, example: Example) -> Example:
        inputs = example.inputs
        level = from_right(inputs)
        ways = (causal(inputs.real, inputs.padded), by_level(level, level, inputs.real))
        halves = (replace(example, beside=(), inputs=replace(inputs, visible=way)) for way in ways)
        whole = replace(inputs, visible=full(inputs.real, inputs.padded))
        return replace(example, inputs=whole, beside=(*example.beside, *halves))
