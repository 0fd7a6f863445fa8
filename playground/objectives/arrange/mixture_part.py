"""Sample the objective of a mixture that each batch is for, or each of its rows."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Generator, Tensor

from playground.batch import Batch, arange
from playground.errors import UserError
from playground.objectives.ops import sampling
from playground.objectives.plan_overrides import SHAPES
from playground.objectives.stage import Arrange, PlanOverrides

GOLDEN_RATIO = 0.5 * 5**0.5 - 0.5
"""Multiples of it, less their whole part, fill the numbers from 0 to 1 evenly, however many they are."""


@dataclass(frozen=True)
class MixturePart:
    """The number of the objective of every row, from 0, `[b]`."""

    number: Tensor

    @property
    def index(self) -> int:
        """The number of the first row as an integer; 0 for an empty batch."""
        return int(self.number[0]) if len(self.number) else 0

    @property
    def groups(self) -> list[tuple[int, Tensor]]:
        """Every objective that some rows are for, and the numbers of these rows, ascending."""
        return [(number, (self.number == number).nonzero()[:, 0]) for number in self.number.unique().tolist()]


@dataclass(frozen=True)
class SampleTask(Arrange):
    """Draw one of several objectives for each batch by their shares (T5's multi-task mixture, sec. 3.5.2).

    `known` holds the plan keys of each objective: a plan by hand goes to one that knows all its keys. With
    `alternating` they take turns in training, where `step` is known (XLM, arXiv:1901.07291). With `by_row` each row is
    for an objective of its own (UniLM, arXiv:1905.03197, sec. 2.3); rows in a row differ, so that every batch of a
    block has about the shares.
    """

    shares: tuple[float, ...]
    known: tuple[tuple[str, ...], ...]
    alternating: bool = False
    by_row: bool = False
    step: int | None = None
    keys = ("part",)
    follows = tuple(SHAPES)

    def plan(self, batch: Batch, rng: Generator) -> MixturePart:
        noise, position = sampling.noise((1,), rng), arange(len(batch.tokens.ids), rng.device)
        drawn = sampling.outcomes(self.shares, (noise.double() + position * GOLDEN_RATIO * self.by_row) % 1)
        if not self.alternating or self.step is None:
            return MixturePart(drawn)
        return MixturePart(torch.full_like(drawn, self.step % len(self.shares)))

    def build(self, batch: Batch, plan: MixturePart) -> Batch:
        return batch

    def override_plan(self, batch: Batch, plan: MixturePart, overrides: PlanOverrides) -> MixturePart:
        others = set(overrides) - {"part"}
        able = [k for k, keys in enumerate(self.known) if others <= set(keys)]
        number = overrides["part"] - 1 if "part" in overrides else plan.index
        if not 0 <= number < len(self.shares):
            raise UserError(f"The part is {number + 1}; this mixture has the parts 1 to {len(self.shares)}.")
        if number not in able and ("part" in overrides or not able):
            keys = ", ".join(self.known[number]) or "none"
            raise UserError(f"Part {number + 1} has no plan for {', '.join(sorted(others))}; its keys are: {keys}.")
        return MixturePart(torch.full_like(plan.number, number if number in able else able[0]))

    def describe_plan(self, batch: Batch, plan: MixturePart, row: int) -> dict[str, Any]:
        return {"part": int(plan.number[row]) + 1}
