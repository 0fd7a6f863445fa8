"""Choose where a text is cut in two."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import torch
from torch import Generator, Tensor

from playground.batch import Batch, arange_rows
from playground.errors import UserError
from playground.objectives import plan_overrides
from playground.objectives.ops import sampling
from playground.objectives.stage import Choose, Wishes


@dataclass(frozen=True)
class ChooseSplit(Choose):
    """Cut the text in two, at every position equally often; the second part is predicted (T5, sec. 3.2.3).

    A text of one token has no second part and so no target.
    """

    keys: ClassVar[tuple[str, ...]] = ("split",)

    def plan(self, example: Batch, rng: Generator) -> Tensor:
        """How many tokens `[b]` stand in the first part."""
        number = example.tokens.lengths
        return torch.minimum((sampling.noise((len(number),), rng) * (number - 1)).long() + 1, number)

    def build(self, example: Batch, plan: Tensor) -> Batch:
        return replace(example, selected=(arange_rows(example.tokens.ids) >= plan[:, None]) & example.tokens.valid)

    def revise(self, example: Batch, plan: Tensor, wanted: Wishes) -> Tensor:
        if "split" not in wanted:
            return plan
        count, split = plan_overrides.word_count(example.tokens), wanted["split"]
        if not 1 <= split < max(count, 2):
            right = f"it must lie between 1 and {count - 1}, so that both parts have a word"
            alone = "a text of one word has no second part, so only 1 is possible"
            raise UserError(f"The split is {plan_overrides.short(split)}; {right if count > 1 else alone}.")
        return plan_overrides.places(example, range(1, split + 1)).sum(1)

    def tell(self, example: Batch, plan: Tensor, row: int) -> dict[str, Any]:
        words = len(plan_overrides.words_of(example, arange_rows(example.tokens.ids) < plan[:, None], row))
        every = len(plan_overrides.words_of(example, example.tokens.valid, row))
        return {"split": min(words, max(1, every - 1))}  # within the last word no whole word is left to be written
