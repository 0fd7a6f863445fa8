"""Batches of a corpus, in an order that follows from the seed and the step alone, and their corruption in blocks."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from playground.batch import Batch, Tokens, full_view
from playground.corpora import Corpus
from playground.corpora.corpus import Part, pick
from playground.corpora.derived_labels import with_derived
from playground.corpora.segment_pairs import measure_pairs
from playground.errors import UserError
from playground.objectives import Objective
from playground.objectives.steps import has_beginning
from playground.rng import generator
from playground.slicing import split_rows
from playground.training.train_state import PartialBatch, TrainState
from playground.zoo.entry import Entry


@dataclass
class BatchSampler:
    """Samples batches; that of a step is the same whatever ran before, so a run can be resumed or forked anywhere.

    Where each row continues that of the step before, the text is cut into as many stretches as a batch has rows, each
    read from its begin to its end in every epoch (Transformer-XL, arXiv:1901.02860, sec. 3.2); else rows are shuffled.
    """

    windows: Tokens
    held_out: Tokens
    batch_size: int
    seed: int
    continues: bool = False
    _order: dict[int, Tensor] = field(default_factory=dict, repr=False)

    @classmethod
    def of(
        cls,
        corpus: Corpus,
        window: int,
        batch: int,
        seed: int,
        device: torch.device,
        needs: Sequence[str] = (),
        continues: bool = False,
    ) -> "BatchSampler":
        """All windows of a corpus on the device, with only the second texts and labels that an objective needs."""
        counts = torch.bincount(corpus.ids[: corpus.held_out_from].long(), minlength=len(corpus.tokenizer))
        train = replace(windows(corpus, window, "train", seed, needs, continues), word_counts=counts)
        held_out = replace(windows(corpus, window, "held_out", 0, needs, continues), word_counts=counts)
        ids = torch.arange(len(train.ids) + len(held_out.ids))
        train = replace(train, example_ids=ids[: len(train.ids)]).to(device)
        held_out = replace(held_out, example_ids=ids[len(train.ids) :], epoch=torch.zeros_like(held_out.lengths))
        return cls(train, held_out.to(device), min(batch, len(train.ids)), seed, continues)

    @classmethod
    def of_learner(cls, learner: TrainState, corpus: Corpus) -> "BatchSampler":
        """The batches on which a learner trains, with the second texts that its objective needs."""
        recipe, needs, continues = learner.entry.recipe, learner.objective.needs, learner.entry.continues
        return cls.of(corpus, recipe.seq_len, recipe.batch_size, learner.seed, learner.device, needs, continues)

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
        return self._picked(self.windows, index, number, epoch=epochs)

    def _order_of(self, epoch: int) -> Tensor:
        if epoch not in self._order:
            self._order.clear()
            if self.continues:
                order = continuing(len(self.windows.ids), self.batch_size)
            else:
                order = torch.randperm(len(self.windows.ids), generator=generator(self.seed, "order", epoch))
            self._order[epoch] = order.to(self.windows.ids.device)
        return self._order[epoch]

    def marked(self, batch: Batch, step: int) -> Batch:
        """The batch of a step, with no tokens before its rows where they begin anew; no device is asked for that."""
        if not self.continues or step % (len(self.windows.ids) // self.batch_size):
            return batch
        return replace(batch, tokens=replace(batch.tokens, previous_ids=None))

    def evaluation(self, rows: int = 64) -> Tokens:
        """The held-out rows of every evaluation; where rows continue each other, one batch of them after another."""
        device, there = self.held_out.ids.device, min(rows, len(self.held_out.ids))
        if not self.continues:
            return pick(self.held_out, torch.arange(there, device=device))
        stretches = min(STRETCHES, there)
        return self._picked(self.held_out, continuing(there, stretches).to(device), there // stretches)

    def _picked(self, rows: Tokens, index: Tensor, length: int, **known: Tensor) -> Tokens:
        """The rows with these indices, with the token before each that continues a stretch of `length` rows."""
        if self.continues:
            known["previous_ids"] = rows.ids[index - 1, rows.reuse_len - 1].where(index % length > 0, -1)
        return pick(rows, index, **known)


STRETCHES = 8
"""Stretches of text that are read side by side in an evaluation where rows continue each other."""


def continuing(rows: int, stretches: int) -> Tensor:
    """The indices of so many rows by steps: the first rows of all stretches of text, then the second ones."""
    length = rows // stretches
    return torch.arange(stretches * length).view(stretches, length).T.flatten()


PAIRED = frozenset(("pair", "translation", "distance"))
"""Needs of an objective that are cut out of a corpus sentence by sentence, in rows of any length."""


def longest_window(corpus: Corpus, seq_len: int, needs: Sequence[str] = ()) -> int:
    """The longest row of at most `seq_len` tokens that fits into the training part and the held-out part."""
    if PAIRED & set(needs):
        return seq_len
    return min(seq_len, corpus.held_out_from, len(corpus) - corpus.held_out_from)


def describe_left_out(corpus: Corpus, entry: Entry) -> Iterator[str]:
    """Sentences on what an entry does not read of the training part, and on batches that are smaller than asked for.

    The rest of a text that does not fill a row is not mentioned: it is shorter than a row, and so than what is held
    out.
    """
    recipe, border = entry.recipe, corpus.held_out_from
    for paired in dict.fromkeys(PAIRED & set(entry.objective_in(phase).needs) for phase in entry.all_phases):
        if paired and not entry.continues:
            apart = "distance" in paired
            lengths, read, sentences = measure_pairs(corpus, recipe.seq_len, 0, border, apart)
            if cut := int((lengths > recipe.seq_len).sum()):
                longer = f"{cut:,} of the {len(lengths):,} pairs of texts to train on are longer than a row"
                yield f"{longer} of {recipe.seq_len} tokens; their ends are left out."
            if left := sentences - read:
                why = "are in a document of one or two" if apart else "make no pair with another"
                yield f"{left:,} of the {sentences:,} sentences to train on {why}; they are not read."
            rows = len(lengths)
        else:  # the rows of pairs go on behind their first halves
            rows = corpus.count_rows(recipe.seq_len // 2) - 1 if paired else corpus.count_rows(recipe.seq_len)
        batch = min(rows, recipe.batch_size)
        if 0 < batch < recipe.batch_size:
            yield f"A batch has all {rows:,} rows instead of {recipe.batch_size:,}."
        if entry.continues and batch and rows % batch:
            rest = f"{rows % batch:,} of the {rows:,} rows to train on are not read"
            yield f"{rest}, as every batch of {batch:,} rows continues the one before."


def windows(
    corpus: Corpus, window: int, part: Part, seed: int, needs: Sequence[str], continues: bool = False
) -> Tokens:
    """One part of a corpus as rows of text, or of the several texts of an objective, with only the needed labels."""
    if continues and (PAIRED - {"pair"}) & set(needs):
        raise UserError(
            "mem_len is above 0, but this objective reads several texts, which do not continue those of the step "
            "before; set mem_len to 0."
        )
    label_names = {need.removeprefix("label:") for need in needs if need.startswith("label:")}
    corpus = with_derived(corpus, label_names)
    if continues and "pair" in needs:
        rows = corpus.continuing_pairs(window, part, seed)
    elif "distance" in needs:
        rows = corpus.triples(window, part, seed, "sentences" in needs)
    else:
        rows = corpus.pairs(window, part, seed) if PAIRED & set(needs) else corpus.windows(window, part, continues)
    if "translation" in needs and "translation" not in rows.neighbours:
        raise UserError(f"No translations are in {corpus.name}; choose a text in two languages, such as parallel.")
    if "stream" in needs:
        rows = replace(rows, neighbours={**rows.neighbours, **corpus.streams(window, part)})
    for name in sorted(label_names - set(rows.labels)):
        known = ", ".join(rows.labels) or "none"
        raise UserError(f"The words of {corpus.name} have no label {name!r}; their labels are: {known}.")
    return _only(rows, label_names | {"language"} if "translation" in needs else label_names)


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
    """The batches of a run; that of a step follows from the seed and the number of its block, wherever the run begins.

    Where a generator answers in every step, each batch draws its part of a mixture, or a curriculum changes what is
    trained, the batches of `ahead` steps are begun at once, each by its own draws.
    """

    feed: BatchSampler
    learner: TrainState
    steps: int
    ahead: int = 1
    _number: int = -1
    _drawn: list[Batch] = field(default_factory=list, repr=False)
    _opened: dict[int, PartialBatch] = field(default_factory=dict, repr=False)

    def at(self, step: int) -> Batch:
        """The batch of a step (0-based), as wide as its own widest row."""
        return self.feed.marked(self._alone(step) if self.steps == 1 else self._in_block(step), step)

    def _in_block(self, step: int) -> Batch:
        """The batch of a step that is drawn together with others."""
        number, index = divmod(step, self.steps)
        if number != self._number:
            self.begin_anew(self.steps)  # the last block's memory is free before the next one is drawn
            first = number * self.steps
            whole = self.learner.batch(self.feed.between(first, first + self.steps), "block", number)
            self._number = number
            self._drawn = self.learner.with_reading_order(split_rows(whole, self.feed.batch_size, trim=True))
        return self._drawn[index]

    def _alone(self, step: int) -> Batch:
        """The batch of a step that is drawn by itself; the device is waited for once for several of them."""
        learner = self.learner
        if not has_beginning(learner.objective):
            return learner.batch(self.feed.at(step), step)
        if step not in self._opened or self._opened[step].objective is not learner.objective:
            self._opened = {}
            self._opened = {k: learner.opened(self.feed.at(k), k) for k in range(step, step + self.ahead)}
        return self._opened[step].ended()

    def begin_anew(self, steps: int) -> None:
        """Drop what was drawn; from now on so many steps are drawn, or begun, at once."""
        if self.steps > 1:
            self.steps = steps
        self.ahead, self._number, self._drawn, self._opened = steps, -1, [], {}


def steps_together(objective: Objective, batches: Sequence[Batch], feed: BatchSampler) -> int:
    """How many steps may be drawn at once, judged by batches of the objective.

    One where a generator proposes words with its weights of that step, every batch draws its part of a mixture, or what
    is trained changes from step to step.
    """
    if (
        objective.proposes
        or objective.changes
        or any(chain.parts and not chain.mixes_rows for chain in objective.chains)
    ):
        return 1
    targets = [target for batch in batches for part in batch.with_auxiliary for target in part.targets]
    return most_at_once(feed, min([STEPS, *(q.kind.steps_at_once for q in targets)]))


def most_at_once(feed: BatchSampler, steps: int) -> int:
    """At most this number of steps, and no more than fit into one block."""
    return max(1, min(steps, MOST // (feed.batch_size * feed.windows.ids.shape[1])))
