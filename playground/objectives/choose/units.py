"""Choose whole words, phrases or names."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import torch
from torch import Generator, Tensor

from playground.example import Example, Tokens
from playground.knob import knob
from playground.objectives import draw, wishes
from playground.objectives.choose.tokens import Chosen, share_of, wished
from playground.objectives.runs import Runs, runs
from playground.objectives.stage import Wishes
from playground.refusal import Refusal

LABELS = {"word": (), "phrase": ("phrase",), "entity": ("mention",), "knowledge": ("mention", "phrase")}
"""The labels, running numbers over the units of a text, that each kind of unit is read from."""


@dataclass(frozen=True)
class ChooseUnits:
    """Mark whole units: words (BERT-wwm, arXiv:1906.08101), phrases or names (ERNIE, arXiv:1904.09223, sec. 3.2).

    "knowledge" takes names, else phrases, else words. "budget" shuffles the units and takes each one that still fits
    into the share of tokens (BERT's released code); "iid" takes each with the same chance (ERNIE, transformers).
    """

    unit: str = "word"
    rate: float = knob(0.15, 0.0, 1.0, unit="share of tokens", why="More gaps, less context.")
    law: str = knob("budget", choices=("budget", "iid"), why="A budget is never passed; independent draws can be.")
    min_one: bool = knob(True, why="Never without a target: cut a unit where none fits, take one where none came up.")
    specials: int = knob(2, 0, 3, unit="tokens", why="BERT counts [CLS] and [SEP] when it takes its share.")
    keys: ClassVar[tuple[str, ...]] = ("chosen",)

    def plan(self, example: Example, rng: Generator) -> Chosen:
        units = self.units(example)
        dice = draw.noise(tuple(units.of.shape), rng).masked_fill(units.length == 0, 2.0)
        if self.law == "iid":
            lowest = draw.rank(dice) == 0
            return Chosen(units.at((dice < self.rate) | (lowest & self.min_one & (self.rate > 0))))
        budget, order = share_of(self.rate, example.maskable, self.specials), dice.argsort(dim=1)
        positions = units.at(take_what_fits(units.length, order, budget))
        return Chosen(at_least_one(positions, units, order, budget) if self.min_one else positions)

    def units(self, example: Example) -> Runs:
        """The units of each text; a special in the middle parts one in two."""
        number = unit_numbers(example.tokens, self.unit)
        return runs(example, example.maskable & (number >= 0), number)

    def build(self, example: Example, plan: Chosen) -> Example:
        return replace(example, chosen=plan.positions & example.maskable)

    def revise(self, example: Example, plan: Chosen, wanted: Wishes) -> Chosen:
        return wished(example, plan, wanted)

    def tell(self, example: Example, plan: Chosen, row: int) -> dict[str, Any]:
        return {"chosen": wishes.words_of(example, plan.positions, row)}


def unit_numbers(tokens: Tokens, unit: str) -> Tensor:
    """A number for the unit that each token belongs to, `[b, t]`, -1 for none; neighbours of one number are one."""
    lacking = [name for name in LABELS[unit] if name not in tokens.labels]
    if lacking:
        raise Refusal(
            f"Choosing by {unit} needs the label {lacking[0]!r} of every token, which this text does not have."
        )
    kinds = [tokens.labels[name] for name in LABELS[unit]] or [tokens.word]
    kinds += [tokens.word] if unit == "knowledge" else []
    number = torch.full_like(tokens.word, -1)
    for place, kind in reversed(list(enumerate(kinds))):
        number = (kind * len(kinds) + place).where(kind >= 0, number)
    return number


def take_what_fits(size: Tensor, order: Tensor, budget: Tensor) -> Tensor:
    """Which units `[b, u]` are taken when they come in an order `[b, u]` and each one that still fits is kept."""
    left, taken = budget, []
    for one in size.gather(1, order).unbind(1):
        fits = (one > 0) & (one <= left)
        left = left - one * fits
        taken.append(fits)
        if not bool(left.any()):
            break
    none = torch.zeros_like(size, dtype=torch.bool)
    return none.scatter(1, order[:, : len(taken)], torch.stack(taken, dim=1)) if taken else none


def at_least_one(positions: Tensor, units: Runs, order: Tensor, budget: Tensor) -> Tensor:
    """The positions `[b, t]`; where there are none, the beginning of the first unit, as long as the budget."""
    first = units.of == order[:, :1]
    begun = first & (first.long().cumsum(1) <= budget[:, None])
    return positions | (begun & ~positions.any(1, keepdim=True))
