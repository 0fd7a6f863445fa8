"""Choose an order of prediction."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import torch
from torch import Generator, Tensor

from playground.example import Example
from playground.knob import knob
from playground.objectives import draw, wishes
from playground.objectives.stage import Wishes
from playground.refusal import Refusal


@dataclass(frozen=True)
class ChosenOrder:
    """The step at which each token comes, `[b, t]`, and how many tokens `[b]` at the end of the order are predicted."""

    rank: Tensor
    predicted: Tensor


@dataclass(frozen=True)
class ChooseOrder:
    """Draw an order of prediction and predict its end only (XLNet, arXiv:1906.08237, sec. 2.2-2.3)."""

    kept: float = knob(6.0, 1.0, 12.0, unit="tokens for each predicted one", why="K: the last 1/K of the order counts.")
    keys: ClassVar[tuple[str, ...]] = ("order", "cut")

    def plan(self, example: Example, rng: Generator) -> ChosenOrder:
        candidates = example.maskable
        predicted = (candidates.sum(1).double() / self.kept).floor().long()
        predicted = torch.minimum(predicted.clamp(min=1), candidates.sum(1))
        lottery = draw.noise(tuple(candidates.shape), rng)
        targets = draw.exactly(predicted, candidates, rng)
        padding = ~example.tokens.real
        return ChosenOrder(draw.rank(lottery + targets * 2.0 + padding * 4.0), predicted)

    def build(self, example: Example, plan: ChosenOrder) -> Example:
        first = example.tokens.lengths - plan.predicted
        late = (plan.rank >= first[:, None]) & example.maskable
        return replace(example, chosen=late, rank=plan.rank)

    def revise(self, example: Example, plan: ChosenOrder, wanted: Wishes) -> ChosenOrder:
        if "order" in wanted:
            plan = replace(plan, rank=wishes.order(example, wanted["order"]))
        if "cut" in wanted:
            plan = replace(plan, predicted=self._after(example, plan.rank, wanted["cut"]))
        return plan

    def _after(self, example: Example, rank: Tensor, cut: int) -> Tensor:
        count = wishes.word_count(example.tokens)
        if not 0 <= cut < count:
            raise Refusal(
                f"The cut is {cut}; it must lie between 0 and {count - 1}, so that a word is left to predict."
            )
        given = wishes.words_in_order(example, rank, 0)[:cut]
        return example.tokens.lengths - wishes.places(example, given).sum(1)

    def tell(self, example: Example, plan: ChosenOrder, row: int) -> dict[str, Any]:
        in_order = wishes.words_in_order(example, plan.rank, row)
        first = int(example.tokens.lengths[row] - plan.predicted[row])
        given = {int(w) for w in example.tokens.word[row][(plan.rank[row] < first) & example.tokens.real[row]]}
        return {"order": in_order, "cut": min(len(given), max(0, len(in_order) - 1))}
