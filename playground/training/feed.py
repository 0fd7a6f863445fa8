"""The feed: windows of a corpus, resident on the device, in an order that follows from the seed and the step alone."""

from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from playground.corpora import Corpus
from playground.corpora.corpus import pick
from playground.example import Tokens
from playground.seeds import generator


@dataclass
class Feed:
    """Batch `step` of a run is the same whatever ran before, so a run can be resumed or forked at any step."""

    windows: Tokens
    held_out: Tokens
    batch: int
    seed: int
    _order: dict[int, Tensor] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, corpus: Corpus, window: int, batch: int, seed: int, device: torch.device) -> "Feed":
        """All windows of a corpus on the device; gold labels stay behind, training does not need them."""
        parts = (corpus.windows(window, part) for part in ("train", "held_out"))
        train, held_out = (replace(p, labels={}).to(device) for p in parts)
        return cls(train, held_out, min(batch, len(train.ids)), seed)

    def at(self, step: int) -> Tokens:
        """The batch of a step (0-based), `[batch, window]`."""
        number = len(self.windows.ids) // self.batch
        epoch, place = divmod(step, number)
        order = self._epoch(epoch)
        return pick(self.windows, order[place * self.batch : (place + 1) * self.batch])

    def _epoch(self, epoch: int) -> Tensor:
        if epoch not in self._order:
            self._order.clear()
            order = torch.randperm(len(self.windows.ids), generator=generator(self.seed, "order", epoch))
            self._order[epoch] = order.to(self.windows.ids.device)
        return self._order[epoch]

    def evaluation(self, rows: int = 64) -> Tokens:
        """The held-out rows on which every evaluation of every run is made."""
        return pick(self.held_out, torch.arange(min(rows, len(self.held_out.ids)), device=self.held_out.ids.device))
