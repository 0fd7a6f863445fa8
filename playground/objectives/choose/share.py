"""Choose a share of the tokens, rounded up."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

from torch import Generator

from playground.batch import Action, Batch
from playground.knob import knob
from playground.objectives import plan_overrides
from playground.objectives.choose.tokens import Chosen, describe_chosen, override_chosen
from playground.objectives.ops import sampling
from playground.objectives.stage import Choose, PlanOverrides


@dataclass(frozen=True)
class ChooseRatio(Choose):
    """Mark a share of the tokens that are still shown, rounded up (BART, arXiv:1910.13461, sec. 2.2, and fairseq)."""

    mask_ratio: float = knob(0.3, 0.0, 1.0, unit="share of tokens", why="More gaps, less context.")
    keys: ClassVar[tuple[str, ...]] = ("chosen",)

    def plan(self, batch: Batch, rng: Generator) -> Chosen:
        shown = batch.maskable & (batch.actions == Action.KEPT)
        number = sampling.ceiling(self.mask_ratio, batch.maskable.sum(1))
        return Chosen(sampling.exactly(number, shown, rng))

    def build(self, batch: Batch, plan: Chosen) -> Batch:
        return replace(batch, selected=plan.positions & batch.maskable & (batch.actions == Action.KEPT))

    override_plan = staticmethod(override_chosen)
    describe_plan = staticmethod(describe_chosen)


@dataclass(frozen=True)
class ChooseForDeletion(Choose):
    """Mark a share of the tokens in the same way, for a chain that marks others too: these are called `deleted`."""

    delete_ratio: float = knob(0.3, 0.0, 1.0, unit="share of tokens", why="More words to predict without a mark.")
    keys: ClassVar[tuple[str, ...]] = ("deleted",)

    def plan(self, batch: Batch, rng: Generator) -> Chosen:
        return ChooseRatio(self.delete_ratio).plan(batch, rng)

    def build(self, batch: Batch, plan: Chosen) -> Batch:
        return ChooseRatio(self.delete_ratio).build(batch, plan)

    def override_plan(self, batch: Batch, plan: Chosen, overrides: PlanOverrides) -> Chosen:
        return Chosen(plan_overrides.positions(batch, overrides["deleted"])) if "deleted" in overrides else plan

    def describe_plan(self, batch: Batch, plan: Chosen, row: int) -> dict[str, Any]:
        return {"deleted": plan_overrides.words_of(batch, plan.positions, row)}
