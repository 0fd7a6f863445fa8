"""What is looked into: a model with the text it knows and the objective that trained it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar, cast

import torch
from torch import Generator, Tensor

from playground.analysis.predictions import sentence_of
from playground.batch import Batch, Tokens
from playground.corpora import Corpus, pick
from playground.corpora.corpus import Part
from playground.models import LanguageModel
from playground.objectives import Objective
from playground.rng import generator
from playground.tokenizing import Tokenizer, read_input

MOST_TYPED = 128
"""Tokens of a typed sentence that are read."""

Value = TypeVar("Value")

ROWS_AT_ONCE = 64
"""Sentences that are read in one pass."""


@dataclass(frozen=True, eq=False)
class Subject:
    """A model, its corpus, its objective and its seed; `step` is how far it was trained.

    `held_out` are rows of unseen text as the objective reads them, with second texts where it needs them; `earlier`
    loads the model at the steps of which a checkpoint was kept. What was computed once is kept in `known`, so the model
    must not be trained meanwhile; instruments that take long `report` how many of their parts are done. `lacking` are
    sentences on texts that are fewer than an instrument asked for, `counts` says how much it measured.
    """

    name: str
    model: LanguageModel
    corpus: Corpus
    objective: Objective
    held_out: Tokens
    seed: int = 0
    step: int = 0
    earlier: Mapping[int, Callable[[], LanguageModel]] = field(default_factory=dict, repr=False)
    known: dict[object, object] = field(default_factory=dict, repr=False)
    report: Callable[[int, int], None] = field(default=lambda done, total: None, repr=False)
    lacking: list[str] = field(default_factory=list, repr=False)
    counts: dict[str, int] = field(default_factory=dict, repr=False)

    @property
    def tokenizer(self) -> Tokenizer:
        return self.corpus.tokenizer

    def rng(self, *path: object) -> Generator:
        """Randomness for one purpose; it follows from the seed of the run."""
        return generator(self.seed, "inside", *path)

    def at(self, step: int) -> "Subject":
        """The same at an earlier step of which a checkpoint was kept; it knows the same sentences."""
        return replace(self, model=self.earlier[step](), step=step, earlier={}, known={})

    def batch(self, rows: int = 8) -> Batch:
        """The first held-out rows as the objective makes them into a batch, always with the same gaps."""
        self.count(min(rows, len(self.held_out.ids)), "held-out rows", rows)
        few = pick(self.held_out, torch.arange(min(rows, len(self.held_out.ids))))
        return self.objective.batch(few, self.rng("example"))

    def once(self, key: object, make: Callable[[], Value]) -> Value:
        """A value that is computed the first time it is asked for, and kept in `known`."""
        if key not in self.known:
            self.known[key] = make()
        return cast("Value", self.known[key])

    def sentences(self, count: int) -> Tokens:
        """At most `count` random held-out sentences `[b, t]` with their labels; always the same for a seed.

        They are without [SEP]; `head` is the position within the sentence, -1 for the root.
        """
        rng = self.rng("sentences", "held_out")
        return self.once(("sentences", count), lambda: draw_sentences(self.corpus, count, "held_out", rng))

    def count(self, number: int, what: str, asked: int = 0) -> None:
        """Let the finding say how many it rests on, and where fewer are read than were asked for."""
        self.counts[what] = number
        if number < asked:
            self.lacking.append(f"{number:,} {what} are read instead of {asked:,}.")

    def sentence(self, text: str = "") -> Tokens:
        """A typed sentence as a batch of one row; without a text a held-out one, always the same."""
        read = sentence_of(self.corpus) if not text.strip() else read_input(text, self.tokenizer, MOST_TYPED).tokens
        self.count(int(read.lengths[0]), "tokens")
        return read

    def states(self, tokens: Tokens) -> list[Tensor]:
        """The hidden states `[b, t, d]` of a plain text at all levels, embeddings first; computed once for a text."""
        key = ("states", id(tokens))
        return self.once(key, lambda: (tokens, read_states(self.model, tokens)))[1]  # keeps the text, and so its id

    @property
    def levels(self) -> tuple[str, ...]:
        """The names of the levels of `states`."""
        shape = self.model.shape
        if shape.kind == "static":
            return ("word vectors",)
        norm = ("final norm",) if self.model.top_hidden_state > shape.layers else ()
        return ("embeddings", *(f"layer {k + 1}" for k in range(shape.layers)), *norm)


@torch.no_grad()
def read_states(model: LanguageModel, tokens: Tokens) -> list[Tensor]:
    """The hidden states `[b, t, d]` of a plain text at all levels, a few sentences at a time."""
    parts = torch.arange(len(tokens.ids)).split(ROWS_AT_ONCE)
    each = [model.hidden_states(pick(tokens, rows)) for rows in parts]
    return [torch.cat(level) for level in zip(*each, strict=True)]


SHORTEST, LONGEST = 3, 32
"""Tokens of the sentences that are drawn."""

SENTENCES = f"held-out sentences of {SHORTEST} to {LONGEST} tokens"
"""What is drawn, in words."""


def draw_sentences(corpus: Corpus, count: int, part: Part, rng: Generator) -> Tokens:
    """At most `count` random sentences of a corpus in their order, those of a fitting length."""
    return cut_sentences(corpus, *find_sentences(corpus, count, part, rng))


def find_sentences(corpus: Corpus, count: int, part: Part, rng: Generator) -> tuple[Tensor, Tensor]:
    """Starts and lengths `[b]` of at most `count` random sentences."""
    first, last = (0, corpus.held_out_from) if part == "train" else (corpus.held_out_from, len(corpus))
    number, words = corpus.sentence_ids[first:last], corpus.tokenizer.specials.in_text(corpus.ids[first:last])
    _, position, size = number.unique_consecutive(return_inverse=True, return_counts=True)

    def per_sentence(which: Tensor) -> Tensor:
        return torch.zeros_like(size).index_add_(0, position, which.long())

    lengths = per_sentence(words)
    rows = ((lengths >= SHORTEST) & (lengths <= LONGEST)).nonzero()[:, 0]
    chosen = rows[torch.randperm(len(rows), generator=rng)[:count]].sort().values
    return (first + size.cumsum(0) - size)[chosen], lengths[chosen]


def cut_sentences(corpus: Corpus, starts: Tensor, lengths: Tensor) -> Tokens:
    """The sentences that begin at `starts` `[b]`; special tokens end a sentence, so they follow its words."""
    position = torch.arange(int(lengths.max()) if len(lengths) else 0)
    valid = position < lengths[:, None]
    at = (starts[:, None] + position).where(valid, starts[:, None])

    def cut(row: Tensor, fill: int) -> Tensor:
        return row[at].long().masked_fill(~valid, fill)

    labels = {name: cut(row, -1) for name, row in corpus.labels.items()}
    if "head" in labels:
        head = labels["head"] - starts[:, None]
        labels["head"] = head.where((labels["head"] >= 0) & (head >= 0) & (head < lengths[:, None]), -1)
    specials, zero = corpus.tokenizer.specials, torch.zeros_like(at)
    word_ids = cut(corpus.word_ids, 0)
    return Tokens(
        cut(corpus.ids, specials.pad),
        lengths,
        (word_ids - word_ids[:, :1]).clamp(min=0).where(valid, zero),
        zero,
        specials,
        labels=labels,
        vocabulary=corpus.tokenizer.words,
    )
