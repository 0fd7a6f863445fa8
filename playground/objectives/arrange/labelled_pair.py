"""Arrange two texts whose relation the corpus has labelled."""

from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Generator, Tensor

from playground.batch import Batch
from playground.errors import UserError
from playground.knob import knob
from playground.objectives.arrange.pair import FORMS, ArrangePair
from playground.objectives.stage import Arrange, PlanOverrides


@dataclass(frozen=True)
class LabelledPair(Arrange):
    """Two texts in one row, and how annotators judged them (InferSent, arXiv:1705.02364, sec. 3.1).

    Nothing is drawn: the plan is the label of each pair, -1 where there is none. A plan by hand labels a typed pair by
    one of the names of `outcomes`.
    """

    label: str
    outcomes: tuple[str, ...]
    pair_format: str = knob("bert", choices=tuple(FORMS), why="Which special tokens are put around the two texts.")
    reset_position_ids: bool = knob(
        False, why="Count positions from 0 again in the second text, so that both use the same numbers."
    )
    keys = ("pair",)

    def plan(self, batch: Batch, rng: Generator) -> Tensor:
        """The label of each pair, `[b]`; -1 for none."""
        tokens = batch.tokens
        if self.label not in tokens.labels or not tokens.ids.shape[1]:
            return torch.full_like(tokens.lengths, -1)
        return tokens.labels[self.label].masked_fill(~tokens.valid, -1).amax(1)

    def build(self, batch: Batch, plan: Tensor) -> Batch:
        pair = ArrangePair(("next",), self.pair_format, self.reset_position_ids)
        text = pair.build(batch, torch.zeros_like(plan))
        labels = {**text.tokens.labels, self.label: plan[:, None].expand(text.tokens.ids.shape)}
        return replace(text, tokens=replace(text.tokens, labels=labels))

    def override_plan(self, batch: Batch, plan: Tensor, overrides: PlanOverrides) -> Tensor:
        if overrides["pair"] not in self.outcomes:
            raise UserError(f"The pair is {overrides['pair']!r}; it must be one of {', '.join(self.outcomes)}.")
        return torch.full_like(plan, self.outcomes.index(overrides["pair"]))

    def describe_plan(self, batch: Batch, plan: Tensor, row: int) -> dict[str, Any]:
        number = int(plan[row])
        return {"pair": self.outcomes[number]} if 0 <= number < len(self.outcomes) else {}
