"""Choose where a text is cut in two."""

from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Generator, Tensor

from playground.batch import Batch, arange_rows
from playground.errors import UserError
from playground.knob import knob
from playground.objectives import plan_overrides
from playground.objectives.ops import sampling
from playground.objectives.stage import Choose, PlanOverrides


@dataclass(frozen=True)
class ChooseSplit(Choose):
    """Cut the text in two, at every position equally often; the second part is predicted (T5, sec. 3.2.3).

    A smaller `noise_density` draws the length of the second part from 1 up to twice that share, each with the same
    chance (UL2, arXiv:2205.05131, sec. 3.1, as in MosaicML's llm-foundry). A text of one token has no second part and
    so no target.
    """

    noise_density: float = knob(
        0.5, 0.0, 0.5, unit="share of tokens", why="Length of the second part on average; half cuts anywhere."
    )
    keys = ("split",)

    def plan(self, batch: Batch, rng: Generator) -> Tensor:
        """How many tokens `[b]` stand in the first part."""
        number = batch.tokens.lengths
        longest = (2 * self.noise_density * (number - 1)).round().long().clamp(min=1)
        longest = torch.minimum(longest, (number - 1).clamp(min=0))
        return number - longest + (sampling.noise((len(number),), rng) * longest).long()

    def build(self, batch: Batch, plan: Tensor) -> Batch:
        return replace(batch, selected=(arange_rows(batch.tokens.ids) >= plan[:, None]) & batch.tokens.valid)

    def override_plan(self, batch: Batch, plan: Tensor, overrides: PlanOverrides) -> Tensor:
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
