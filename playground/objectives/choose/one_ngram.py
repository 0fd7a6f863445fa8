"""Choose one n-gram of each text."""

from dataclasses import dataclass

import torch
from torch import Generator, Tensor

from playground.batch import Batch, arange_rows
from playground.knob import knob
from playground.objectives.choose.spans import ChosenSpans, SpanChoice
from playground.objectives.ops import sampling
from playground.objectives.ops.windows import bounds


@dataclass(frozen=True)
class ChooseNgram(SpanChoice):
    """Mark one n-gram, its length normal around the mean (InfoWord, arXiv:1910.08350, sec. 4).

    Lengths are rounded and held between 1 and 10. A text always keeps a word outside, so a single word loses nothing.
    """

    mean_length: float = knob(5.0, 1.0, 10.0, unit="tokens", why="Longer n-grams say more and are easier to match.")
    length_std: float = knob(1.0, 0.0, 5.0, unit="tokens", why="Standard deviation of the length.")

    def plan(self, batch: Batch, rng: Generator) -> ChosenSpans:
        shape, words = tuple(batch.tokens.ids.shape), batch.maskable
        if not shape[1]:
            zeros = batch.tokens.ids.new_zeros((shape[0], 1))
            return ChosenSpans(zeros, zeros - 1)
        room = (bounds(~words)[1] - arange_rows(words) + 1).masked_fill(~words, 0)  # words from each position on
        most = torch.minimum(words.sum(1) - 1, room.amax(1))
        length = torch.minimum(self.lengths(shape[0], rng), most)
        fits = (room >= length[:, None]) & words
        start = sampling.noise(shape, rng).masked_fill(~fits, -1.0).argmax(1)
        return ChosenSpans(start[:, None], length.where(length > 0, -1)[:, None])

    def lengths(self, rows: int, rng: Generator) -> Tensor:
        """A length for every row, `[b]`."""
        drawn = torch.randn(rows, generator=rng, device=rng.device) * self.length_std + self.mean_length
        return drawn.round().long().clamp(1, 10)
