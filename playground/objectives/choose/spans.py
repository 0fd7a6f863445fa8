"""Choose spans of tokens."""

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import torch
from torch import Generator, Tensor
from torch.nn.functional import pad

from playground.batch import Batch, Spans, is_all_true
from playground.knob import knob
from playground.objectives import plan_overrides
from playground.objectives.choose.tokens import rounding_note
from playground.objectives.ops import sampling
from playground.objectives.ops.marked_spans import marked_spans
from playground.objectives.ops.ragged import kept_first
from playground.objectives.stage import Choose, PlanOverrides


@dataclass(frozen=True)
class ChosenSpans:
    """Spans of the text: first position and length, `[b, m]`; length 0 is a gap, length -1 no span."""

    start: Tensor
    length: Tensor


def mark_spans(batch: Batch, plan: ChosenSpans) -> Batch:
    """The spans and the tokens in them, marked; a span that meets a special token goes on behind it as a new span."""
    spans = _parted_at_specials(batch, plan)
    return replace(batch, spans=spans, selected=inside(spans, batch.tokens.ids.shape[1]))


def inside(spans: Spans, width: int) -> Tensor:
    """Which positions `[b, t]` lie in a span: one up at each start, one down at each end, summed."""
    used = (spans.length > 0).short()
    steps = used.new_zeros((len(used), width + 1))
    steps.scatter_add_(1, spans.start * used, used)
    steps.scatter_add_(1, (spans.start + spans.length) * used, -used)
    return steps.cumsum(1, dtype=torch.short)[:, :width].bool()


def _specials(batch: Batch) -> Tensor | None:
    """Which positions hold a special token that no objective may hide, `[b, t]`; None where there is none."""
    if is_all_true(batch.maskable):
        return None
    specials = batch.tokens.valid & ~batch.maskable
    return specials if bool(specials.any()) else None


def _parted_at_specials(batch: Batch, plan: ChosenSpans) -> Spans:
    """The spans in pieces: up to the first special token, and behind each up to the next one or the end of the span.

    Behind the spans stands, for each special token, what follows it in the span that it lies in, if there is one.
    """
    specials = _specials(batch)
    if specials is None:
        return Spans(plan.start, plan.length)
    width = specials.shape[1]
    position, real, _ = kept_first(specials)
    position = pad(position.where(real, width), (0, 1), value=width)
    stop = position.new_zeros((len(position), width + 1))
    stop.scatter_(1, plan.start.where(plan.length > 0, width), plan.start + plan.length)
    stop = pad(stop[:, :width].cummax(1).values, (0, 1)).gather(1, position[:, :-1])
    behind = torch.minimum(stop, position[:, 1:]) - position[:, :-1] - 1
    first = torch.minimum(
        plan.length, position.gather(1, torch.searchsorted(position, plan.start.contiguous())) - plan.start
    )
    first = first.where((first > 0) | (plan.length == 0), -1)
    length = torch.cat([first, behind.where(behind > 0, -1)], dim=1)
    start = torch.cat([plan.start, position[:, :-1] + 1], dim=1) * (length >= 0)
    order = start.where(length >= 0, width + 1).argsort(dim=1, stable=True)
    return Spans(start.gather(1, order), length.gather(1, order))


def in_text(plan: ChosenSpans, opens: Tensor, closes: Tensor) -> ChosenSpans:
    """Spans counted in units, as spans of the text; units begin and end where `opens` and `closes` `[b, t]` are true.

    What lies between the units of a span belongs to it. A gap stands in front of its unit, or behind the last one.
    """
    if not opens.shape[1]:
        return plan
    begun, ended = opens.cumsum(1), closes.cumsum(1)
    behind_all = torch.searchsorted(ended, ended[:, -1:].contiguous()) + 1
    start = torch.minimum(torch.searchsorted(begun, plan.start + 1), behind_all)
    length = torch.searchsorted(ended, plan.start + plan.length) + 1 - start
    return ChosenSpans(start * (plan.length >= 0), length.where(plan.length > 0, plan.length))


def past_specials(batch: Batch, plan: ChosenSpans) -> ChosenSpans:
    """Spans counted in the tokens that may be hidden, as spans of the text."""
    return plan if _specials(batch) is None else in_text(plan, batch.maskable, batch.maskable)


def override_spans(batch: Batch, plan: ChosenSpans, overrides: PlanOverrides) -> ChosenSpans:
    """The spans of a plan by hand, or the drawn ones."""
    return ChosenSpans(*plan_overrides.spans(batch, overrides["spans"]))


def describe_spans(batch: Batch, plan: ChosenSpans, row: int) -> dict[str, Any]:
    """The spans of a row as `start:length` in words, 1-based."""
    word = batch.tokens.word_ids[row][batch.tokens.valid[row]].tolist()
    spans, free = [], 0
    for start, length in zip(plan.start[row].tolist(), plan.length[row].tolist(), strict=True):
        if length >= 0:
            first = max(free, word[start] if start < len(word) else word[-1] + 1)
            free = max(first, word[start + length - 1] + 1) if length else first
            spans.append(f"{first + 1}:{free - first}")
    return {"spans": spans}


