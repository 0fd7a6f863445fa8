"""Arrange a batch as the cells of its co-occurrence table: which two words stand near each other, and how often."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import torch
from torch import Generator, Tensor

from playground.batch import Batch, Spans, Tokens, arange_rows, begin, language_ids_at, stream
from playground.errors import Refusal
from playground.knob import knob
from playground.objectives.ops import sampling
from playground.objectives.ops.ragged import Woven, collect
from playground.objectives.ops.windows import packed, runs
from playground.objectives.stage import Arrange, Wishes


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells of a table that are above 0, `[c]`: a word, another word, and how often they were seen together."""

    word: Tensor
    other: Tensor
    seen: Tensor


@dataclass(frozen=True)
class Drawn:
    """Which cells of the table each row asks for, `[b, n]`; empty where the batch makes its own table."""

    cell: Tensor


@dataclass(frozen=True)
class ArrangeCooccurrences(Arrange):
    """One position for every cell above 0 of the table of the whole batch (GloVe, Pennington et al. 2014, sec. 3.1).

    Two words at distance d count 1/d, in both orders. A position holds the first word, its span of one the second,
    both where the batch has them first; the count is the label "seen". With the `table` of a corpus the text is cells
    drawn from that table instead, each with the same chance.
    """

    window_size: int = knob(
        10, 1, 15, unit="words to either side", why="How far two words may stand apart and still meet."
    )
    table: Cells | None = None
    keys: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        if self.table is not None and not len(self.table.seen):
            raise Refusal("The table of co-occurrences is empty; count a longer text.")

    def plan(self, example: Batch, rng: Generator) -> Drawn:
        rows, width = example.tokens.ids.shape
        if self.table is None:
            return Drawn(example.tokens.ids.new_zeros((rows, 0)))
        return Drawn((sampling.noise((rows, width), rng) * len(self.table.seen)).long())

    def build(self, example: Batch, plan: Drawn) -> Batch:
        return (
            _of_batch(example, self.window_size) if self.table is None else _of_table(example.tokens, self.table, plan)
        )

    def revise(self, example: Batch, plan: Drawn, wanted: Wishes) -> Drawn:
        return plan

    def tell(self, example: Batch, plan: Drawn, row: int) -> dict[str, Any]:
        return {}


def _of_batch(example: Batch, window: int) -> Batch:
    tokens = example.tokens
    known = collect(example, tokens.valid & (tokens.ids != tokens.specials.unknown))
    met = meetings(known, tokens.specials.first_word, window)
    seen, first = table_of(known.ids, met, tokens.specials.size)
    index, real = packed(first)
    word, other = met.word[index], met.other[index]
    ids = known.ids.gather(1, word).where(real, tokens.specials.pad)
    origin = known.origin.gather(1, word).where(real, -1)
    cells = replace(stream(ids, origin, real, language=language_ids_at(tokens, origin)), position_ids=word)
    named = Spans(known.origin.gather(1, other).where(real, 0), real.long().masked_fill(~real, -1))
    counted = replace(tokens, labels={**tokens.labels, "seen": seen.gather(1, index) * real})
    return replace(example, tokens=counted, inputs=cells, spans=named)


@dataclass(frozen=True)
class Meetings:
    """All pairs of places of a row that can meet, in both orders: `[m]`, and which of them do in each row, `[b, m]`."""

    word: Tensor
    other: Tensor
    count: Tensor
    there: Tensor


def meetings(text: Woven, lowest: int, window: int) -> Meetings:
    """The pairs within a window, by their left place, then by distance; signs (ids below `lowest`) are walls."""
    place = torch.arange(text.ids.shape[1], device=text.ids.device)[:, None]
    distance = torch.arange(1, window + 1, device=place.device)
    right = place + distance
    left, count = place.expand_as(right), (1.0 / distance.double()).expand(right.shape)
    last = runs(text.ids, ~text.real | (text.ids < lowest))[1]
    there = right <= last[..., None]
    nearest = right.clamp(max=max(0, len(place) - 1))
    return Meetings(_both(left, nearest), _both(nearest, left), _both(count, count), _both(there, there))


def _both(one: Tensor, two: Tensor) -> Tensor:
    """The two orders of each pair, side by side in the last axis."""
    return torch.stack([one, two], dim=-1).flatten(-3)


def table_of(ids: Tensor, met: Meetings, size: int) -> tuple[Tensor, Tensor]:
    """How often the cell of each pair was seen in the whole batch `[b, m]`, and which pair is the first of its cell."""
    cell = ids[:, met.word] * size + ids[:, met.other]
    cell, most = cell.masked_fill(~met.there, size * size).flatten(), size * size + 1
    if most > 4 * len(cell):  # few pairs of a large vocabulary are sorted, many pairs of a small one are counted
        numbers, cell = cell.unique(return_inverse=True)
        most = len(numbers)
    seen = torch.bincount(cell, met.count.expand(met.there.shape).flatten(), minlength=most)[cell]
    place = torch.arange(len(cell), device=cell.device)
    first = torch.full((most,), len(cell), device=cell.device).scatter_reduce(0, cell, place, "amin")[cell] == place
    shape = met.there.shape
    return seen.view(shape).float(), first.view(shape) & met.there


def _of_table(tokens: Tokens, table: Cells, plan: Drawn) -> Batch:
    """A text of drawn cells, word and other by turns; the words stand in the input, the others are to be named."""
    real = tokens.valid
    pair = torch.stack([table.word[plan.cell], table.other[plan.cell]], dim=-1)
    ids = pair.where(real[..., None], tokens.specials.pad).flatten(1)
    place = arange_rows(ids)
    seen = {"seen": table.seen[plan.cell].float() * real}
    text = replace(
        tokens, ids=ids, lengths=2 * tokens.lengths, word_ids=place, sentence_ids=torch.zeros_like(ids), labels=seen
    )
    cells = stream(ids[:, 0::2], place[:, 0::2].where(real, -1), real)
    named = Spans(place[:, 1::2].where(real, 0), real.long().masked_fill(~real, -1))
    return replace(begin(replace(text, neighbours={})), inputs=cells, spans=named)
