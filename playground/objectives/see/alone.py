"""See: one stack, one rule."""

from dataclasses import dataclass, replace
from typing import Literal

from torch import Tensor

from playground.batch import (
    AttentionMask,
    Batch,
    Stream,
    arange_rows,
    causal_mask,
    full_mask,
    gather_origin,
    mask_by_level,
)
from playground.knob import knob
from playground.objectives.stage import See


@dataclass(frozen=True)
class SeeAll(See):
    """Everybody sees everybody (BERT, arXiv:1810.04805, sec. 3)."""

    def build(self, example: Batch) -> Batch:
        inputs = example.inputs
        return replace(example, inputs=replace(inputs, attn_mask=full_mask(inputs.valid, inputs.padded)))


@dataclass(frozen=True)
class SeeLeft(See):
    """Each position sees itself and what stands to its left (GPT, Radford et al. 2018).

    With a window of k words, its own one included, every further layer looks k - 1 words on: (k - 1) x layers + 1 in
    all. This is no NNLM (Bengio et al. 2003): that has one hidden layer over the vectors of k words side by side.
    """

    sliding_window: int = knob(
        0, 0, 64, unit="words", why="How many words a reader sees, its own one included; 0 for all."
    )

    def build(self, example: Batch) -> Batch:
        inputs = example.inputs
        if not self.sliding_window:
            return replace(example, inputs=replace(inputs, attn_mask=causal_mask(inputs.valid, inputs.padded)))
        place = places(inputs)
        near = ((place - self.sliding_window + 1).clamp(min=0), place)
        return replace(example, inputs=replace(inputs, attn_mask=in_window(place, near, inputs.valid)))


@dataclass(frozen=True)
class SeeRight(See):
    """Each position sees itself and what stands to its right (ELMo backward, arXiv:1802.05365, sec. 3.1)."""

    sliding_window: int = knob(
        0, 0, 64, unit="words", why="How many words a reader sees, its own one included; 0 for all."
    )

    def build(self, example: Batch) -> Batch:
        inputs = example.inputs
        place, level = places(inputs), from_right(inputs)
        if not self.sliding_window:
            return replace(example, inputs=replace(inputs, attn_mask=mask_by_level(level, level, inputs.valid)))
        near = (place, place + self.sliding_window - 1)
        return replace(example, inputs=replace(inputs, attn_mask=in_window(level, near, inputs.valid)))


@dataclass(frozen=True)
class SeePrefix(See):
    """The first part sees all of itself, the second the first and what stands to its left (UniLM, T5 sec. 3.2.3).

    The second part is what was chosen or, where two texts stand in one row, the second text.
    """

    second: Literal["chosen", "text"] = "chosen"

    def build(self, example: Batch) -> Batch:
        inputs = example.inputs
        chosen = gather_origin(example.selected, inputs.origin, False)
        level = after_prefix(inputs, chosen if self.second == "chosen" else inputs.segment_ids > 0)
        return replace(example, inputs=replace(inputs, attn_mask=mask_by_level(level, level, inputs.valid)))


def places(inputs: Stream) -> Tensor:
    """The number of every position, counted from the left, `[b, n]`."""
    return arange_rows(inputs.ids)


def from_right(inputs: Stream) -> Tensor:
    """The number of every position counted from the right: as levels, each sees what stands to its right."""
    return inputs.ids.shape[1] - 1 - places(inputs)


def after_prefix(inputs: Stream, second: Tensor) -> Tensor:
    """Levels `[b, n]` by which the second part sees the first and its own left, and the first sees itself."""
    return (places(inputs) + 1).where(second, 0)


def in_window(level: Tensor, near: tuple[Tensor, Tensor], real: Tensor) -> AttentionMask:
    """What a reader sees by its level between the first and the last place that are near it."""
    return replace(mask_by_level(level, level, real), window=near)