class SpanChoice(Choose):
    """A stage that chooses spans, which a plan by hand calls `spans`."""

    keys = ("spans",)
    build = staticmethod(mark_spans)
    override_plan = staticmethod(override_spans)
    describe_plan = staticmethod(describe_spans)


@dataclass(frozen=True)
class ChooseMassSpan(SpanChoice):
    """Mark one span of half the tokens, often at an end (MASS, arXiv:1905.02450, sec. 3.2 and released code).

    The released code counts a special token before and one after the text, and the span may reach over the last one
    (`count_specials`), which itself is no target here. A span that meets a special token within the text goes on behind
    it.
    """

    span_ratio: float = knob(
        0.5, 0.0, 1.0, unit="share of tokens", why="One token is MLM, all of them is a language model."
    )
    edge_prob: float = knob(
        0.4, 0.0, 1.0, unit="probability", why="How often the span is put at the very start or end."
    )
    count_specials: bool = knob(False, why="Count the special tokens at both ends, as the released code does.")

    def plan(self, batch: Batch, rng: Generator) -> ChosenSpans:
        text = batch.maskable.sum(1)
        number = text + int(self.count_specials)
        length = torch.minimum(sampling.half_even(self.span_ratio, number + int(self.count_specials)), number)
        where, side = sampling.noise((2, len(number)), rng)
        anywhere = (where * (number - length + 1)).long()
        at_edge = torch.where(side < 0.5 * self.edge_prob, 0, number - length)
        start = torch.where(side < self.edge_prob, at_edge, anywhere)
        length = torch.minimum(length, text - start)
        return past_specials(batch, ChosenSpans(start[:, None], length.where(length > 0, -1)[:, None]))


@dataclass(frozen=True)
class ChooseSpans(SpanChoice):
    """Mark separate spans that together hold an exact share (T5, arXiv:1910.10683, sec. 3.1.4 and released code).

    Every set of so many spans is equally likely. The released code in addition starts with an untouched part and
    ends with a span, so a short text always loses its last words: `match_released_code` does the same.
    """

    noise_density: float = knob(0.15, 0.0, 0.9, unit="share of tokens", why="More gaps, less context.")
    mean_length: float = knob(3.0, 1.0, 64.0, unit="tokens", why="Longer spans are harder to fill.")
    match_released_code: bool = knob(
        False, why="The text starts with a visible word and ends in a gap, as in the released code."
    )

    def plan(self, batch: Batch, rng: Generator) -> ChosenSpans:
        """Draw the cuts that part the kept tokens, and as many that part the hidden ones."""
        tokens, number = batch.tokens, batch.maskable.sum(1)
        width = tokens.ids.shape[1]
        gone, count, most = _counts(self, width, len(tokens.specials.sentinels) or width, number.device)
        gone, count = gone[number], count[number]
        cuts = torch.cat([count - 1 + self.outer, count - 1])
        positions = torch.cat([number - gone - 1 + 2 * self.outer, gone - 1])
        kept, gone = (sampling.subset(cuts, positions, most, rng) + 1).chunk(2)
        before = pad(gone, (1, -1))
        length = gone - before
        there = length > 0
        return past_specials(batch, ChosenSpans((kept - self.outer + before) * there, length.where(there, -1)))

    @property
    def outer(self) -> int:
        """Whether a span may lie at each end of the text: 1 for yes."""
        return 0 if self.match_released_code else 1

    def rounding(self, batch: Batch) -> str:
        """A sentence on the share of the first text where rounding changes it much."""
        number = int(batch.maskable[0].sum())
        return rounding_note(self.noise_density, number) if number > 1 else ""

    def counts(self, number: Tensor, sentinels: int) -> tuple[Tensor, Tensor]:
        """How many tokens are hidden and in how many spans, `[b]` each; a text of one token keeps it."""
        count = sampling.half_even_single(self.noise_density, number).clamp(min=1 if self.noise_density > 0 else 0)
        gone = torch.minimum(count, (number - 1).clamp(min=0))
        spans = (gone.float() / self.mean_length).round().long().clamp(min=1, max=sentinels)
        return gone, torch.minimum(torch.minimum(spans, number - gone + self.outer), gone)


@lru_cache(maxsize=64)
def _counts(stage: ChooseSpans, widest: int, sentinels: int, device: torch.device) -> tuple[Tensor, Tensor, int]:
    """The counts of all lengths up to the widest, `[widest + 1]` each, and the most spans; a third of a plan's time."""
    gone, spans = stage.counts(torch.arange(widest + 1), sentinels)
    return gone.to(device), spans.to(device), max(1, int(spans.max()))


