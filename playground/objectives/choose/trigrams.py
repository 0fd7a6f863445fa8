"""Choose runs of three tokens to be put in another order."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import torch
from torch import Generator, Tensor

from playground.batch import Batch
from playground.knob import knob
from playground.objectives.choose.spans import ChosenSpans, mark_spans, tell_spans, wished_spans
from playground.objectives.ops import sampling
from playground.objectives.ops.segments import places, runs
from playground.objectives.stage import Choose, Wishes

SIZE = 3


@dataclass(frozen=True)
class ChooseTrigrams(Choose):
    """Mark runs of three tokens apart from each other and from hidden words (StructBERT, arXiv:1908.04577, sec. 2.2.1).

    They hold a share of the tokens, at least one run where one fits; how to round is not published.
    """

    trigram_ratio: float = knob(
        0.05, 0.0, 0.9, unit="share of tokens", why="How much of the text stands in shuffled runs."
    )
    keys: ClassVar[tuple[str, ...]] = ("spans",)

    def plan(self, example: Batch, rng: Generator) -> ChosenSpans:
        free = example.maskable & ~example.selected
        least = 1 if self.trigram_ratio > 0 else 0
        wanted = sampling.half_even(self.trigram_ratio / SIZE, example.maskable.sum(1)).clamp(min=least)
        most = max(least, int(sampling.half_even(self.trigram_ratio / SIZE, torch.tensor(free.shape[1]))))
        start = take_trigrams(example, free, sampling.noise(tuple(free.shape), rng), wanted, most)
        there = start < free.shape[1]
        return ChosenSpans(start.where(there, 0), torch.where(there, SIZE, -1))

    def build(self, example: Batch, plan: ChosenSpans) -> Batch:
        marked = mark_spans(example, plan)
        return replace(marked, selected=marked.selected | example.selected)

    def revise(self, example: Batch, plan: ChosenSpans, wanted: Wishes) -> ChosenSpans:
        return wished_spans(example, plan, wanted)

    def tell(self, example: Batch, plan: ChosenSpans, row: int) -> dict[str, Any]:
        return tell_spans(example, plan, row)


def take_trigrams(example: Batch, free: Tensor, dice: Tensor, wanted: Tensor, most: int) -> Tensor:
    """First places `[b, most]`, sorted, of runs of three free places that do not overlap; the width stands for none."""
    width, found = free.shape[1], []
    if not width:
        return free.new_zeros((len(free), most), dtype=torch.long)
    block = runs(example, free)
    opens = free & (block.last - places(example) >= SIZE - 1)
    for number in range(most):
        best = dice.masked_fill(~opens, 2.0).argmin(1, keepdim=True)
        start = best.where(opens.gather(1, best) & (number < wanted)[:, None], width)
        opens = opens & ((places(example) - start).abs() >= SIZE)
        found.append(start)
    return torch.cat([*found, torch.full_like(dice[:, :1], width).long()], dim=1)[:, : max(most, 1)].sort(dim=1).values
