"""A corpus: one long row of tokens, their labels, and which of them are held out."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any, Literal

import torch
from torch import Tensor

from playground.batch import OPTIONAL, Tokens
from playground.corpora.segment_pairs import cut_continuing_pairs, cut_pairs, cut_streams, cut_triples, from_zero
from playground.errors import TooShort
from playground.pickling import declared_fields
from playground.tokenizing.tokenizer import Tokenizer

Part = Literal["train", "held_out"]


HELD_OUT = 0.1
"""Fraction of the tokens, at the end, that is not used for training."""


@dataclass(frozen=True, eq=False)
class Corpus:
    """Documents one after another, each ended by [SEP]; word, sentence and document ids are running numbers.

    `labels` have a value for each token (-1: none); `label_names` name the values of those that are classes, the others
    are running numbers (of a phrase or a name) or positions (of a head or a translation). `entropy_bound` is the cross
    entropy of the generator in nats per token, which a perfect left-to-right model of whole documents would reach; a
    bidirectional model can reach less, a model that starts within documents a little more. No row of text crosses the
    border of a section; `sections` are the first tokens of all sections but the first. `note` and `warning`, parts of
    the description, say how a person's own text was read, and what was left out of it.
    """

    name: str
    description: str
    tokenizer: Tokenizer
    ids: Tensor
    word_ids: Tensor
    sentence_ids: Tensor
    document_ids: Tensor
    held_out_from: int
    labels: Mapping[str, Tensor] = field(default_factory=dict)
    label_names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    entropy_bound: float | None = None
    sections: tuple[int, ...] = ()
    note: str = ""
    warning: str = ""

    __getstate__ = declared_fields

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def notice(self) -> str:
        """The note and the warning."""
        return f"{self.note} {self.warning}".strip()

    @cached_property
    def hash(self) -> str:
        """A hash of ids, labels and vocabulary, the same on every machine."""
        vocabulary = json.dumps([self.tokenizer.kind, self.tokenizer.lower, self.tokenizer.words])
        digest = hashlib.blake2b(vocabulary.encode(), digest_size=16)
        rows = {"ids": self.ids, "word": self.word_ids, "sentence": self.sentence_ids, "document": self.document_ids}
        for name, row in sorted({**rows, **{f"label {k}": v for k, v in self.labels.items()}}.items()):
            digest.update(f"{name} {row.dtype} {len(row)} {self.held_out_from}".encode())
            digest.update(row.numpy().tobytes())
        if self.sections:
            digest.update(f"sections {self.sections}".encode())
        return digest.hexdigest()

    @cached_property
    def unigram_entropy(self) -> float:
        """The entropy of the token frequencies in the training part, in nats per token."""
        counts = torch.bincount(self.ids[: self.held_out_from]).double()
        shares = counts[counts > 0] / counts.sum()
        return float(-(shares * shares.log()).sum())

    def windows(self, length: int, part: Part = "train", in_order: bool = False) -> Tokens:
        """The part cut into rows `[r, length]` without padding; the rest at the end of a section is dropped.

        Rows of several sections are mixed evenly, so that the first rows contain some of each, unless they stay in the
        order of the text.
        """
        first, last = self._bounds(part)
        starts = self._row_starts(first, last, length)
        starts = starts.sort().values if in_order else starts
        if not len(starts):
            raise TooShort(
                f"The {part.replace('_', '-')} part of {self.name} has {last - first} tokens; "
                f"one window of {length} needs {length}. Use a longer text or shorter windows.",
                len(self),
            )

        def cut(row: Tensor) -> Tensor:
            if not self.sections:  # a view, which needs no memory for the ids
                return row[first : first + len(starts) * length].view(-1, length).long()
            return row[starts[:, None] + torch.arange(length)].long()

        return Tokens(
            ids=cut(self.ids),
            lengths=torch.full((len(starts),), length),
            word_ids=from_zero(cut(self.word_ids)),
            sentence_ids=from_zero(cut(self.sentence_ids)),
            specials=self.tokenizer.specials,
            labels={name: cut(row) for name, row in self.labels.items()},
            vocabulary=self.tokenizer.words,
            padded=False,
        )

    def pairs(self, length: int, part: Part = "train", seed: int = 0) -> Tokens:
        """Segments A `[r, t]`, padded, with the neighbours "next" and "other" of at most `length` - |A| tokens each.

        Segments are whole sentences where those fit, without [SEP]. "next" follows A in its document, "other" is of
        another document. In a corpus of two languages A is a sentence, and "translation" takes the place of "next".
        """
        return cut_pairs(self, length, *self._bounds(part), seed)

    def streams(self, length: int, part: Part = "train") -> dict[str, Tokens]:
        """For both sentences of each pair of translations a row of `length` tokens that goes on in its language."""
        return cut_streams(self, length, *self._bounds(part))

    def continuing_pairs(self, length: int, part: Part = "train", seed: int = 0) -> Tokens:
        """Pairs in rows of `length` tokens, of which the first half goes on behind the first half of the row before.

        A `[r, t]` begins with that half; the neighbours "next" and "other" fill the row (XLNet's released code).
        """
        first, last = self._bounds(part)
        starts = self._row_starts(first, last, length // 2).sort().values
        return cut_continuing_pairs(self, starts[starts + length <= last], length, seed)

    def triples(self, length: int, part: Part = "train", seed: int = 0, paragraphs: bool = False) -> Tokens:
        """Sentences A `[r, t]` with the neighbours "next", "apart" (of A's document, but not beside A) and "other".

        With `paragraphs` a row goes on after A with the sentences that follow it, as many as fit into the length.
        """
        return cut_triples(self, length, *self._bounds(part), seed, paragraphs)

    def count_rows(self, length: int) -> int:
        """How many rows of so many tokens the training part has."""
        return len(self._row_starts(*self._bounds("train"), length))

    def _row_starts(self, first: int, last: int, length: int) -> Tensor:
        """The first tokens of all rows of a part, `[r]`."""
        edges = [first, *(edge for edge in self.sections if first < edge < last), last]
        starts = [torch.arange(a, max(a, b - length + 1), length) for a, b in pairwise(edges)]
        rank = torch.cat([(torch.arange(len(rows)) + 0.5) / max(1, len(rows)) for rows in starts])
        return torch.cat(starts)[rank.argsort(stable=True)]

    def _bounds(self, part: Part) -> tuple[int, int]:
        """The first token of a part and one after its last."""
        return (0, self.held_out_from) if part == "train" else (self.held_out_from, len(self))


def pick(tokens: Tokens, index: Tensor, **known: Tensor) -> Tokens:
    """The rows of a batch with these indices, in this order; the fields in `known` are given and not picked."""
    by_row = [name for name in OPTIONAL if name != "word_counts"]
    fields = ("ids", "lengths", "word_ids", "sentence_ids", "labels", "neighbours", *by_row)
    picked = {name: _rows(getattr(tokens, name), index) for name in fields if name not in known}
    return replace(tokens, **{**picked, **known, "sizes": None})


def _rows(value: Any, index: Tensor) -> Any:
    if isinstance(value, Mapping):
        return {name: _rows(v, index) for name, v in value.items()}
    if isinstance(value, Tokens):
        return pick(value, index)
    return None if value is None else value.index_select(0, index)


def joined(texts: Sequence[Corpus]) -> Corpus:
    """Generated corpora of one vocabulary as one: each is a section of the training part and of the held-out part."""
    begins = [0, *accumulate(map(len, texts))]
    edges = [
        (begin, begin + text.held_out_from, end) for text, (begin, end) in zip(texts, pairwise(begins), strict=True)
    ]
    order = [torch.arange(begin, border) for begin, border, _ in edges]
    order += [torch.arange(border, end) for _, border, end in edges]

    def chain(rows: Sequence[Tensor], starts: Sequence[int] = ()) -> Tensor:
        """The rows of all texts as one, with running numbers that continue from text to text."""
        starts = starts or [0, *accumulate(int(row.max()) + 1 for row in rows)]
        return torch.cat([row.where(row < 0, row + start) for row, start in zip(rows, starts, strict=False)])

    labels = {}
    for name in texts[0].labels:
        rows = [text.labels[name] for text in texts]
        classes = name in texts[0].label_names
        labels[name] = torch.cat(rows) if classes else chain(rows, begins if name == "head" else ())
    whole = replace(
        texts[0],
        ids=torch.cat([text.ids for text in texts]),
        word_ids=torch.arange(begins[-1], dtype=torch.int32),
        sentence_ids=chain([text.sentence_ids for text in texts]),
        document_ids=chain([text.document_ids for text in texts]),
        held_out_from=sum(text.held_out_from for text in texts),
        labels=labels,
        entropy_bound=None,
        sections=tuple(accumulate(map(len, order[:-1]))),
    )
    return reordered(whole, torch.cat(order))


def reordered(corpus: Corpus, order: Tensor) -> Corpus:
    """The tokens in another order: sentences and documents are counted anew, heads point to the same tokens."""
    head = corpus.labels["head"]
    labels = {**corpus.labels, "head": order.argsort()[head.long()].int().where(head >= 0, -1)}
    return replace(
        corpus,
        ids=corpus.ids[order],
        sentence_ids=_counted(corpus.sentence_ids[order]),
        document_ids=_counted(corpus.document_ids[order]),
        labels={name: row[order] for name, row in labels.items()},
    )


def _counted(numbers: Tensor) -> Tensor:
    """The running number of each run of equal numbers."""
    return numbers.unique_consecutive(return_inverse=True)[1].int()


def find_boundary(ends: Tensor, sentence: Tensor) -> int:
    """Where the held-out part begins: after the document that `ends` nearest `[n]`, else after the nearest sentence."""
    target = round(len(ends) * (1 - HELD_OUT))
    slack = max(1, round(len(ends) * HELD_OUT / 2))
    for positions in (ends[:-1].nonzero()[:, 0] + 1, (sentence[1:] != sentence[:-1]).nonzero()[:, 0] + 1):
        if len(positions) and int((positions - target).abs().min()) <= slack:
            return int(positions[(positions - target).abs().argmin()])
    return target
