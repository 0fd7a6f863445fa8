"""Attention masks of cross-view training: the whole text, and beside it only its left or its right half."""

from dataclasses import dataclass, replace

from playground.batch import Batch, causal_mask, full_mask, mask_by_level
from playground.objectives.see.single_stack import from_right, with_mask
from playground.objectives.stage import See


@dataclass(frozen=True)
class SeeViews(See):
    """All of the text for the teacher; beside it a left and a right half for students (arXiv:1809.08370, sec. 3.2).

    The first auxiliary batch reads from the left, the second from the right.
    """

    def build(self, batch: Batch) -> Batch:
        inputs, level = batch.inputs, from_right(batch.inputs)
        masks = (causal_mask(inputs.valid, inputs.padded), mask_by_level(level, level, inputs.valid))
        halves = (with_mask(replace(batch, auxiliary=()), mask) for mask in masks)
        whole = with_mask(batch, full_mask(inputs.valid, inputs.padded))
        return replace(whole, auxiliary=(*batch.auxiliary, *halves))
