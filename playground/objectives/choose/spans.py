"""Choose runs of tokens."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import torch
from torch import Generator, Tensor
from torch.nn.functional import pad

from playground.example import Example, Spans, certain
from playground.knob import knob
from playground.late import Later, replace
from playground.objectives import draw, wishes
from playground.objectives.choose.tokens import odd
from playground.objectives.stage import Wishes


@dataclass(frozen=True)
class ChosenSpans:
    """Spans of the text: first place and length, `[b, m]`; length 0 is a gap, length -1 no span."""

    start: Tensor
    length: Tensor


def mark_spans(example: Example, plan: ChosenSpans) -> Example:
    """The spans and the tokens in them, marked; a span that meets a separator ends there."""
    spans = _cut_at_specials(example, plan)
    return replace(example, spans=spans, chosen=Later(inside, spans, example.tokens.ids.shape[1]))


def inside(spans: Spans, width: int) -> Tensor:
    """Which places `[b, t]` lie in a span: one up at each start, one down at each end, summed."""
    used = (spans.length > 0).short()
    steps = used.new_zeros((len(used), width + 1))
    steps.scatter_add_(1, spans.start * used, used)
    steps.scatter_add_(1, (spans.start + spans.length) * used, -used)
    return steps.cumsum(1, dtype=torch.short)[:, :width].bool()


def _cut_at_specials(example: Example, plan: ChosenSpans) -> Spans:
    """Count the separators up to each place; the first one from a span's start on is one more than stand before it."""
    if certain(example.maskable) or bool(example.maskable.all()):
        return Spans(plan.start, plan.length)
    width = example.tokens.ids.shape[1]
    counted = torch.cat([torch.zeros_like(example.tokens.lengths[:, None]), (~example.maskable).cumsum(1)], dim=1)
    before = counted.gather(1, plan.start.clamp(max=width))
    room = torch.searchsorted(counted, before + 1) - 1 - plan.start
    length = torch.minimum(plan.length, room)
    return Spans(plan.start, length.where((length > 0) | (plan.length == 0), -1))


def wished_spans(example: Example, plan: ChosenSpans, wanted: Wishes) -> ChosenSpans:
    """The spans that a person named, or the drawn ones."""
    return ChosenSpans(*wishes.spans(example, wanted["spans"])) if "spans" in wanted else plan


def tell_spans(example: Example, plan: ChosenSpans, row: int) -> dict[str, Any]:
    """The spans of a row as `start:length` in words, 1-based."""
    word = example.tokens.word[row][example.tokens.real[row]].tolist()
    told, free = [], 0
    for start, length in zip(plan.start[row].tolist(), plan.length[row].tolist(), strict=True):
        if length >= 0:
            first = max(free, word[start] if start < len(word) else word[-1] + 1)
            free = max(first, word[start + length - 1] + 1) if length else first
            told.append(f"{first + 1}:{free - first}")
    return {"spans": told}


@dataclass(frozen=True)
class ChooseFragment:
    """Mark one run of half the tokens, often at an end (MASS, arXiv:1905.02450, sec. 3.2 and released code).

    The released code counts a sign before and one after the text, and the run may reach over the last one (`signs`);
    the sign itself is not asked for here.
    """

    share: float = knob(0.5, 0.0, 1.0, unit="share of tokens", why="One token is MLM, all of them is a language model.")
    ends: float = knob(0.4, 0.0, 1.0, unit="probability", why="How often the run is put at the very start or end.")
    signs: bool = knob(False, why="Count the signs at both ends, as the released code does.")
    keys: ClassVar[tuple[str, ...]] = ("spans",)

    def plan(self, example: Example, rng: Generator) -> ChosenSpans:
        text = example.tokens.lengths
        number = text + int(self.signs)
        length = torch.minimum(draw.half_even(self.share, number + int(self.signs)), number)
        where, side = draw.noise((2, len(number)), rng)
        inside = (where * (number - length + 1)).long()
        at_end = torch.where(side < 0.5 * self.ends, 0, number - length)
        start = torch.where(side < self.ends, at_end, inside)
        length = torch.minimum(length, text - start)
        return ChosenSpans(start[:, None], length.where(length > 0, -1)[:, None])

    build = staticmethod(mark_spans)
    revise = staticmethod(wished_spans)
    tell = staticmethod(tell_spans)


