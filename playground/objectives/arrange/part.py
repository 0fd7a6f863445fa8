"""Sample the objective of a mixture that each batch is for."""

from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Generator, Tensor

from playground.batch import Batch
from playground.errors import UserError
from playground.objectives.ops import sampling
from playground.objectives.stage import Arrange, Wishes


@dataclass(frozen=True)
class Part:
    """The number of the objective, from 0, the same for every row of the batch, `[b]`."""

    number: Tensor

    @property
    def index(self) -> int:
        """The number as an integer; 0 for an empty batch."""
        return int(self.number[0]) if len(self.number) else 0


@dataclass(frozen=True)
class SampleTask(Arrange):
    """Draw one of several objectives for each batch by their shares (T5's multi-task mixture, sec. 3.5.2).

    `known` holds the plan keys of each objective: a plan by hand goes to one that knows all its keys. With
    `alternating` they take turns in training, where `step` is known (XLM, arXiv:1901.07291).
    """

    shares: tuple[float, ...]
    known: tuple[tuple[str, ...], ...]
    alternating: bool = False
    step: int | None = None
    keys: ClassVar[tuple[str, ...]] = ("part",)

    def plan(self, example: Batch, rng: Generator) -> Part:
        drawn = sampling.among(self.shares, (1,), rng).expand(len(example.tokens.ids))
        if not self.alternating or self.step is None:
            return Part(drawn)
        return Part(torch.full_like(drawn, self.step % len(self.shares)))

    def build(self, example: Batch, plan: Part) -> Batch:
        return example

    def revise(self, example: Batch, plan: Part, wanted: Wishes) -> Part:
        others = set(wanted) - {"part"}
        able = [k for k, keys in enumerate(self.known) if others <= set(keys)]
        number = wanted["part"] - 1 if "part" in wanted else plan.index
        if not 0 <= number < len(self.shares):
            raise UserError(f"The part is {number + 1}; this mixture has the parts 1 to {len(self.shares)}.")
        if number not in able and ("part" in wanted or not able):
            keys = ", ".join(self.known[number]) or "none"
            raise UserError(f"Part {number + 1} has no plan for {', '.join(sorted(others))}; its keys are: {keys}.")
        return Part(torch.full_like(plan.number, number if number in able else able[0]))

    def tell(self, example: Batch, plan: Part, row: int) -> dict[str, Any]:
        return {"part": plan.index + 1}
