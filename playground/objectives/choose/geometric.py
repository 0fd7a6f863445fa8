"""Choose spans of words whose length follows a geometric distribution."""

from dataclasses import dataclass

import torch
from torch import Generator, Tensor

from playground.batch import Batch
from playground.knob import knob
from playground.objectives.choose.spans import ChosenSpans, SpanChoice
from playground.objectives.ops import sampling
from playground.objectives.ops.marked_spans import MarkedSpans, marked_spans


@dataclass(frozen=True)
class ChooseGeometricSpans(SpanChoice):
    """Mark spans of whole words, most of them short, up to an exact share (SpanBERT, arXiv:1907.10529, sec. 3.1).

    Lengths are geometric on 1 to `max_span_length` words, cut off and scaled to 1 (released code; mean 3.8). A span
    begins at the start of a word; spans that meet become one; the last one ends where the share is full.
    """

    mask_ratio: float = knob(0.15, 0.0, 0.9, unit="share of tokens", why="More gaps, less context.")
    geometric_p: float = knob(0.2, 0.05, 0.9, unit="probability", why="The chance that a span ends after each word.")
    max_span_length: int = knob(10, 1, 20, unit="words", why="No sampled span is longer; adjacent spans can be.")

    def plan(self, batch: Batch, rng: Generator) -> ChosenSpans:
        candidates = batch.maskable
        words = marked_spans(batch, candidates, batch.tokens.word_ids)
        budget = torch.minimum(sampling.ceiling(self.mask_ratio, candidates.sum(1)), candidates.sum(1))
        most = int(sampling.ceiling(self.mask_ratio, torch.tensor(candidates.shape[1])))
        noise = sampling.noise(tuple(candidates.shape), rng)
        length = self.lengths(sampling.noise((len(noise), most), rng))
        found = marked_spans(batch, take_spans(words, marked_spans(batch, candidates), noise, length, budget))
        most = most or 1
        return ChosenSpans(found.start[:, :most], found.length.where(found.length > 0, -1)[:, :most])

    def lengths(self, noise: Tensor) -> Tensor:
        """Lengths in words from uniform numbers, of the same shape."""
        share = self.geometric_p * (1 - self.geometric_p) ** torch.arange(self.max_span_length, dtype=torch.double)
        limits = (share / share.sum()).cumsum(0)[:-1].to(noise.device)
        return 1 + torch.searchsorted(limits, noise.double(), right=True)


def take_spans(words: MarkedSpans, blocks: MarkedSpans, noise: Tensor, length: Tensor, budget: Tensor) -> Tensor:
    """Which positions `[b, t]` are hidden: a span begins at the word of the free position with the lowest noise.

    `length` `[b, m]` are the words of the first, second, ... span; `blocks` are the stretches that no span leaves.
    """
    taken = torch.zeros_like(words.of, dtype=torch.bool)
    for number in length.unbind(1):
        free = noise.masked_fill(taken | (words.of < 0), 2.0).argmin(1, keepdim=True)
        word = words.of.gather(1, free)
        within = (words.of >= word) & (words.of < word + number[:, None]) & (blocks.of == blocks.of.gather(1, free))
        new = within & ~taken
        new = new & (new.long().cumsum(1) <= budget[:, None])
        taken, budget = taken | new, budget - new.sum(1)
        if not bool(budget.any()):
            break
    return taken
