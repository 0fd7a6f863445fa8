"""Choose an order of prediction."""

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import torch
from torch import Generator, Tensor
from torch.nn.functional import pad

from playground.batch import Batch, Spans, Tokens, arange
from playground.errors import UserError
from playground.knob import knob
from playground.objectives import plan_overrides
from playground.objectives.choose.spans import inside
from playground.objectives.ops import sampling
from playground.objectives.stage import Choose, PlanOverrides

CONTEXT = 5
"""Salt of the draw of what comes before the targets."""

LENGTHS = 5
"""The longest span of targets (XLNet, arXiv:1906.08237, sec. 3.1)."""

LAWS = ("ours", "xlnet", "hf")

MOST, LAST = 50, 999
"""The most words of a fixed order, and the last position of one."""

GRAMS = {"single": (1,), "harmonic": tuple(60 // n for n in range(1, LENGTHS + 1)), "uniform": (1,) * LENGTHS}
"""How often targets come in spans of 1, 2, ... tokens, relative to each other: 60 is divided by 1, 2, ... and 5."""


@dataclass(frozen=True)
class ChosenOrder:
    """The step at which each token comes, `[b, t]`, and how many tokens `[b]` come after the cut."""

    rank: Tensor
    predicted: Tensor


@dataclass(frozen=True)
class OrderOverride:
    """Words, by their positions from 1, that come in this order in every text; `part` of a mixture, from 1, else 0."""

    kind: ClassVar[str] = "order"
    positions: tuple[int, ...]
    part: int = 0

    def __post_init__(self) -> None:
        order, distinct = self.positions, set(self.positions)
        if not (2 <= len(order) == len(distinct) <= MOST and all(1 <= word <= LAST for word in order)):
            raise UserError(
                f"The order {','.join(map(str, order)) or 'of no words'} cannot be trained with; name 2 to {MOST} word "
                f"positions from 1 to {LAST}, each once, such as 3,1,2."
            )

    @property
    def words(self) -> str:
        """The same in a sentence."""
        *others, last = map(str, self.positions)
        return f"words {', '.join(others)} and {last} come in this order, the others as drawn"


@dataclass(frozen=True)
class ChooseOrder(Choose):
    """Draw an order of prediction and predict its end only (XLNet, arXiv:1906.08237, sec. 2.2-2.3 and 3.1).

    Targets come as spans: each of length L lies somewhere in a window of K times L tokens; single ones fill up what is
    missing of 1 in K. `sampler` decides where the windows lie. "ours": side by side from any position on, and behind
    the last word the text goes on with its first, so that every position is a target equally often. "xlnet": from the
    first word on, each as long as its span and K times that, and a span up to the end is left out (released code).
    "hf": from the first word on, and nothing fills up: a short text often has no target (Hugging Face's collator).
    Separators are never predicted; "drawn" lets them come between the targets (released code).

    The words at the positions of a fixed `order` share the steps that are drawn for them, but in this order; of those
    beyond the end of a text and of separators nothing changes.
    """

    partial_prediction_k: float = knob(
        6.0,
        1.0,
        12.0,
        unit="tokens per prediction",
        why="K: the last 1/K of the order is predicted, at least one token; a cut chosen by hand comes first.",
    )
    ngram_weights: str = knob(
        "harmonic", choices=tuple(GRAMS), why="Spans are harder: chance 1/n (code), uniform, or none."
    )
    special_tokens: str = knob(
        "given", choices=("given", "drawn"), why="Whether separators are context or have a step in the order."
    )
    sampler: str = knob(
        "ours", choices=LAWS, why="Where spans are placed, and whether the share is met: ours, XLNet's code, HF's."
    )
    order: tuple[int, ...] = ()
    keys = ("order", "cut")

    def plan(self, batch: Batch, rng: Generator) -> ChosenOrder:
        plan = self._sampled(batch, rng)
        return replace(plan, rank=self._fixed(batch, plan.rank)) if self.order else plan

    def _sampled(self, batch: Batch, rng: Generator) -> ChosenOrder:
        candidates, real = batch.maskable, batch.tokens.valid
        number = self.number(candidates.sum(1))
        late = self._targets(batch, number, rng)
        number = late.sum(1) if self.sampler == "hf" else number
        if self.special_tokens == "given":
            return self._drawn(batch.tokens, late, number, rng)
        late |= real & ~candidates
        group = late.int() + 2 * ~real if batch.tokens.padded else late.int()
        return ChosenOrder(sampling.shuffled(group, rng), late.sum(1))

    def _fixed(self, batch: Batch, rank: Tensor) -> Tensor:
        """The same steps, those of the words of the fixed order among these in that order (pieces left to right)."""
        last, word = max(self.order), batch.tokens.word_ids
        position = torch.full((last + 1,), last, device=word.device)
        position[torch.tensor(self.order, device=word.device) - 1] = torch.arange(len(self.order), device=word.device)
        position = position[word.clamp(0, last)].where(batch.maskable, last)  # [b, t], `last` where none is fixed
        tokens = position.argsort(dim=1, stable=True)
        steps = rank.where(position < last, rank.shape[1]).sort(dim=1).values
        return rank.scatter(1, tokens, steps.where(steps < rank.shape[1], rank.gather(1, tokens)))

    def _drawn(self, tokens: Tokens, late: Tensor, number: Tensor, rng: Generator) -> ChosenOrder:
        """The order of so many targets `[b]`; what comes before them has an order of its own, padding comes last."""
        target = torch.zeros(late.shape, dtype=torch.long, device=late.device)
        target[late] = sampling.orders(tokens.lengths - number, number, rng)
        row = torch.randint(2**62, (1,), generator=rng, device=rng.device) + arange(len(late), rng.device)
        noise = sampling.fixed_noise(row, torch.zeros_like(row), tokens.ids.shape[1], CONTEXT)
        return ChosenOrder(target.where(late, sampling.rank(noise + 2.0 * late + 4.0 * ~tokens.valid)), number)

    def number(self, there: Tensor) -> Tensor:
        """How many of so many tokens `[b]` are predicted: 1 in K, but one where there is any."""
        number = (there.double() / self.partial_prediction_k).floor().long()
        return torch.minimum(number.clamp(min=1), there)

    def _targets(self, batch: Batch, number: Tensor, rng: Generator) -> Tensor:
        """Exactly `number` `[b]` tokens of each text `[b, t]`: whole spans as far as they fit, then single ones."""
        candidates, lengths = batch.maskable, batch.tokens.lengths
        spans = self.spans(lengths, candidates.shape[1], rng)
        if self.sampler == "hf":
            return inside(spans, candidates.shape[1]) & candidates
        fits = _held(spans, lengths, candidates).cumsum(1) <= number[:, None]
        taken = around(Spans(spans.start, spans.length.where(fits, -1)), lengths, candidates.shape[1]) & candidates
        return taken | sampling.exactly(number - taken.sum(1), candidates & ~taken, rng)

    def spans(self, lengths: Tensor, width: int, rng: Generator) -> Spans:
        """One span in each window, window by window; the sampler "ours" lets one go on at the begin of the text."""
        rows, ours, k = len(lengths), self.sampler == "ours", self.partial_prediction_k
        most = 0 if ours and self.ngram_weights == "single" else math.ceil(width / max(1, int(k)))
        length = torch.tensor([n for n, often in enumerate(GRAMS[self.ngram_weights], 1) for _ in range(often)])
        length = length.to(lengths.device)[torch.randint(len(length), (rows, most), generator=rng, device=rng.device)]
        wide = k * length.double()
        window = wide.ceil().long() if ours else wide.long() + length * (self.sampler == "xlnet")
        where = sampling.noise((rows, most + 1), rng)
        ends, text = window.cumsum(1), lengths[:, None]
        start = ends - window + (where[:, 1:] * (window - length + (self.sampler != "xlnet"))).long()
        if ours:
            there = ends <= text
            start = (start + (where[:, :1] * text).long()) % text.clamp(min=1)
            return Spans(start * there, length.where(there, -1))
        there = start < text if self.sampler == "hf" else start + length < text
        return Spans(start * there, torch.minimum(length, text - start).where(there, -1))

    def build(self, batch: Batch, plan: ChosenOrder) -> Batch:
        first = batch.tokens.lengths - plan.predicted
        return replace(batch, selected=(plan.rank >= first[:, None]) & batch.maskable, prediction_order=plan.rank)

    def override_plan(self, batch: Batch, plan: ChosenOrder, overrides: PlanOverrides) -> ChosenOrder:
        if "order" in overrides:
            plan = replace(plan, rank=plan_overrides.order(batch, overrides["order"]))
        if "cut" in overrides:
            plan = replace(plan, predicted=self._predicted(batch, plan.rank, overrides["cut"]))
        return plan

    def _predicted(self, batch: Batch, rank: Tensor, cut: int) -> Tensor:
        most = plan_overrides.word_count(batch.tokens) - self._fewest
        if not 0 <= cut <= most:
            left = ", so that a word is left to predict" if self._fewest else ""
            raise UserError(f"The cut is {cut}; it must lie between 0 and {most}{left}.")
        given = plan_overrides.words_in_order(batch, rank, 0)[:cut]
        return batch.tokens.lengths - plan_overrides.positions(batch, given).sum(1)

    def describe_plan(self, batch: Batch, plan: ChosenOrder, row: int) -> dict[str, Any]:
        in_order = plan_overrides.words_in_order(batch, plan.rank, row)
        first = int(batch.tokens.lengths[row] - plan.predicted[row])
        given = {int(w) for w in batch.tokens.word_ids[row][(plan.rank[row] < first) & batch.tokens.valid[row]]}
        return {"order": in_order, "cut": min(len(given), max(0, len(in_order) - self._fewest))}

    @property
    def _fewest(self) -> int:
        """How many words are predicted at least: one, but none where nothing fills up."""
        return int(self.sampler != "hf")


@dataclass(frozen=True)
class ChooseAnyOrder(Choose):
    """Draw an order of all tokens, each equally likely (sigma-GPT, arXiv:2404.09562, sec. 2; arXiv:2110.02037)."""

    keys = ("order",)

    def plan(self, batch: Batch, rng: Generator) -> Tensor:
        """The step `[b, t]` at which each token comes; padding comes last."""
        return sampling.shuffled((~batch.tokens.valid).int(), rng)

    def build(self, batch: Batch, plan: Tensor) -> Batch:
        return replace(batch, selected=batch.tokens.valid, prediction_order=plan)

    def override_plan(self, batch: Batch, plan: Tensor, overrides: PlanOverrides) -> Tensor:
        return plan_overrides.order(batch, overrides["order"])

    def describe_plan(self, batch: Batch, plan: Tensor, row: int) -> dict[str, Any]:
        return {"order": plan_overrides.words_in_order(batch, plan, row)}


def around(spans: Spans, lengths: Tensor, width: int) -> Tensor:
    """Which positions `[b, t]` lie in a span; a span that goes beyond the end of the text goes on at its begin."""
    beyond = spans.start + spans.length - lengths[:, None]
    start = torch.cat([spans.start, torch.zeros_like(beyond)], dim=1)
    return inside(Spans(start, torch.cat([spans.length - beyond.clamp(min=0), beyond], dim=1)), width)


def _held(spans: Spans, lengths: Tensor, candidates: Tensor) -> Tensor:
    """How many candidates each span holds, `[b, m]`."""
    before = pad(candidates.long().cumsum(1), (1, 0))
    after = (spans.start + spans.length) % lengths[:, None].clamp(min=1)
    wrapped = before[:, -1:] * (after <= spans.start)
    return (before.gather(1, after) - before.gather(1, spans.start) + wrapped) * (spans.length > 0)
