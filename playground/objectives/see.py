"""See: who may look at whom. The levels set here are what attention obeys and what the stage draws."""

from dataclasses import dataclass, replace

import torch

from playground.example import Action, Example, at_origin, by_level, causal, full
from playground.knob import knob


@dataclass(frozen=True)
class SeeAll:
    """Everybody sees everybody (BERT, arXiv:1810.04805, sec. 3)."""

    def build(self, example: Example) -> Example:
        inputs = example.inputs
        return replace(example, inputs=replace(inputs, visible=full(inputs.real, inputs.padded)))


@dataclass(frozen=True)
class SeeLeft:
    """Each position sees itself and what stands to its left (GPT, Radford et al. 2018)."""

    def build(self, example: Example) -> Example:
        inputs = example.inputs
        return replace(example, inputs=replace(inputs, visible=causal(inputs.real, inputs.padded)))


@dataclass(frozen=True)
class SeePrefix:
    """The first part sees all of itself, the second the first and what stands to its left (UniLM, T5 sec. 3.2.3)."""

    def build(self, example: Example) -> Example:
        inputs = example.inputs
        place = torch.arange(inputs.ids.shape[1], device=inputs.ids.device).expand_as(inputs.ids) + 1
        level = place.where(at_origin(example.chosen, inputs.origin, False), 0)
        return replace(example, inputs=replace(inputs, visible=by_level(level, level, inputs.real)))


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


@dataclass(frozen=True)
class SeeEncoderDecoder:
    """The encoder sees all its input, the decoder what it has written and the encoder (Vaswani et al. 2017).

    MASS hides the encoder's [MASK] positions from the decoder (arXiv:1905.02450, released code).
    """

    hide_masked: bool = knob(False, why="Let the decoder lean on its own words, not on the gaps.")

    def build(self, example: Example) -> Example:
        inputs, decoder = example.inputs, example.decoder
        assert decoder is not None, "an ask stage that writes a decoder must come before this one"
        masked = at_origin(example.action, inputs.origin) == Action.MASKED
        shown = inputs.real & ~masked if self.hide_masked else inputs.real
        padded = inputs.padded or self.hide_masked
        decoder = replace(
            decoder,
            visible=causal(decoder.real, decoder.padded),
            cross=full(shown, padded, readers=decoder.real),
        )
        return replace(example, inputs=replace(inputs, visible=full(inputs.real, inputs.padded)), decoder=decoder)
