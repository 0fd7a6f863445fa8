"""See across an encoder and a decoder."""

from dataclasses import dataclass, replace

from torch import Tensor

from playground.example import Action, Example, at_origin, causal, full, nothing
from playground.knob import knob


@dataclass(frozen=True)
class SeeEncoderDecoder:
    """The encoder sees all its input, the decoder what it has written and the encoder (Vaswani et al. 2017).

    MASS hides the encoder's [MASK] positions from the decoder (arXiv:1905.02450, released code).
    """

    hide_masked: bool = knob(False, why="Let the decoder lean on its own words, not on the gaps.")

    def build(self, example: Example) -> Example:
        inputs, decoder = example.inputs, example.decoder
        assert decoder is not None, "an ask stage that writes a decoder must come before this one"
        visible = full(inputs.real, inputs.padded)
        read = full(self._shown(example), padded=True) if self.hide_masked else visible
        cross = replace(read, reader=nothing(decoder.real))
        decoder = replace(decoder, visible=causal(decoder.real, decoder.padded), cross=cross)
        return replace(example, inputs=replace(inputs, visible=visible), decoder=decoder)

    def _shown(self, example: Example) -> Tensor:
        inputs = example.inputs
        masked = at_origin(example.action, inputs.origin) == Action.MASKED
        return inputs.real & ~masked
