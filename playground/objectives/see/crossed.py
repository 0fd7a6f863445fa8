"""See across an encoder and a decoder."""

from dataclasses import dataclass, replace

from torch import Tensor

from playground.batch import Action, Batch, causal_mask, full_mask, gather_origin, zeros_view
from playground.knob import knob
from playground.objectives.stage import See


@dataclass(frozen=True)
class SeeEncoderDecoder(See):
    """The encoder sees all its input, the decoder what it has written and the encoder (Vaswani et al. 2017).

    MASS hides the encoder's [MASK] positions from the decoder (arXiv:1905.02450, released code).
    """

    hide_masked: bool = knob(False, why="Let the decoder lean on its own words, not on the gaps.")

    def build(self, example: Batch) -> Batch:
        inputs, decoder = example.inputs, example.decoder
        assert decoder is not None, "an ask stage that writes a decoder must come before this one"
        visible = full_mask(inputs.valid, inputs.padded)
        read = full_mask(self._shown(example), padded=True) if self.hide_masked else visible
        cross = replace(read, query_level=zeros_view(decoder.valid))
        decoder = replace(decoder, attn_mask=causal_mask(decoder.valid, decoder.padded), cross_attn_mask=cross)
        return replace(example, inputs=replace(inputs, attn_mask=visible), decoder=decoder)

    def _shown(self, example: Batch) -> Tensor:
        inputs = example.inputs
        masked = gather_origin(example.actions, inputs.origin) == Action.MASKED
        return inputs.valid & ~masked
