"""The feed: windows of a corpus, resident on the device, in an order that follows from the seed and the step alone."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from playground.batch import Tokens, full_view
from playground.corpora import Corpus
from playground.corpora.corpus import Part, pick
from playground.errors import Refusal
from playground.rng import generator


@dataclass
class BatchSampler:
    """Batch `step` of a run is the same whatever ran before, so a run can be resumed or forked at any step."""

    windows: Tokens
    held_out: Tokens
    batch_size: int
    seed: int
    _order: dict[int, Tensor] = field(default_factory=dict, repr=False)

    @classmethod
    def of(
        cls, corpus: Corpus, window: int, batch: int, seed: int, device: torch.device, needs: Sequence[str] = ()
    ) -> "BatchSampler":
        """All windows of a corpus on the device, with the second texts and labels that an objective needs.

        Other gold labels stay behind. Every seed is evaluated on the same held-out rows.
        """
        counts = torch.bincount(corpus.ids[: corpus.held_out_from].long(), minlength=len(corpus.tokenizer))
        train = replace(windows(corpus, window, "train", seed, needs), word_counts=counts)
        held_out = replace(windows(corpus, window, "held_out", 0, needs), word_counts=counts)
        number = torch.arange(len(train.ids) + len(held_out.ids))
        train = replace(train, example_ids=number[: len(train.ids)]).to(device)
        held_out = replace(held_out, example_ids=number[len(train.ids) :], epoch=torch.zeros_like(held_out.lengths))
        return cls(train, held_out.to(device), min(batch, len(train.ids)), seed)

    def at(self, step: int) -> Tokens:
        """The batch of a step (0-based), `[batch, window]`."""
        return self.between(step, step + 1)

    def between(self, first: int, last: int) -> Tokens:
        """The batches of the steps from `first` up to `last`, one below the other; a visit is an epoch."""
        number, index, visit = len(self.windows.ids) // self.batch_size, [], []
        for epoch in range(first // number, -(-last // number)):
            begin, end = (min(max(step - epoch * number, 0), number) * self.batch_size for step in (first, last))
            index.append(self._epoch(epoch)[begin:end])
            visit.append(full_view(epoch, end - begin, index[-1].device))
        index, visit = (each[0] if len(each) == 1 else torch.cat(each) for each in (index, visit))
        return pick(self.windows, index, epoch=visit)

    def _epoch(self, epoch: int) -> Tensor:
        if epoch not in self._order:
            self._order.clear()
            order = torch.randperm(len(self.windows.ids), generator=generator(self.seed, "order", epoch))
            self._order[epoch] = order.to(self.windows.ids.device)
        return self._order[epoch]

    def evaluation(self, rows: int = 64) -> Tokens:
        """The held-out rows on which every evaluation of every run is made."""
        return pick(self.held_out, torch.arange(min(rows, len(self.held_out.ids)), device=self.held_out.ids.device))


PAIRED = frozenset(("pair", "translation", "distance"))
"""What an objective can need that is cut out of a corpus sentence by sentence, in rows of any length."""


def longest_window(corpus: Corpus, wanted: int, needs: Sequence[str] = ()) -> int:
    """The longest row of at most `wanted` tokens of which the training part and the held-out part each hold one."""
    if PAIRED & set(needs):
        return wanted
    return min(wanted, corpus.held_out_from, len(corpus) - corpus.held_out_from)


def windows(corpus: Corpus, window: int, part: Part, seed: int, needs: Sequence[str]) -> Tokens:
    """One part of a corpus as rows of text, or as pairs of texts where the objective needs them."""
    if "distance" in needs:
        return _with_labels(corpus, corpus.triples(window, part, seed), needs)
    if not PAIRED & set(needs):
        return _with_labels(corpus, corpus.windows(window, part), needs)
    rows = corpus.pairs(window, part, seed)
    if "translation" in needs and "translation" not in rows.neighbours:
        raise Refusal(f"{corpus.name} has no translations; choose a text in two languages, such as parallel.")
    return _with_labels(corpus, rows, needs)


def _with_labels(corpus: Corpus, tokens: Tokens, needs: Sequence[str]) -> Tokens:
    """The rows with the labels that are needed and no others; a pair of translations knows its languages."""
    wanted = {need.removeprefix("label:") for need in needs if need.startswith("label:")}
    for name in sorted(wanted - set(tokens.labels)):
        known = ", ".join(tokens.labels) or "none"
        raise Refusal(f"{corpus.name} does not know the label {name!r} of its words; its labels are: {known}.")
    kept = wanted | {"language"} if "translation" in needs else wanted
    return _keeping(tokens, kept)


def _keeping(tokens: Tokens, names: set[str]) -> Tokens:
    labels = {name: row for name, row in tokens.labels.items() if name in names}
    neighbours = {name: _keeping(other, names) for name, other in tokens.neighbours.items()}
    return replace(tokens, labels=labels, neighbours=neighbours)
