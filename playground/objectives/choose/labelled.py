"""Choose the texts whose labels are known."""

from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Generator, Tensor

from playground.batch import Batch
from playground.errors import UserError
from playground.knob import knob
from playground.objectives.ops import sampling
from playground.objectives.stage import Choose, PlanOverrides


@dataclass(frozen=True)
class ChooseSupervised(Choose):
    """Mark the words of some texts: those whose labels may be learnt (cross-view training, arXiv:1809.08370, sec. 2).

    An exact share of the batch, rounded up. The paper takes batches of either kind by turns.
    """

    supervised_ratio: float = knob(0.5, 0.0, 1.0, unit="share of texts", why="How many texts of a batch have labels.")
    keys = ("labelled",)

    def plan(self, batch: Batch, rng: Generator) -> Tensor:
        """Which rows have labels, `[b]`."""
        every = batch.tokens.lengths[None] >= 0
        return sampling.exactly(sampling.ceiling(self.supervised_ratio, every.sum(1)), every, rng)[0]

    def build(self, batch: Batch, plan: Tensor) -> Batch:
        return replace(batch, selected=batch.maskable & plan[:, None])

    def override_plan(self, batch: Batch, plan: Tensor, overrides: PlanOverrides) -> Tensor:
        if overrides["labelled"] not in ("yes", "no"):
            raise UserError(f"The plan labelled is {overrides['labelled']!r}; it must be yes or no.")
        return torch.full_like(plan, overrides["labelled"] == "yes")

    def describe_plan(self, batch: Batch, plan: Tensor, row: int) -> dict[str, Any]:
        return {"labelled": "yes" if bool(plan[row]) else "no"}
