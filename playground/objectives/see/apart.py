"""See: two texts of one row, each for itself; or a whole text through one position."""

from dataclasses import dataclass, replace

from torch import Tensor

from playground.example import NEVER, Example, Visible, by_level, causal, full, nothing, running


@dataclass(frozen=True)
class SeeWithinSegment:
    """Each of two texts sees only itself, so each has a vector of its own (InferSent, arXiv:1705.02364, sec. 3.1)."""

    def build(self, example: Example) -> Example:
        inputs = example.inputs
        level = nothing(inputs.ids)
        seen = replace(by_level(level, level, inputs.real), window=half(inputs.segment, inputs.real))
        return replace(example, inputs=replace(inputs, visible=seen))


def half(segment: Tensor, real: Tensor) -> tuple[Tensor, Tensor]:
    """The first and the last place of the text that each position `[b, n]` belongs to, by its segment 0 or 1."""
    turn = ((segment == 0) & real).sum(1, keepdim=True)
    place, last = running(segment), real.sum(1, keepdim=True) - 1
    second = place >= turn
    return turn.where(second, 0), last.where(second, turn - 1)


@dataclass(frozen=True)
class SeeThroughOne:
    """The encoder sees all, the decoder what it has written and the encoder's first position alone.

    So all that is known of the text must pass through one vector (LASER, arXiv:1812.10464, sec. 3.1).
    """

    def build(self, example: Example) -> Example:
        inputs, decoder = example.inputs, example.decoder
        assert decoder is not None, "an ask stage that writes a decoder must come before this one"
        first = (running(inputs.ids) > 0).long() * NEVER
        across = Visible(nothing(decoder.ids), first)
        decoder = replace(decoder, visible=causal(decoder.real, decoder.padded), cross=across)
        return replace(example, inputs=replace(inputs, visible=full(inputs.real, inputs.padded)), decoder=decoder)
