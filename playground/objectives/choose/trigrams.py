"""Choose spans of three tokens to be put in another order."""

from dataclasses import dataclass, replace

import torch
from torch import Generator, Tensor

from playground.batch import Batch, arange_rows
from playground.knob import knob
from playground.objectives.choose.spans import ChosenSpans, SpanChoice, mark_spans
from playground.objectives.ops import sampling
from playground.objectives.ops.marked_spans import marked_spans

SIZE = 3


@dataclass(frozen=True)
class ChooseTrigrams(SpanChoice):
    """Mark spans of three tokens apart from each other and hidden words (StructBERT, arXiv:1908.04577, sec. 2.2.1).

    They hold a share of the tokens, at least one span where one fits; how to round is not published.
    """

    trigram_ratio: float = knob(
        0.05, 0.0, 0.9, unit="share of tokens", why="How much of the text is in shuffled spans."
    )

    def plan(self, batch: Batch, rng: Generator) -> ChosenSpans:
        free, ratio = batch.maskable & ~batch.selected, self.trigram_ratio / SIZE
        least = 1 if ratio > 0 else 0
        count = sampling.half_even(ratio, batch.maskable.sum(1)).clamp(min=least)
        most = max(least, int(sampling.half_even(ratio, torch.tensor(free.shape[1]))))
        start = take_trigrams(batch, free, sampling.noise(tuple(free.shape), rng), count, most)
        there = start < free.shape[1]
        return ChosenSpans(start.where(there, 0), torch.where(there, SIZE, -1))

    def build(self, batch: Batch, plan: ChosenSpans) -> Batch:
        marked = mark_spans(batch, plan)
        return replace(marked, selected=marked.selected | batch.selected)


def take_trigrams(batch: Batch, free: Tensor, noise: Tensor, count: Tensor, most: int) -> Tensor:
    """First positions `[b, most]`, sorted, of spans of three free ones that do not overlap; the width means none."""
    width, found, position = free.shape[1], [], arange_rows(free)
    if not width:
        return free.new_zeros((len(free), most), dtype=torch.long)
    opens = free & (marked_spans(batch, free).last - position >= SIZE - 1)
    for number in range(most):
        best = noise.masked_fill(~opens, 2.0).argmin(1, keepdim=True)
        start = best.where(opens.gather(1, best) & (number < count)[:, None], width)
        opens = opens & ((position - start).abs() >= SIZE)
        found.append(start)
    return torch.cat([*found, torch.full_like(position[:, :1], width)], dim=1)[:, : max(most, 1)].sort(dim=1).values
