"""Choose where a text is cut in two."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import torch
from torch import Generator, Tensor

from playground.batch import Batch, arange_rows
from playground.errors import UserError
from playground.objectives import plan_overrides
from playground.objectives.ops import sampling
from playground.objectives.stage import Choose, PlanOverrides


@dataclass(frozen=True)
class ChooseSplit(Choose):
    """Cut the text in two, at every position equally often; the second part is predicted (T5, sec. 3.2.3).

    A text of one token has no second part and so no target.
    """

    keys: ClassVar[tuple[str, ...]] = ("split",)

    def plan(self, batch: Batch, rng: Generator) -> Tensor:
        """How many tokens `[b]` stand in the first part."""
        number = batch.tokens.lengths
        return torch.minimum((sampling.noise((len(number),), rng) * (number - 1)).long() + 1, number)

    def build(self, batch: Batch, plan: Tensor) -> Batch:
        return replace(batch, selected=(arange_rows(batch.tokens.ids) >= plan[:, None]) & batch.tokens.valid)

    def override_plan(self, batch: Batch, plan: Tensor, overrides: PlanOverrides) -> Tensor:
        if "split" not in overrides:
            return plan
        count, split = plan_overrides.word_count(batch.tokens), overrides["split"]
        if not 1 <= split < max(count, 2):
            right = f"it must lie between 1 and {count - 1}, so that both parts have a word"
            alone = "a text of one word has no second part, so only 1 is possible"
            raise UserError(f"The split is {plan_overrides.short(split)}; {right if count > 1 else alone}.")
        return plan_overrides.positions(batch, range(1, split + 1)).sum(1)

    def describe_plan(self, batch: Batch, plan: Tensor, row: int) -> dict[str, Any]:
        words = len(plan_overrides.words_of(batch, arange_rows(batch.tokens.ids) < plan[:, None], row))
        every = len(plan_overrides.words_of(batch, batch.tokens.valid, row))
        return {"split": min(words, max(1, every - 1))}  # within the last word no whole word is left to be written
