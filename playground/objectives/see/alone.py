"""See: one stack, one rule."""

from dataclasses import dataclass, replace

import torch

from playground.example import Example, at_origin, by_level, causal, full


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
