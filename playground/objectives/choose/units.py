"""Choose whole words, phrases or names."""

from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Generator, Tensor

from playground.example import Example, Tokens
from playground.knob import knob
from playground.objectives import draw, wishes
from playground.objectives.choose.tokens import Chosen, chosen_of, share_of, wished
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
        if self.law == "iid":
            chosen = Chosen.at(units.whole(draw.some_places(self.rate, units.opens, rng)), units.opens)
            return self._or_one(chosen, units, rng) if self.min_one and self.rate else chosen
        budget = share_of(self.rate, example.maskable, self.specials)
        taken, order = take_at_random(units, budget, rng)
        positions = units.at(taken)
        return Chosen(at_least_one(positions, units, order, budget) if self.min_one else positions)

    def _or_one(self, chosen: Chosen, units: Runs, rng: Generator) -> Chosen:
        """The choice; where a row has none, any one of its units."""
        one = (draw.noise(tuple(units.count.shape), rng) * units.count).long()
        idle = (~chosen.positions.any(1)).nonzero()[:, 0]
        return Chosen(chosen.positions.index_copy(0, idle, units.rows(idle).of == one[idle, None]))

    def units(self, example: Example) -> Runs:
        """The units of each text; a special in the middle parts one in two."""
        number = unit_numbers(example.tokens, self.unit)
        return runs(example, example.maskable & (number >= 0), number)

    def build(self, example: Example, plan: Chosen) -> Example:
        return chosen_of(example, plan, example.maskable)

    def revise(self, example: Example, plan: Chosen, wanted: Wishes) -> Chosen:
        return wished(example, plan, wanted)

    def tell(self, example: Example, plan: Chosen, row: int) -> dict[str, Any]:
        return {"chosen": wishes.words_of(example, plan.positions, row)}


def unit_numbers(tokens: Tokens, unit: str) -> Tensor:
    """A number for the unit of each token, `[b, t]`, below 0 for none; neighbours of one number are one."""
    lacking = [name for name in LABELS[unit] if name not in tokens.labels]
    if lacking:
        raise Refusal(
            f"Choosing by {unit} needs the label {lacking[0]!r} of every token, which this text does not have."
        )
    kinds = [tokens.labels[name] for name in LABELS[unit]] or [tokens.word]
    kinds += [tokens.word] if unit == "knowledge" else []
    if len(kinds) == 1:
        return kinds[0]
    number = torch.full_like(tokens.word, -1)
    for place, kind in reversed(list(enumerate(kinds))):
        number = (kind * len(kinds) + place).where(kind >= 0, number)
    return number


def take_at_random(units: Runs, budget: Tensor, rng: Generator) -> tuple[Tensor, Tensor]:
    """Which units `[b, u]` are taken when they come at random and each that still fits is kept; how they came.

    Drawing with replacement and passing over what came before is a random order. What it leaves open after some
    draws, in few rows, is closed by taking one at random among the units that still fit until none does.
    """
    most = int(budget.max()) + SPARE if units.number.numel() else 0
    order = (draw.noise((len(budget), most), rng) * units.count[:, None]).long()
    taken = take_what_fits(units.length, order, budget)
    left = budget - (units.length * taken).sum(1)
    open_ = (left > 0).nonzero()[:, 0]
    size = units.length[open_].masked_fill(taken[open_], 0)
    taken[open_] |= _close(size, left[open_], rng)
    return taken, order


SPARE = 3
"""So many units more than the budget has tokens are drawn for all rows; it does not matter for what comes out."""


def _close(size: Tensor, left: Tensor, rng: Generator) -> Tensor:
    """Which units `[b, u]` of some sizes are taken, one after the other, at random among those that fit."""
    taken = torch.zeros_like(size, dtype=torch.bool)
    while bool((fits := (size > 0) & (size <= left[:, None])).any()):
        one = draw.noise(tuple(size.shape), rng).masked_fill(~fits, -1.0).argmax(1, keepdim=True)
        new = fits.gather(1, one)
        left = left - (size.gather(1, one) * new)[:, 0]
        size, taken = size.scatter(1, one, 0), taken.scatter(1, one, taken.gather(1, one) | new)
    return taken


def take_what_fits(size: Tensor, order: Tensor, budget: Tensor) -> Tensor:
    """Which units `[b, u]` are taken when they come in an order `[b, m]` and each one that still fits is kept.

    A unit that comes again is passed over: it was taken, or it did not fit and never will.
    """
    row, left, kept = torch.arange(len(size), device=size.device) * size.shape[1], budget, []
    flat, places = size.flatten().clone(), (order + row[:, None]).T.contiguous()
    for one in places.unbind():
        length = flat.take(one)
        fits = (length > 0) & (length <= left)
        left = left - length * fits
        flat.index_fill_(0, one, 0)
        kept.append(fits)
    taken = torch.zeros_like(size, dtype=torch.bool)
    if kept:
        taken.view(-1).index_fill_(0, places[torch.stack(kept)], True)
    return taken


def at_least_one(positions: Tensor, units: Runs, order: Tensor, budget: Tensor) -> Tensor:
    """The positions `[b, t]`; where there are none, the beginning of the first unit, as long as the budget."""
    idle = (~positions.any(1)).nonzero()[:, 0]
    unit = units.rows(idle).of == order[idle, :1]
    return positions.index_copy(0, idle, unit & (unit.cumsum(1) <= budget[idle, None]))
