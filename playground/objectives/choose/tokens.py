"""Choose single tokens."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import torch
from torch import Generator, Tensor

from playground.example import Example
from playground.knob import knob
from playground.objectives import draw, wishes
from playground.objectives.stage import Wishes


@dataclass(frozen=True)
class Chosen:
    """Positions of the text, `[b, t]`."""

    positions: Tensor


@dataclass(frozen=True)
class ChooseTokens:
    """Mark a share of the tokens of each row, exact in number (BERT, arXiv:1810.04805, sec. 3.1 and released code)."""

    rate: float = knob(0.15, 0.0, 1.0, unit="share of tokens", why="More gaps, less context.")
    selection: str = knob("exact", choices=("exact", "iid"), why="BERT counts exactly; independent draws can miss all.")
    specials: int = knob(2, 0, 2, unit="tokens", why="BERT counts [CLS] and [SEP] when it takes its share.")
    keys: ClassVar[tuple[str, ...]] = ("chosen",)

    def plan(self, example: Example, rng: Generator) -> Chosen:
        candidates = example.maskable
        if self.selection == "iid":
            return Chosen((draw.noise(tuple(candidates.shape), rng) < self.rate) & candidates)
        return Chosen(draw.exactly(self.count(candidates), candidates, rng))

    def count(self, candidates: Tensor) -> Tensor:
        """How many tokens `[b]`: the share rounded half to even, at least one where the rate is not 0."""
        number = candidates.sum(1)
        least = 1 if self.rate > 0 else 0
        return torch.minimum(draw.half_even(self.rate, number + self.specials).clamp(min=least), number)

    def build(self, example: Example, plan: Chosen) -> Example:
        return replace(example, chosen=plan.positions & example.maskable)

    def revise(self, example: Example, plan: Chosen, wanted: Wishes) -> Chosen:
        return Chosen(wishes.places(example, wanted["chosen"])) if "chosen" in wanted else plan

    def tell(self, example: Example, plan: Chosen, row: int) -> dict[str, Any]:
        return {"chosen": wishes.words_of(example, plan.positions, row)}
