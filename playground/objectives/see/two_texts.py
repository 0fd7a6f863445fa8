"""Attention masks of two texts: each within itself, or a whole text through one position."""

from dataclasses import dataclass, replace

from torch import Tensor

from playground.batch import (
    MASKED_LEVEL,
    AttentionMask,
    Batch,
    arange_rows,
    causal_mask,
    full_mask,
    mask_by_level,
    zeros_view,
)
from playground.objectives.see.single_stack import with_mask
from playground.objectives.stage import See


@dataclass(frozen=True)
class SeeWithinSegment(See):
    """Each of two texts sees only itself, so each has a vector of its own (InferSent, arXiv:1705.02364, sec. 3.1)."""

    def build(self, batch: Batch) -> Batch:
        inputs, level = batch.inputs, zeros_view(batch.inputs.ids)
        mask = mask_by_level(level, level, inputs.valid)
        return with_mask(batch, replace(mask, window=segment_bounds(inputs.segment_ids, inputs.valid)))


def segment_bounds(segment: Tensor, real: Tensor) -> tuple[Tensor, Tensor]:
    """The first and the last position of the text that each position `[b, n]` belongs to, by its segment 0 or 1."""
    turn = ((segment == 0) & real).sum(1, keepdim=True)
    second, last = arange_rows(segment) >= turn, real.sum(1, keepdim=True) - 1
    return turn.where(second, 0), last.where(second, turn - 1)


@dataclass(frozen=True)
class SeeThroughOne(See):
    """The encoder sees all, the decoder what it has written and the encoder's first position alone.

    So all information on the text must pass through one vector (LASER, arXiv:1812.10464, sec. 3.1).
    """

    def build(self, batch: Batch) -> Batch:
        inputs, decoder = batch.inputs, batch.decoder
        assert decoder is not None, "an ask stage that writes a decoder must come before this one"
        first = (arange_rows(inputs.ids) > 0).long() * MASKED_LEVEL
        across = AttentionMask(zeros_view(decoder.ids), first)
        decoder = replace(decoder, attn_mask=causal_mask(decoder.valid, decoder.padded), cross_attn_mask=across)
        return replace(with_mask(batch, full_mask(inputs.valid, inputs.padded)), decoder=decoder)
