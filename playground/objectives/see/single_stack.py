"""Attention masks of a single stack: full, causal, right-to-left, prefix."""

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


def with_mask(batch: Batch, mask: AttentionMask) -> Batch:
    """The batch with another attention mask of its input."""
    return replace(batch, inputs=replace(batch.inputs, attn_mask=mask))


@dataclass(frozen=True)
class SeeAll(See):
    """Every position sees every position (BERT, arXiv:1810.04805, sec. 3)."""

    def build(self, batch: Batch) -> Batch:
        return with_mask(batch, full_mask(batch.inputs.valid, batch.inputs.padded))


@dataclass(frozen=True)
class SeeLeft(See):
    """Each position sees itself and what stands to its left (GPT, Radford et al. 2018).

    With a window of k words, its own one included, every further layer reaches k - 1 words further: (k - 1) x layers +
    1 in all.
    """

    sliding_window: int = knob(
        0, 0, 64, unit="words", why="How many words a position attends to, itself included; 0 for all."
    )

    def build(self, batch: Batch) -> Batch:
        inputs, position = batch.inputs, arange_rows(batch.inputs.ids)
        if not self.sliding_window:
            return with_mask(batch, causal_mask(inputs.valid, inputs.padded))
        near = ((position - self.sliding_window + 1).clamp(min=0), position)
        return with_mask(batch, replace(mask_by_level(position, position, inputs.valid), window=near))


@dataclass(frozen=True)
class SeeRight(See):
    """Each position sees itself and what stands to its right (ELMo backward, arXiv:1802.05365, sec. 3.1)."""

    sliding_window: int = knob(
        0, 0, 64, unit="words", why="How many words a position attends to, itself included; 0 for all."
    )

    def build(self, batch: Batch) -> Batch:
        inputs, position, level = batch.inputs, arange_rows(batch.inputs.ids), from_right(batch.inputs)
        near = (position, position + self.sliding_window - 1) if self.sliding_window else None
        return with_mask(batch, replace(mask_by_level(level, level, inputs.valid), window=near))


@dataclass(frozen=True)
class SeePrefix(See):
    """The first part sees all of itself, the second the first and what stands to its left (UniLM, T5 sec. 3.2.3).

    The second part is what was chosen, the second of two texts in a row, or the blanks that are filled behind a text
    (GLM, arXiv:2103.10360, sec. 2.1).
    """

    second: Literal["chosen", "text", "blanks"] = "chosen"

    def build(self, batch: Batch) -> Batch:
        inputs = batch.inputs
        level = after_prefix(inputs, self._second(batch, inputs))
        return with_mask(batch, mask_by_level(level, level, inputs.valid))

    def _second(self, batch: Batch, inputs: Stream) -> Tensor:
        """Which positions `[b, n]` are of the second part."""
        if self.second == "chosen":
            return gather_origin(batch.selected, inputs.origin, False)
        if self.second == "text":
            return inputs.segment_ids > 0
        assert inputs.second_position_ids is not None, "a stage that makes blanks must come before"
        return inputs.second_position_ids > 0


def from_right(inputs: Stream) -> Tensor:
    """The number of every position counted from the right: as levels, each sees what stands to its right."""
    return inputs.ids.shape[1] - 1 - arange_rows(inputs.ids)


def after_prefix(inputs: Stream, second: Tensor) -> Tensor:
    """Levels `[b, n]` by which the second part sees the first and its own left, and the first sees itself."""
    return (arange_rows(inputs.ids) + 1).where(second, 0)
