"""Choose where a text is cut in two."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import torch
from torch import Generator, Tensor

from playground.batch import Batch
from playground.errors import Refusal
from playground.objectives import plan_overrides
from playground.objectives.ops import sampling
from playground.objectives.stage import Choose, Wishes


@dataclass(frozen=True)
class Split:
    """How many tokens `[b]` stand in the first part."""

    given: Tensor


@dataclass(frozen=True)
class ChooseSplit(Choose):
    """Cut the text in two, at every place with the same chance; the second part is predicted (T5, sec. 3.2.3).

    A text of one token has no second part and so no target.
    """

    keys: ClassVar[tuple[str, ...]] = ("split",)

    def plan(self, example: Batch, rng: Generator) -> Split:
        number = example.tokens.lengths
        places = (sampling.noise((len(number),), rng) * (number - 1)).long() + 1
        return Split(torch.minimum(places, number))

    def build(self, example: Batch, plan: Split) -> Batch:
        places = torch.arange(example.tokens.ids.shape[1], device=plan.given.device)
        return replace(example, selected=(places >= plan.given[:, None]) & example.tokens.valid)

    def revise(self, example: Batch, plan: Split, wanted: Wishes) -> Split:
        if "split" not in wanted:
            return plan
        count, split = plan_overrides.word_count(example.tokens), wanted["split"]
        if not 1 <= split < max(count, 2):
            right = f"it must lie between 1 and {count - 1}, so that both parts have a word"
            alone = "a text of one word has no second part, so only 1 would be right"
            raise Refusal(f"The split is {plan_overrides.short(split)}; {right if count > 1 else alone}.")
        return Split(plan_overrides.places(example, range(1, split + 1)).sum(1))

    def tell(self, example: Batch, plan: Split, row: int) -> dict[str, Any]:
        given = torch.arange(example.tokens.ids.shape[1], device=plan.given.device) < plan.given[row]
        words = len(plan_overrides.words_of(example, given.expand_as(example.selected), row))
        every = len(plan_overrides.words_of(example, example.tokens.valid, row))
        return {"split": min(words, max(1, every - 1))}  # within the last word no whole word is left to be written
