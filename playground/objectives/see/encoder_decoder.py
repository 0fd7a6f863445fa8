"""Attention masks of an encoder and a decoder."""

from dataclasses import dataclass, replace

from playground.batch import Action, Batch, causal_mask, full_mask, gather_origin, zeros_view
from playground.knob import knob
from playground.objectives.see.single_stack import with_mask
from playground.objectives.stage import See


@dataclass(frozen=True)
class SeeEncoderDecoder(See):
    """The encoder sees all its input, the decoder what it has written and the encoder (Vaswani et al. 2017).

    MASS hides the encoder's [MASK] positions from the decoder (arXiv:1905.02450, released code).
    """

    hide_masked: bool = knob(False, why="Hide the gaps from the decoder, so that it relies on what it has written.")

    def build(self, batch: Batch) -> Batch:
        inputs, decoder = batch.inputs, batch.decoder
        assert decoder is not None, "an ask stage that writes a decoder must come before this one"
        mask = cross = full_mask(inputs.valid, inputs.padded)
        if self.hide_masked:
            masked = gather_origin(batch.actions, inputs.origin) == Action.MASKED
            cross = full_mask(inputs.valid & ~masked, padded=True)
        cross = replace(cross, query_level=zeros_view(decoder.valid))
        decoder = replace(decoder, attn_mask=causal_mask(decoder.valid, decoder.padded), cross_attn_mask=cross)
        return replace(with_mask(batch, mask), decoder=decoder)
