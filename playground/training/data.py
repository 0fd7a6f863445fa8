"""Batches of a corpus, in an order that follows from the seed and the step alone, and their corruption in blocks."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from playground.batch import Batch, Tokens, full_view
from playground.corpora import Corpus
from playground.corpora.corpus import Part, pick
from playground.errors import UserError
from playground.objectives import Objective
from playground.rng import generator
from playground.slicing import batches
from playground.training.train_state import PartialBatch, TrainState


@dataclass
class BatchSampler:
    """Samples batches; that of a step is the same whatever ran before, so a run can be resumed or forked anywhere."""

    windows: Tokens
    held_out: Tokens
    batch_size: int
    seed: int
    _order: dict[int, Tensor] = field(default_factory=dict, repr=False)

    @classmethod
    def of(
        cls, corpus: Corpus, window: int, batch: int, seed: int, device: torch.device, needs: Sequence[str] = ()
    ) -> "BatchSampler":
        """All windows of a corpus on the device, with only the second texts and labels that an objective needs."""
        counts = torch.bincount(corpus.ids[: corpus.held_out_from].long(), minlength=len(corpus.tokenizer))
        train = replace(windows(corpus, window, "train", seed, needs), word_counts=counts)
        held_out = replace(windows(corpus, window, "held_out", 0, needs), word_counts=counts)
        ids = torch.arange(len(train.ids) + len(held_out.ids))
        train = replace(train, example_ids=ids[: len(train.ids)]).to(device)
        held_out = replace(held_out, example_ids=ids[len(train.ids) :], epoch=torch.zeros_like(held_out.lengths))
        return cls(train, held_out.to(device), min(batch, len(train.ids)), seed)

    def at(self, step: int) -> Tokens:
        """The batch of a step, `[batch, window]`."""
        return self.between(step, step + 1)

    def between(self, first: int, last: int) -> Tokens:
        """The batches of the steps from `first` up to `last`, concatenated."""
        number, index, epochs = len(self.windows.ids) // self.batch_size, [], []
        for epoch in range(first // number, -(-last // number)):
            begin, end = (min(max(step - epoch * number, 0), number) * self.batch_size for step in (first, last))
            index.append(self._order_of(epoch)[begin:end])
            epochs.append(full_view(epoch, end - begin, index[-1].device))
        index, epochs = (each[0] if len(each) == 1 else torch.cat(each) for each in (index, epochs))
        return pick(self.windows, index, epoch=epochs)

    def _order_of(self, epoch: int) -> Tensor:
        if epoch not in self._order:
            self._order.clear()
            order = torch.randperm(len(self.windows.ids), generator=generator(self.seed, "order", epoch))
            self._order[epoch] = order.to(self.windows.ids.device)
        return self._order[epoch]

    def evaluation(self, rows: int = 64) -> Tokens:
        """The held-out rows of every evaluation."""
        return pick(self.held_out, torch.arange(min(rows, len(self.held_out.ids)), device=self.held_out.ids.device))


PAIRED = frozenset(("pair", "translation", "distance"))
"""Needs of an objective that are cut out of a corpus sentence by sentence, in rows of any length."""


def longest_window(corpus: Corpus, wanted: int, needs: Sequence[str] = ()) -> int:
    """The longest row of at most `wanted` tokens that fits into the training part and the held-out part."""
    if PAIRED & set(needs):
        return wanted
    return min(wanted, corpus.held_out_from, len(corpus) - corpus.held_out_from)


def windows(corpus: Corpus, window: int, part: Part, seed: int, needs: Sequence[str]) -> Tokens:
    """One part of a corpus as rows of text, or of the several texts of an objective, with only the needed labels."""
    if "distance" in needs:
        rows = corpus.triples(window, part, seed)
    else:
        rows = corpus.pairs(window, part, seed) if PAIRED & set(needs) else corpus.windows(window, part)
    if "translation" in needs and "translation" not in rows.neighbours:
        raise UserError(f"{corpus.name} has no translations; choose a text in two languages, such as parallel.")
    wanted = {need.removeprefix("label:") for need in needs if need.startswith("label:")}
    for name in sorted(wanted - set(rows.labels)):
        known = ", ".join(rows.labels) or "none"
        raise UserError(f"{corpus.name} does not know the label {name!r} of its words; its labels are: {known}.")
    return _only(rows, wanted | {"language"} if "translation" in needs else wanted)


def _only(tokens: Tokens, labels: set[str]) -> Tokens:
    neighbours = {name: _only(other, labels) for name, other in tokens.neighbours.items()}
    kept = {name: row for name, row in tokens.labels.items() if name in labels}
    return replace(tokens, labels=kept, neighbours=neighbours)


# blocks of steps: the corruption of many batches is drawn in one call, to save small tensor operations

STEPS = 256
"""Steps of one block; blocks pay while a batch is so small that launching an operation outweighs its work."""

FEW = 32
"""Steps of one block where each is much work, so that a watched run does not pause for a block."""

MOST = 1 << 18
"""Tokens of one block: large batches come in shorter blocks, which fit into the memory of a small computer."""


@dataclass
class Prefetcher:
    """The examples of a run; that of a step follows from the seed and the number of its block, wherever the run begins.

    Where a generator answers in every step, the examples of `ahead` steps are begun at once, each by its own draws.
    """

    feed: BatchSampler
    learner: TrainState
    steps: int
    ahead: int = 1
    _number: int = -1
    _drawn: list[Batch] = field(default_factory=list, repr=False)
    _opened: dict[int, PartialBatch] = field(default_factory=dict, repr=False)

    def at(self, step: int) -> Batch:
        """The example of a step (0-based), as wide as its own widest row."""
        if self.steps == 1:
            return self._alone(step)
        number, index = divmod(step, self.steps)
        if number != self._number:
            self.begin_anew(self.steps)  # the last block's memory is free before the next one is drawn
            first = number * self.steps
            whole = self.learner.example(self.feed.between(first, first + self.steps), "block", number)
            self._number, self._drawn = number, batches(whole, self.feed.batch_size, trim=True)
        return self._drawn[index]

    def _alone(self, step: int) -> Batch:
        """The example of a step that is drawn by itself; the device is waited for once for several of them."""
        learner = self.learner
        if not learner.objective.opens:
            return learner.example(self.feed.at(step), step)
        if step not in self._opened or self._opened[step].objective is not learner.objective:
            self._opened = {}
            self._opened = {k: learner.opened(self.feed.at(k), k) for k in range(step, step + self.ahead)}
        return self._opened[step].ended()

    def begin_anew(self, steps: int) -> None:
        """Drop what was drawn; from now on so many steps are drawn, or begun, at once."""
        if self.steps > 1:
            self.steps = steps
        self.ahead, self._number, self._drawn, self._opened = steps, -1, [], {}


def steps_together(objective: Objective, examples: Sequence[Batch], feed: BatchSampler) -> int:
    """How many steps may be drawn at once, judged by examples of the objective.

    One where a generator proposes words with its weights of that step, or every batch draws its part of a mixture.
    """
    if objective.proposes or any(chain.parts for chain in objective.chains):
        return 1
    questions = [q for example in examples for part in example.with_auxiliary for q in part.questions]
    return most_at_once(feed, min([STEPS, *(q.kind.steps_at_once for q in questions)]))


def most_at_once(feed: BatchSampler, steps: int) -> int:
    """At most this number of steps, and no more than fit into one block."""
    return max(1, min(steps, MOST // (feed.batch_size * feed.windows.ids.shape[1])))
