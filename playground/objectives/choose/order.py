"""Choose an order of prediction."""

import math
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, ClassVar

import torch
from torch import Generator, Tensor

from playground.example import Example, Spans, certain
from playground.knob import knob
from playground.objectives import draw, wishes
from playground.objectives.choose.spans import inside
from playground.objectives.stage import Wishes
from playground.refusal import Refusal

LENGTHS = 5
"""The longest run of targets (XLNet, arXiv:1906.08237, sec. 3.1)."""

GRAMS = {"single": (1,), "harmonic": tuple(60 // n for n in range(1, LENGTHS + 1)), "uniform": (1,) * LENGTHS}
"""How often targets come in runs of 1, 2, ... tokens, relative to each other: 60 is divided by 1, 2, ... and 5."""


@dataclass(frozen=True)
class ChosenOrder:
    """The step at which each token comes, `[b, t]`, and how many tokens `[b]` stand at the end, behind the cut."""

    rank: Tensor
    predicted: Tensor


@cache
def _grams(kind: str, kept: float, device: torch.device) -> Tensor:
    """Lengths of runs, each as often as its share says, and the window that each lies in, `[2, g]`."""
    length = torch.tensor([n for n, share in enumerate(GRAMS[kind], 1) for _ in range(share)])
    return torch.stack([length, (kept * length.double()).ceil().long()]).to(device)


@dataclass(frozen=True)
class ChooseOrder:
    """Draw an order of prediction and predict its end only (XLNet, arXiv:1906.08237, sec. 2.2-2.3 and 3.1).

    Targets come as runs: each of length L lies somewhere in a window of K times L tokens; single ones fill up what is
    missing of 1 in K. Separators are never predicted; "drawn" lets them come between the targets (released code).
    """

    kept: float = knob(6.0, 1.0, 12.0, unit="tokens for each predicted one", why="K: the last 1/K of the order counts.")
    grams: str = knob("harmonic", choices=tuple(GRAMS), why="Runs are harder: chance 1/n (code), uniform, or none.")
    functional: str = knob("given", choices=("given", "drawn"), why="Whether separators are context or have a step.")
    keys: ClassVar[tuple[str, ...]] = ("order", "cut")

    def plan(self, example: Example, rng: Generator) -> ChosenOrder:
        candidates, real = example.maskable, example.tokens.real
        there = draw.how_many(candidates)
        number = (there.double() / self.kept).floor().long()
        number = torch.minimum(number.clamp(min=1), there)
        late = self._targets(example, number, rng)
        if self.functional == "drawn":
            late |= real & ~candidates
        group = late.int() + 2 * ~real if example.tokens.padded else late.int()
        return ChosenOrder(draw.shuffled(group, rng), late.sum(1))

    def _targets(self, example: Example, number: Tensor, rng: Generator) -> Tensor:
        """Exactly `number` `[b]` tokens of each text `[b, t]`: whole runs as far as they fit, then single ones."""
        candidates = example.maskable
        runs = self.runs(example.tokens.lengths, candidates.shape[1], rng)
        fits = self._held(runs, candidates).cumsum(1) <= number[:, None]
        taken = inside(replace(runs, length=runs.length.where(fits, -1)), candidates.shape[1]) & candidates
        return taken | draw.exactly(number - taken.sum(1), candidates & ~taken, rng)

    def _held(self, runs: Spans, candidates: Tensor) -> Tensor:
        """How many candidates each run holds, `[b, m]`."""
        length = runs.length.clamp(min=0)
        if certain(candidates):
            return length
        before = torch.nn.functional.pad(candidates.long().cumsum(1), (1, 0))
        ends = (runs.start + length).clamp(max=candidates.shape[1])
        return before.gather(1, ends) - before.gather(1, runs.start)

    def runs(self, lengths: Tensor, width: int, rng: Generator) -> Spans:
        """One run in each window of K times its length; the windows lie side by side, the rest of the text around."""
        rows = len(lengths)
        most = 0 if self.grams == "single" else math.ceil(width / self.kept)
        every = _grams(self.grams, self.kept, lengths.device)
        drawn = torch.randint(every.shape[1], (rows * most,), generator=rng, device=rng.device)
        length, window = every.gather(1, drawn.expand(2, -1)).view(2, rows, most)
        ends = window.cumsum(1)
        there = ends <= lengths[:, None]
        rest = lengths[:, None] - (window * there).sum(1, keepdim=True)
        where = draw.noise((rows, most + 1), rng)
        first = (where[:, :1] * (rest + 1)).long() + ends - window
        start = first + (where[:, 1:] * (window - length + 1)).long()
        return Spans(start * there, length.where(there, -1))

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
