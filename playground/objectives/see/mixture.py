"""An attention mask that is drawn for every row, and segment ids that say which one it is."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import torch
from torch import Generator, Tensor

from playground.batch import Batch, arange_rows, mask_by_level
from playground.errors import UserError
from playground.knob import knob
from playground.objectives.ops import sampling
from playground.objectives.see.alone import after_prefix, from_right, with_mask
from playground.objectives.stage import See, Wishes

KINDS = ("both", "seq2seq", "left", "right")
"""The four masks, in the order of their numbers."""

SEGMENTS = ((0, 1), (4, 5), (2, 2), (3, 3))
"""The segment ids of the two texts under each mask, with `mode_segments`."""


@dataclass(frozen=True)
class NumberSegments(See):
    """The segment ids that tell one of the four masks from the others (UniLM, arXiv:1905.03197, sec. 2.1)."""

    kind: Literal["both", "seq2seq", "left", "right"] = "both"

    def build(self, example: Batch) -> Batch:
        first, second = SEGMENTS[KINDS.index(self.kind)]
        inputs = example.inputs
        numbers = torch.where(inputs.segment_ids > 0, second, first).masked_fill(~inputs.valid, 0)
        return replace(example, inputs=replace(inputs, segment_ids=numbers))


@dataclass(frozen=True)
class SampleMask(See):
    """One of four masks for every row: both sides, seq2seq, left, right (UniLM, arXiv:1905.03197, sec. 2.3-2.4).

    Under seq2seq the first text sees itself, the second the first and its own left.
    """

    both: float = knob(2.0, 0.0, 6.0, unit="parts", why="A third of the rows sees both sides.")
    seq2seq: float = knob(2.0, 0.0, 6.0, unit="parts", why="A third of the rows writes the second text from the first.")
    left: float = knob(1.0, 0.0, 6.0, unit="parts", why="A sixth of the rows sees what stands to the left.")
    right: float = knob(1.0, 0.0, 6.0, unit="parts", why="A sixth of the rows sees what stands to the right.")
    mode_segments: bool = knob(
        False, why="Give every mask its own segment numbers, so that the model knows which one it is."
    )
    keys: ClassVar[tuple[str, ...]] = ("mask",)

    def plan(self, example: Batch, rng: Generator) -> Tensor:
        """The number of each row's mask, `[b]`."""
        weights = [getattr(self, kind) for kind in KINDS]
        if not any(weights):
            raise UserError("both, seq2seq, left and right are all 0; give at least one of them a part.")
        return sampling.among(weights, (len(example.tokens.ids),), rng)

    def build(self, example: Batch, plan: Tensor) -> Batch:
        inputs, kind = example.inputs, plan[:, None]
        level = after_prefix(inputs, inputs.segment_ids > 0).masked_fill(kind == 0, 0)
        level = arange_rows(inputs.ids).where(kind == 2, from_right(inputs).where(kind == 3, level))
        if self.mode_segments:
            number = torch.tensor(SEGMENTS, device=kind.device)[plan]
            example = replace(example, inputs=replace(inputs, segment_ids=number.gather(1, inputs.segment_ids)))
        return with_mask(example, mask_by_level(level, level, inputs.valid))

    def revise(self, example: Batch, plan: Tensor, wanted: Wishes) -> Tensor:
        if "mask" not in wanted:
            return plan
        if wanted["mask"] not in KINDS:
            raise UserError(f"The mask is {wanted['mask']!r}; it must be one of {', '.join(KINDS)}.")
        return torch.full_like(plan, KINDS.index(wanted["mask"]))

    def tell(self, example: Batch, plan: Tensor, row: int) -> dict[str, Any]:
        return {"mask": KINDS[int(plan[row])]}
