"""Choose a share of the tokens, rounded up."""

from dataclasses import dataclass, replace
from typing import Any

from torch import Generator

from playground.batch import Action, Batch
from playground.knob import knob
from playground.objectives import plan_overrides
from playground.objectives.choose.tokens import Chosen, TokenChoice
from playground.objectives.ops import sampling
from playground.objectives.stage import Choose, PlanOverrides


@dataclass(frozen=True)
class ChooseRatio(TokenChoice):
    """Mark a share of the tokens that are still shown, rounded up (BART, arXiv:1910.13461, sec. 2.2, and fairseq)."""

    mask_ratio: float = knob(0.3, 0.0, 1.0, unit="share of tokens", why="More gaps, less context.")

    def plan(self, batch: Batch, rng: Generator) -> Chosen:
        shown = batch.maskable & (batch.actions == Action.KEPT)
        number = sampling.ceiling(self.mask_ratio, batch.maskable.sum(1))
        return Chosen(sampling.exactly(number, shown, rng))

    def build(self, batch: Batch, plan: Chosen) -> Batch:
        return replace(batch, selected=plan.positions & batch.maskable & (batch.actions == Action.KEPT))


@dataclass(frozen=True)
class ChooseForDeletion(Choose):
    """Mark a share of the tokens in the same way, for a chain that marks others too: these are called `deleted`."""

    delete_ratio: float = knob(0.3, 0.0, 1.0, unit="share of tokens", why="More words to predict without a mark.")
    keys = ("deleted",)

    def plan(self, batch: Batch, rng: Generator) -> Chosen:
        return ChooseRatio(self.delete_ratio).plan(batch, rng)

    def build(self, batch: Batch, plan: Chosen) -> Batch:
        return ChooseRatio(self.delete_ratio).build(batch, plan)

    def override_plan(self, batch: Batch, plan: Chosen, overrides: PlanOverrides) -> Chosen:
        return Chosen(plan_overrides.positions(batch, overrides["deleted"]))

    def describe_plan(self, batch: Batch, plan: Chosen, row: int) -> dict[str, Any]:
        return {"deleted": plan_overrides.words_of(batch, plan.positions, row)}
