"""Choose an order of prediction."""

import math
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, ClassVar

import torch
from torch import Generator, Tensor

from playground.batch import Batch, Spans, Tokens, is_all_true
from playground.errors import Refusal
from playground.knob import knob
from playground.objectives import plan_overrides
from playground.objectives.choose.spans import inside
from playground.objectives.ops import sampling
from playground.objectives.stage import Choose, Wishes

CONTEXT = 5
"""Salt of the draw of what comes before the targets."""

LENGTHS = 5
"""The longest run of targets (XLNet, arXiv:1906.08237, sec. 3.1)."""

LAWS = ("ours", "xlnet", "hf")

GRAMS = {"single": (1,), "harmonic": tuple(60 // n for n in range(1, LENGTHS + 1)), "uniform": (1,) * LENGTHS}
"""How often targets come in runs of 1, 2, ... tokens, relative to each other: 60 is divided by 1, 2, ... and 5."""


@dataclass(frozen=True)
class ChosenOrder:
    """The step at which each token comes, `[b, t]`, and how many tokens `[b]` stand at the end, behind the cut."""

    rank: Tensor
    predicted: Tensor


@cache
def _grams(kind: str, kept: float, law: str, device: torch.device) -> Tensor:
    """Lengths of runs, each as often as its share says, the window that each lies in and the starts in it, `[3, g]`."""
    length = torch.tensor([n for n, share in enumerate(GRAMS[kind], 1) for _ in range(share)])
    wide = kept * length.double()
    window = wide.ceil().long() if law == "ours" else wide.long() + length * (law == "xlnet")
    return torch.stack([length, window, window - length + (law != "xlnet")]).to(device)


@dataclass(frozen=True)
class ChooseOrder(Choose):
    """Draw an order of prediction and predict its end only (XLNet, arXiv:1906.08237, sec. 2.2-2.3 and 3.1).

    Targets come as runs: each of length L lies somewhere in a window of K times L tokens; single ones fill up what is
    missing of 1 in K. `sampler` says where the windows lie. "ours": side by side from any place on, and behind the last
    word the text goes on with its first, so that every place is a target equally often. "xlnet": from the first word
    on, each as long as its run and K times that, and a run that reaches the end is left out (released code). "hf": from
    the first word on, and nothing fills up: a short text often has no target (Hugging Face's collator). Separators are
    never predicted; "drawn" lets them come between the targets (released code).
    """

    partial_prediction_k: float = knob(
        6.0, 1.0, 12.0, unit="tokens for each predicted one", why="K: the last 1/K of the order counts."
    )
    ngram_weights: str = knob(
        "harmonic", choices=tuple(GRAMS), why="Runs are harder: chance 1/n (code), uniform, or none."
    )
    special_tokens: str = knob(
        "given", choices=("given", "drawn"), why="Whether separators are context or have a step."
    )
    sampler: str = knob(
        "ours", choices=LAWS, why="Where runs lie, and whether the share is met: ours, XLNet's code, HF's."
    )
    keys: ClassVar[tuple[str, ...]] = ("order", "cut")

    def plan(self, example: Batch, rng: Generator) -> ChosenOrder:
        candidates, real = example.maskable, example.tokens.valid
        there = sampling.how_many(candidates)
        number = self.number(there[:1]).expand_as(there) if is_all_true(candidates) else self.number(there)
        late = self._targets(example, number, rng)
        number = late.sum(1) if self.sampler == "hf" else number
        if self.special_tokens == "given":
            return self._drawn(example.tokens, late, number, rng)
        late |= real & ~candidates
        group = late.int() + 2 * ~real if example.tokens.padded else late.int()
        return ChosenOrder(sampling.shuffled(group, rng), late.sum(1))

    def _drawn(self, tokens: Tokens, late: Tensor, number: Tensor, rng: Generator) -> ChosenOrder:
        """The order of so many targets `[b]`; what comes before them has an order of its own, padding is the end."""
        target = torch.zeros(late.shape, dtype=torch.long, device=late.device)
        places = late.flatten().nonzero()[:, 0]
        target.view(-1).index_copy_(0, places, sampling.orders(tokens.lengths - number, number, rng))
        lot = torch.randint(2**62, (1,), generator=rng, device=rng.device)
        row = lot + torch.arange(len(tokens.ids), device=lot.device)
        dice = sampling.fixed_noise(row, torch.zeros_like(row), tokens.ids.shape[1], CONTEXT)
        return ChosenOrder(target.where(late, sampling.rank(dice + 2.0 * late + 4.0 * ~tokens.valid)), number)

    def number(self, there: Tensor) -> Tensor:
        """How many of so many tokens `[b]` are predicted: 1 in K, but one where there is any."""
        number = (there.double() / self.partial_prediction_k).floor().long()
        return torch.minimum(number.clamp(min=1), there)

    def _targets(self, example: Batch, number: Tensor, rng: Generator) -> Tensor:
        """Exactly `number` `[b]` tokens of each text `[b, t]`: whole runs as far as they fit, then single ones."""
        candidates, lengths = example.maskable, example.tokens.lengths
        runs = self.runs(lengths, candidates.shape[1], rng)
        if self.sampler == "hf":
            return inside(runs, candidates.shape[1]) & candidates
        fits = _held(runs, lengths, candidates).cumsum(1) <= number[:, None]
        taken = around(Spans(runs.start, runs.length.where(fits, -1)), lengths, candidates.shape[1])
        taken = taken if is_all_true(candidates) else taken & candidates
        free = ~taken if is_all_true(candidates) else candidates & ~taken
        return taken.logical_or_(sampling.exactly(number - sampling.how_many(taken), free, rng))

    def runs(self, lengths: Tensor, width: int, rng: Generator) -> Spans:
        """One run in each window, window by window; under our own law one may go on at the begin of the text."""
        rows, ours = len(lengths), self.sampler == "ours"
        most = (
            0 if ours and self.ngram_weights == "single" else math.ceil(width / max(1, int(self.partial_prediction_k)))
        )
        every = _grams(self.ngram_weights, self.partial_prediction_k, self.sampler, lengths.device)
        drawn = torch.randint(every.shape[1], (rows * most,), generator=rng, device=rng.device)
        length, window, starts = every.gather(1, drawn.expand(3, -1)).view(3, rows, most)
        where = sampling.noise((rows, most + 1), rng)
        ends, text = window.cumsum(1), lengths[:, None]
        start = ends - window + (where[:, 1:] * starts).long()
        if ours:
            there = ends <= text
            start = start.add_((where[:, :1] * text).long()).remainder_(text.clamp(min=1))
            return Spans(start.mul_(there), length.where(there, -1))
        there = start < text if self.sampler == "hf" else start + length < text
        return Spans(start * there, torch.minimum(length, text - start).where(there, -1))

    def build(self, example: Batch, plan: ChosenOrder) -> Batch:
        first = example.tokens.lengths - plan.predicted
        return replace(example, selected=(plan.rank >= first[:, None]) & example.maskable, prediction_order=plan.rank)

    def revise(self, example: Batch, plan: ChosenOrder, wanted: Wishes) -> ChosenOrder:
        if "order" in wanted:
            plan = replace(plan, rank=plan_overrides.order(example, wanted["order"]))
        if "cut" in wanted:
            plan = replace(plan, predicted=self._after(example, plan.rank, wanted["cut"]))
        return plan

    def _after(self, example: Batch, rank: Tensor, cut: int) -> Tensor:
        most = plan_overrides.word_count(example.tokens) - self._fewest
        if not 0 <= cut <= most:
            left = ", so that a word is left to predict" if self._fewest else ""
            raise Refusal(f"The cut is {cut}; it must lie between 0 and {most}{left}.")
        given = plan_overrides.words_in_order(example, rank, 0)[:cut]
        return example.tokens.lengths - plan_overrides.places(example, given).sum(1)

    def tell(self, example: Batch, plan: ChosenOrder, row: int) -> dict[str, Any]:
        in_order = plan_overrides.words_in_order(example, plan.rank, row)
        first = int(example.tokens.lengths[row] - plan.predicted[row])
        given = {int(w) for w in example.tokens.word_ids[row][(plan.rank[row] < first) & example.tokens.valid[row]]}
        return {"order": in_order, "cut": min(len(given), max(0, len(in_order) - self._fewest))}

    @property
    def _fewest(self) -> int:
        """How many words are predicted at least: one, but none where nothing fills up."""
        return int(self.sampler != "hf")


def around(runs: Spans, lengths: Tensor, width: int) -> Tensor:
    """Which places `[b, t]` lie in a run; a run that reaches over the end of the text goes on at its begin."""
    used = runs.length > 0
    after = _after(runs, lengths)
    steps = runs.start.new_zeros((len(used), width + 1), dtype=torch.short)
    steps.scatter_add_(1, runs.start, used.short())
    steps.scatter_add_(1, after, -used.short())
    turned = (after <= runs.start).logical_and_(used).sum(1, keepdim=True, dtype=torch.short)
    steps[:, :1] += turned
    steps.scatter_add_(1, lengths[:, None], -turned)
    return steps.cumsum(1, dtype=torch.short)[:, :width].bool()


def _after(runs: Spans, lengths: Tensor) -> Tensor:
    """The place right behind each run `[b, m]`, counted from 0 again at the end of the text."""
    return (runs.start + runs.length).remainder_(lengths[:, None].clamp(min=1))


def _held(runs: Spans, lengths: Tensor, candidates: Tensor) -> Tensor:
    """How many candidates each run holds, `[b, m]`."""
    used = runs.length > 0
    if is_all_true(candidates):
        return runs.length * used
    before = torch.nn.functional.pad(candidates.long().cumsum(1), (1, 0))
    after = _after(runs, lengths)
    turned = before[:, -1:] * (after <= runs.start)
    return (before.gather(1, after) - before.gather(1, runs.start) + turned) * used
