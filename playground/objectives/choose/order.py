"""Choose an order of prediction."""

import math
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

import torch
from torch import Generator, Tensor

from playground.example import Example, Spans, Tokens, certain
from playground.knob import knob
from playground.late import Later, made, replace
from playground.objectives import draw, wishes
from playground.objectives.choose.spans import inside
from playground.objectives.stage import Wishes
from playground.refusal import Refusal

CONTEXT = 5
"""Salt of the draw of what comes before the targets."""

LENGTHS = 5
"""The longest run of targets (XLNet, arXiv:1906.08237, sec. 3.1)."""

GRAMS = {"single": (1,), "harmonic": tuple(60 // n for n in range(1, LENGTHS + 1)), "uniform": (1,) * LENGTHS}
"""How often targets come in runs of 1, 2, ... tokens, relative to each other: 60 is divided by 1, 2, ... and 5."""


@dataclass(frozen=True)
class ChosenOrder:
    """The step at which each token comes, `[b, t]`, and how many tokens `[b]` stand at the end, behind the cut."""

    rank: Tensor
    predicted: Tensor


@dataclass(frozen=True)
class Turns:
    """What a model needs of a drawn order: which tokens `[b, t]` come late and at which step, -1 for the others."""

    late: Tensor
    step: Tensor

    def rank(self, tokens: Tokens, lot: Tensor) -> Tensor:
        """The whole order `[b, t]`: what comes before follows from a `lot [1]` of its own, padding is the end."""
        row = lot + torch.arange(len(tokens.ids), device=lot.device)
        dice = draw.fixed_noise(row, torch.zeros_like(row), tokens.ids.shape[1], CONTEXT)
        return self.step.long().where(self.late, draw.rank(dice + 2.0 * self.late + 4.0 * ~tokens.real))


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
        number = self.number(there[:1]).expand_as(there) if certain(candidates) else self.number(there)
        late = self._targets(example, number, rng)
        if self.functional == "given":
            return self._drawn(example.tokens, late, number, rng)
        late |= real & ~candidates
        group = late.int() + 2 * ~real if example.tokens.padded else late.int()
        return ChosenOrder(draw.shuffled(group, rng), late.sum(1))

    def _drawn(self, tokens: Tokens, late: Tensor, number: Tensor, rng: Generator) -> ChosenOrder:
        """The order of so many targets `[b]`; that of what comes before is found when somebody looks."""
        step = torch.full(late.shape, -1, dtype=torch.short, device=late.device)
        places = late.flatten().nonzero()[:, 0]
        step.view(-1).index_copy_(0, places, draw.orders(tokens.lengths - number, number, rng).short())
        turns, lot = Turns(late, step), torch.randint(2**62, (1,), generator=rng, device=rng.device)
        plan = made(ChosenOrder, rank=Later(turns.rank, tokens, lot), predicted=number)
        vars(plan)["turns"] = turns
        return plan

    def number(self, there: Tensor) -> Tensor:
        """How many of so many tokens `[b]` are predicted: 1 in K, but one where there is any."""
        number = (there.double() / self.kept).floor().long()
        return torch.minimum(number.clamp(min=1), there)

    def _targets(self, example: Example, number: Tensor, rng: Generator) -> Tensor:
        """Exactly `number` `[b]` tokens of each text `[b, t]`: whole runs as far as they fit, then single ones."""
        candidates = example.maskable
        runs = self.runs(example.tokens.lengths, candidates.shape[1], rng)
        fits = self._held(runs, candidates).cumsum(1) <= number[:, None]
        taken = inside(Spans(runs.start, runs.length.where(fits, -1)), candidates.shape[1])
        taken = taken if certain(candidates) else taken & candidates
        free = ~taken if certain(candidates) else candidates & ~taken
        return taken.logical_or_(draw.exactly(number - draw.how_many(taken), free, rng))

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
        turns: Turns | None = vars(plan).get("turns")
        if turns is None:
            first = example.tokens.lengths - plan.predicted
            late = (plan.rank >= first[:, None]) & example.maskable
            return replace(example, chosen=late, rank=plan.rank)
        told = replace(example, chosen=turns.late, rank=Later(getattr, plan, "rank"))
        vars(told)["turns"] = turns.step
        return told

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
