"""Arrange a batch as the cells of its co-occurrence table: which two words stand near each other, and how often."""

from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Generator, Tensor

from playground.batch import Batch, Spans, Specials, Tokens, arange, arange_rows, begin, language_ids_at, stream
from playground.errors import UserError
from playground.knob import knob
from playground.objectives.ops import sampling
from playground.objectives.ops.cooccurrence import Cells
from playground.objectives.ops.ragged import Ragged, collect
from playground.objectives.ops.windows import bounds, packed
from playground.objectives.stage import Arrange, PlanOverrides


@dataclass(frozen=True)
class ArrangeCooccurrences(Arrange):
    """One position for every cell above 0 of the table of the whole batch (GloVe, Pennington et al. 2014, sec. 3.1).

    Two words at distance d count 1/d, in both orders. A position holds the first word, its span of one the second,
    both where the batch has them first; the count is the label "seen". With the `table` of a corpus the text is cells
    drawn from that table instead, each with the same probability.
    """

    window_size: int = knob(
        10, 1, 15, unit="words to either side", why="How far apart two words may be and still count as a pair."
    )
    table: Cells | None = None

    def __post_init__(self) -> None:
        if self.table is not None and not len(self.table.seen):
            raise UserError("The table of co-occurrences is empty; count a longer text.")

    def plan(self, batch: Batch, rng: Generator) -> Tensor:
        """Which cells of the table each row asks for, `[b, n]`; empty where the batch makes its own table."""
        if self.table is None:
            return batch.tokens.ids[:, :0]
        return (sampling.noise(tuple(batch.tokens.ids.shape), rng) * len(self.table.seen)).long()

    def build(self, batch: Batch, plan: Tensor) -> Batch:
        if self.table is None:
            return _of_batch(batch, self.window_size)
        return _of_table(batch.tokens, self.table, plan)

    def override_plan(self, batch: Batch, plan: Tensor, overrides: PlanOverrides) -> Tensor:
        return plan

    def describe_plan(self, batch: Batch, plan: Tensor, row: int) -> dict[str, Any]:
        return {}


def _of_batch(batch: Batch, window: int) -> Batch:
    tokens, specials = batch.tokens, batch.tokens.specials
    known = collect(batch, tokens.valid & (tokens.ids != specials.unknown))
    word, other, weight, met = _pairs(known, specials, window)
    seen, first = _counted(known.ids[:, word] * specials.size + known.ids[:, other], weight, met, specials.size**2)
    index, real = packed(first)
    word, other = word[index], other[index]
    ids = known.ids.gather(1, word).where(real, specials.pad)
    origin = known.origin.gather(1, word).where(real, -1)
    cells = replace(stream(ids, origin, real, language=language_ids_at(tokens, origin)), position_ids=word)
    named = Spans(known.origin.gather(1, other).where(real, 0), real.long().masked_fill(~real, -1))
    counted = replace(tokens, labels={**tokens.labels, "seen": seen.gather(1, index) * real})
    return replace(batch, tokens=counted, inputs=cells, spans=named)


def _pairs(text: Ragged, specials: Specials, window: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The pairs of positions within a window, by their left one, then by distance, in both orders.

    The two positions and the weight 1/d of each, `[m]`, and which pairs meet in each row, `[b, m]`; special tokens
    part a text.
    """
    position = arange(text.ids.shape[1], text.ids.device)[:, None]
    distance = torch.arange(1, window + 1, device=position.device)
    right = position + distance
    left, weight = position.expand_as(right), (1.0 / distance.double()).expand(right.shape)
    met = right <= bounds(~text.real | ~specials.in_text(text.ids))[1][..., None]
    right = right.clamp(max=max(0, len(position) - 1))
    return _both(left, right), _both(right, left), _both(weight, weight), _both(met, met)


def _both(one: Tensor, two: Tensor) -> Tensor:
    """The two orders of each pair, side by side in the last axis."""
    return torch.stack([one, two], dim=-1).flatten(-3)


def _counted(cell: Tensor, weight: Tensor, met: Tensor, size: int) -> tuple[Tensor, Tensor]:
    """How often the cell of each pair was seen in the whole batch `[b, m]`, and which pair is the first of its cell."""
    cell, most = cell.masked_fill(~met, size).flatten(), size + 1
    if most > 4 * len(cell):  # few pairs of a large vocabulary are sorted, many pairs of a small one are counted
        numbers, cell = cell.unique(return_inverse=True)
        most = len(numbers)
    seen = torch.bincount(cell, weight.expand(met.shape).flatten(), minlength=most)[cell]
    pair = torch.arange(len(cell), device=cell.device)
    first = torch.full((most,), len(cell), device=cell.device).scatter_reduce(0, cell, pair, "amin")[cell] == pair
    return seen.view(met.shape).float(), first.view(met.shape) & met


def _of_table(tokens: Tokens, table: Cells, plan: Tensor) -> Batch:
    """A text of drawn cells, word and other by turns; the words stand in the input, the others are to be predicted."""
    real, table = tokens.valid, table.to(tokens.ids.device)  # a run keeps it where it trains
    pair = torch.stack([table.word[plan], table.other[plan]], dim=-1)
    ids = pair.where(real[..., None], tokens.specials.pad).flatten(1)
    position = arange_rows(ids)
    text = replace(
        tokens,
        ids=ids,
        lengths=2 * tokens.lengths,
        word_ids=position,
        sentence_ids=torch.zeros_like(ids),
        labels={"seen": table.seen[plan].float() * real},
        neighbours={},
    )
    cells = stream(ids[:, 0::2], position[:, 0::2].where(real, -1), real)
    named = Spans(position[:, 1::2].where(real, 0), real.long().masked_fill(~real, -1))
    return replace(begin(text), inputs=cells, spans=named)