@dataclass(frozen=True)
class ChooseSpans:
    """Mark separate runs that together hold an exact share (T5, arXiv:1910.10683, sec. 3.1.4 and released code).

    Every set of so many runs is equally likely. The released code in addition starts with an untouched part and
    ends with a run, so a short text always loses its last words: `official` brings that back.
    """

    rate: float = knob(0.15, 0.0, 0.9, unit="share of tokens", why="More gaps, less context.")
    mean_length: float = knob(3.0, 1.0, 10.0, unit="tokens", why="Longer runs are harder to fill.")
    official: bool = knob(False, why="Start untouched and end in a gap, as the released code does.")
    keys: ClassVar[tuple[str, ...]] = ("spans",)

    def plan(self, example: Example, rng: Generator) -> ChosenSpans:
        tokens = example.tokens
        cuts, most = _cuts(self, tokens.ids.shape[1], len(tokens.specials.sentinels), tokens.ids.device)
        count, number = cuts.gather(1, tokens.lengths.expand(4, -1)).view(2, -1)
        kept, gone = (draw.subset(count, number, most, rng) + 1).chunk(2)
        before = pad(gone, (1, -1))
        length = gone - before
        there = length > 0
        start = kept - self.outer + before
        return ChosenSpans(start * there, length.where(there, -1))

    @property
    def outer(self) -> int:
        """Whether a run may lie at each end of the text: 1 for yes."""
        return 0 if self.official else 1

    def rounding(self, example: Example) -> str:
        """What rounding did to the share of the first text, where that is odd."""
        number = int(example.tokens.lengths[0])
        return odd(self.rate, number) if number > 1 else ""

    def counts(self, number: Tensor, sentinels: int) -> tuple[Tensor, Tensor]:
        """How many tokens vanish and in how many runs, `[b]` each; a text of one token keeps it."""
        wanted = draw.half_even(self.rate, number).clamp(min=1 if self.rate > 0 else 0)
        gone = torch.minimum(wanted, (number - 1).clamp(min=0))
        runs = (gone.double() / self.mean_length).round().long().clamp(min=1, max=sentinels)
        room = number - gone + self.outer
        return gone, torch.minimum(torch.minimum(runs, room), gone)

    build = staticmethod(mark_spans)
    revise = staticmethod(wished_spans)
    tell = staticmethod(tell_spans)


@lru_cache(maxsize=64)
def _cuts(stage: ChooseSpans, widest: int, sentinels: int, device: torch.device) -> tuple[Tensor, int]:
    """By the length of a text, how many cuts part what is kept and what is gone, of how many `[4, widest + 1]`.

    So many runs lie where kept tokens are cut, before the first and behind the last one too unless it is `official`,
    and one cut fewer parts the runs from each other. Also the most runs of all lengths.
    """
    length = torch.arange(widest + 1)
    gone, runs = stage.counts(length, sentinels)
    kept, outer = length - gone, stage.outer
    cuts = torch.stack([runs - 1 + outer, runs - 1, kept - 1 + 2 * outer, gone - 1])
    return cuts.to(device), max(1, int(runs.max()))


@dataclass(frozen=True)
class ChoosePoissonSpans:
    """Mark runs of Poisson length, gaps of length 0 included (BART, arXiv:1910.13461, sec. 2.2).

    The budget is met exactly and runs never overlap (the released code loses about a tenth to overlaps).
    """

    rate: float = knob(0.3, 0.0, 0.9, unit="share of tokens", why="More gaps, less context.")
    mean_length: float = knob(3.0, 0.5, 10.0, unit="tokens", why="The lambda of the Poisson law; 5 % have length 0.")
    keys: ClassVar[tuple[str, ...]] = ("spans",)

    def plan(self, example: Example, rng: Generator) -> ChosenSpans:
        budgets = _budgets(self.rate, example.tokens.ids.shape[1], example.tokens.ids.device)
        budget, slots = budgets.gather(1, example.tokens.lengths.expand(2, -1))
        length, count = draw.poisson_budget(budget, self.mean_length, rng)
        there = length >= 0
        length = _last_anywhere(length, count[:, None], rng)
        taken = length.clamp(min=0)
        before = taken.cumsum(1) - taken
        return ChosenSpans((draw.sorted_places(count, slots, length.shape[1], rng) + before) * there, length)

    build = staticmethod(mark_spans)
    revise = staticmethod(wished_spans)
    tell = staticmethod(tell_spans)


@lru_cache(maxsize=64)
def _budgets(rate: float, widest: int, device: torch.device) -> Tensor:
    """By the length of a text, how many tokens vanish and in how many places a run may lie, `[2, widest + 1]`."""
    length = torch.arange(widest + 1)
    budget = torch.minimum(draw.ceiling(rate, length), length)
    return torch.stack([budget, length - budget + 1]).to(device)


def _last_anywhere(length: Tensor, count: Tensor, rng: Generator) -> Tensor:
    """The last of the `count [b, 1]` lengths `[b, m]` changes places with any of them: it alone was cut to fit."""
    other = (draw.noise(tuple(count.shape), rng) * count).long()
    both = torch.cat([other, (count - 1).clamp(min=0)], dim=1)
    return length.scatter(1, both, length.gather(1, both.flip(1)))
