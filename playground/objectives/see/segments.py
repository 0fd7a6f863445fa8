"""Segment ids that say which of UniLM's four masks a row has."""

from dataclasses import dataclass, replace
from typing import Literal

import torch

from playground.batch import Batch
from playground.objectives.stage import See

SEGMENTS = {"both": (0, 1), "seq2seq": (4, 5), "left": (2, 2), "right": (3, 3)}
"""The segment ids of the two texts under each mask (released code)."""


@dataclass(frozen=True)
class NumberSegments(See):
    """The segment ids that tell one of the four masks from the others (UniLM, arXiv:1905.03197, sec. 2.1)."""

    kind: Literal["both", "seq2seq", "left", "right"] = "both"

    def build(self, batch: Batch) -> Batch:
        first, second = SEGMENTS[self.kind]
        inputs = batch.inputs
        numbers = torch.where(inputs.segment_ids > 0, second, first).masked_fill(~inputs.valid, 0)
        return replace(batch, inputs=replace(inputs, segment_ids=numbers))