@dataclass(frozen=True)
class ChoosePoissonSpans(SpanChoice):
    """Mark spans of Poisson length, gaps of length 0 included (BART, arXiv:1910.13461, sec. 2.2).

    "exact" meets the budget and no spans overlap. "fairseq" lets spans begin at different positions, whatever is behind
    these: spans that overlap are one, the end of the text cuts them, and about a tenth of the budget is lost (released
    code). "apart" draws no empty spans and leaves a token between two; a span that no longer fits is left out (GLM,
    arXiv:2103.10360, sec. 2.1 and released code). With `whole_words` the budget and the spans are counted in words, as
    the released code does too; off by default, because it takes longer and is the same where every word is one token.
    """

    mask_ratio: float = knob(0.3, 0.0, 0.9, unit="share of tokens", why="More gaps, less context.")
    mean_length: float = knob(3.0, 0.5, 10.0, unit="tokens", why="The lambda of the Poisson law; 5 % have length 0.")
    whole_words: bool = knob(False, why="Count in whole words, as the released code does, so that no word is cut.")
    placement: str = knob(
        "exact",
        choices=("exact", "fairseq", "apart"),
        why="BART's released code lets spans overlap; GLM leaves a token between them and has no empty ones.",
    )

    def plan(self, batch: Batch, rng: Generator) -> ChosenSpans:
        if not self.whole_words:
            return past_specials(batch, self._placed(batch.maskable.sum(1), rng))
        words = marked_spans(batch, batch.maskable, batch.tokens.word_ids)
        goes_on = words.marked & ~words.opens
        closes = words.marked & ~pad(goes_on, (0, 1))[:, 1:]
        return in_text(self._placed(words.count, rng), words.opens, closes)

    def _placed(self, number: Tensor, rng: Generator) -> ChosenSpans:
        """Spans among so many units `[b]`; the last length, which was cut to fit, changes places with any of them."""
        budget = torch.minimum(sampling.ceiling(self.mask_ratio, number), number)
        length, count = sampling.poisson_budget(budget, self.mean_length, rng)
        if self.placement == "apart":
            length, count = _filled(length)
        other = (sampling.noise((len(count), 1), rng) * count[:, None]).long()
        both = torch.cat([other, (count[:, None] - 1).clamp(min=0)], dim=1)
        length = length.scatter(1, both, length.gather(1, both.flip(1)))
        if self.placement == "fairseq":
            return _overlapping(length, number, rng)
        taken, free = length.clamp(min=0), number - budget
        if self.placement == "apart":
            taken = (length + 1).clamp(min=0)
            fits = taken.cumsum(1) <= number[:, None] + 1
            length, count = length.where(fits, -1), (fits & (length > 0)).sum(1)
            taken = taken * fits
            free = number - taken.sum(1) + (count > 0)
        start = sampling.sorted_positions(count, free + 1, length.shape[1], rng) + taken.cumsum(1) - taken
        return ChosenSpans(start * (length >= 0), length)


def _filled(length: Tensor) -> tuple[Tensor, Tensor]:
    """The lengths `[b, m]` above 0, in their order and in front, and how many these are, `[b]`."""
    there = length > 0
    order = (~there).int().argsort(dim=1, stable=True)
    return length.where(there, -1).gather(1, order), there.sum(1)


def _overlapping(length: Tensor, number: Tensor, rng: Generator) -> ChosenSpans:
    """Spans of some lengths `[b, m]` that begin at different ones of `number [b]` units; those that overlap are one.

    Gaps are put in afterwards, each anywhere before, between and behind what is kept and the spans.
    """
    long = length > 0
    start = sampling.subset(long.sum(1), number, length.shape[1], rng).gather(1, (long.cumsum(1) - 1).clamp(min=0))
    end = torch.minimum(start + length, number[:, None]).where(long, 0).cummax(1).values
    opens = long & (start >= pad(end, (1, -1)))
    of = (opens.cumsum(1) - 1).clamp(min=0)
    begin = torch.zeros_like(start).scatter_add_(1, of, start * opens)
    size = torch.zeros_like(end).scatter_reduce_(1, of, end, "amax") - begin
    jump = (size - 1).clamp(min=0)
    at = begin - jump.cumsum(1) + jump
    slot = (sampling.noise(tuple(length.shape), rng) * (number - jump.sum(1) + 1)[:, None]).long()
    passed = (at[:, None, :] < slot[:, :, None]) & (size > 0)[:, None, :]
    gap = slot + (passed * jump[:, None, :]).sum(2)
    both = torch.cat([begin, gap], dim=1)
    sizes = torch.cat([size.where(size > 0, -1), length.where(length == 0, -1)], dim=1)
    order = (2 * both + (sizes > 0)).where(sizes >= 0, 2 * number[:, None] + 2).argsort(dim=1, stable=True)
    sizes = sizes.gather(1, order)
    return ChosenSpans(both.gather(1, order) * (sizes >= 0), sizes)
