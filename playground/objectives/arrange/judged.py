"""Arrange two texts whose relation the corpus has labelled."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import torch
from torch import Generator, Tensor

from playground.batch import Batch
from playground.errors import UserError
from playground.knob import knob
from playground.objectives.arrange.pair import FORMS, ArrangePair
from playground.objectives.stage import Arrange, Wishes


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
    keys: ClassVar[tuple[str, ...]] = ("pair",)

    def plan(self, example: Batch, rng: Generator) -> Tensor:
        """The label of each pair, `[b]`; -1 for none."""
        tokens = example.tokens
        if self.label not in tokens.labels or not tokens.ids.shape[1]:
            return torch.full_like(tokens.lengths, -1)
        return tokens.labels[self.label].masked_fill(~tokens.valid, -1).amax(1)

    def build(self, example: Batch, plan: Tensor) -> Batch:
        pair = ArrangePair(("next",), self.pair_format, self.reset_position_ids)
        text = pair.build(example, torch.zeros_like(plan))
        labels = {**text.tokens.labels, self.label: plan[:, None].expand(text.tokens.ids.shape)}
        return replace(text, tokens=replace(text.tokens, labels=labels))

    def revise(self, example: Batch, plan: Tensor, wanted: Wishes) -> Tensor:
        if "pair" not in wanted:
            return plan
        if wanted["pair"] not in self.outcomes:
            raise UserError(f"The pair is {wanted['pair']!r}; it must be one of {', '.join(self.outcomes)}.")
        return torch.full_like(plan, self.outcomes.index(wanted["pair"]))

    def tell(self, example: Batch, plan: Tensor, row: int) -> dict[str, Any]:
        number = int(plan[row])
        return {"pair": self.outcomes[number]} if 0 <= number < len(self.outcomes) else {}
