"""See the whole text, and beside it only what stands before or after."""

from dataclasses import dataclass, replace

from playground.batch import Batch, causal_mask, full_mask, mask_by_level
from playground.objectives.see.alone import from_right
from playground.objectives.stage import See


@dataclass(frozen=True)
class SeeViews(See):
    """All of the text for the teacher; beside it a left and a right half for students (arXiv:1809.08370, sec. 3.2).

    The first example beside reads from the left, the second from the right.
    """

    def build(self, example: Batch) -> Batch:
        inputs = example.inputs
        level = from_right(inputs)
        ways = (causal_mask(inputs.valid, inputs.padded), mask_by_level(level, level, inputs.valid))
        halves = (replace(example, auxiliary=(), inputs=replace(inputs, attn_mask=way)) for way in ways)
        whole = replace(inputs, attn_mask=full_mask(inputs.valid, inputs.padded))
        return replace(example, inputs=whole, auxiliary=(*example.auxiliary, *halves))
