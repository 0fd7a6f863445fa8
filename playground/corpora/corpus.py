"""A corpus: one long row of tokens, what is known about each, and which of them are held out."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal

import torch
from torch import Tensor

from playground.batch import Tokens
from playground.corpora.segment_pairs import cut_pairs, cut_triples, from_zero
from playground.errors import Refusal
from playground.tokenizing.tokenizer import Tokenizer
from playground.tokenizing.vocabulary import SEPARATOR

Part = Literal["train", "held_out"]

HELD_OUT = 0.1
"""Share of the tokens, at the end, that no training step sees."""


@dataclass(frozen=True, eq=False)
class Corpus:
    """Documents one after another, each ended by [SEP]; `word`, `sentence` and `document` are running numbers.

    `labels` say what is true of each token (-1: nothing); `label_names` name the values of those that are classes, the
    others are numbers (the running number of a phrase or of a name, the place of a twin). `entropy_bound` is the
    generator's own surprise in nats per token: what a perfect reader would pay that reads whole documents from left to
    right. A reader that sees both sides (BERT's) can pay less, one that begins in the middle of a document pays a
    little more. No row of text goes on from one section into the next; `sections` are the first tokens of all but the
    first.
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

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def hash(self) -> str:
        """A name for the content: the same ids, labels and vocabulary give the same hash on every machine."""
        digest = hashlib.blake2b(self.tokenizer.to_json().encode(), digest_size=16)
        rows = {"ids": self.ids, "word": self.word_ids, "sentence": self.sentence_ids, "document": self.document_ids}
        for name, row in sorted({**rows, **{f"label {k}": v for k, v in self.labels.items()}}.items()):
            digest.update(f"{name} {row.dtype} {len(row)} {self.held_out_from}".encode())
            digest.update(row.numpy().tobytes())
        if self.sections:
            digest.update(f"sections {self.sections}".encode())
        return digest.hexdigest()

    @cached_property
    def unigram_entropy(self) -> float:
        """What a reader pays per token, in nats, that knows how frequent each token is and nothing else."""
        counts = torch.bincount(self.ids[: self.held_out_from]).double()
        shares = counts[counts > 0] / counts.sum()
        return float(-(shares * shares.log()).sum())

    def windows(self, length: int, part: Part = "train") -> Tokens:
        """The part cut into rows `[r, length]` without padding; what is left over at the end of a section is dropped.

        Rows of several sections are mixed evenly, so that the first rows hold some of each.
        """
        first, last = self._bounds(part)
        starts = self._starts(first, last, length)
        rows = len(starts)
        if rows < 1:
            raise Refusal(
                f"The {part.replace('_', '-')} part of {self.name} has {last - first} tokens; "
                f"one window of {length} needs {length}. Use a longer text or shorter windows."
            )

        def cut(row: Tensor) -> Tensor:
            if not self.sections:
                return row[first : first + rows * length].view(rows, length).long()
            return row[starts[:, None] + torch.arange(length)].long()

        return Tokens(
            ids=cut(self.ids),
            lengths=torch.full((rows,), length),
            word_ids=from_zero(cut(self.word_ids)),
            sentence_ids=from_zero(cut(self.sentence_ids)),
            specials=self.tokenizer.specials,
            labels={name: cut(row) for name, row in self.labels.items()},
            vocabulary=self.tokenizer.words,
            padded=False,
        )

    def pairs(self, length: int, part: Part = "train", seed: int = 0) -> Tokens:
        """Segments A `[r, t]`, padded, with the neighbours "next" and "other" of at most `length` - |A| tokens each.

        Segments are whole sentences where those fit, without [SEP]. "next" follows A in its document, "other" comes
        from another document. In a corpus of two languages A is a sentence and "translation" stands for "next".
        """
        return cut_pairs(self, length, *self._bounds(part), seed)

    def triples(self, length: int, part: Part = "train", seed: int = 0) -> Tokens:
        """Sentences A `[r, t]` with the neighbours "next", "apart" (of A's document, but not beside A) and "other"."""
        return cut_triples(self, length, *self._bounds(part), seed)

    def _starts(self, first: int, last: int, length: int) -> Tensor:
        """The first tokens of all rows of a part, `[r]`."""
        edges = [first, *(edge for edge in self.sections if first < edge < last), last]
        cut = [torch.arange(a, max(a, b - length + 1), length) for a, b in pairwise(edges)]
        when = torch.cat([(torch.arange(len(some)) + 0.5) / max(1, len(some)) for some in cut])
        return torch.cat(cut)[when.argsort(stable=True)]

    def _bounds(self, part: Part) -> tuple[int, int]:
        """The first token of a part and one after its last."""
        return (0, self.held_out_from) if part == "train" else (self.held_out_from, len(self))


def pick(tokens: Tokens, index: Tensor, **known: Tensor) -> Tokens:
    """Some rows of a batch, in the order of `index`, with all that is known about them; some of it is `known` anew."""
    picked = ("ids", "lengths", "word_ids", "sentence_ids", "labels", "neighbours", "example_ids", "epoch")
    found = {name: _rows(getattr(tokens, name), index) for name in picked if name not in known}
    return replace(tokens, **{**found, **known, "sizes": None})


def _rows(value: Any, index: Tensor) -> Any:
    if isinstance(value, Mapping):
        return {name: _rows(v, index) for name, v in value.items()}
    if isinstance(value, Tokens):
        return pick(value, index)
    return None if value is None else value.index_select(0, index)


def joined(texts: Sequence[Corpus]) -> Corpus:
    """Generated corpora of one vocabulary as one: each is a section of the part to train on and of what is held out."""
    cuts = [0, *(len(text) for text in texts)]
    begins = torch.tensor(cuts).cumsum(0).tolist()[:-1]
    parts = [torch.arange(b, b + text.held_out_from) for b, text in zip(begins, texts, strict=True)]
    parts += [torch.arange(b + t.held_out_from, b + len(t)) for b, t in zip(begins, texts, strict=True)]
    order = torch.cat(parts)
    there = torch.empty_like(order)
    there[order] = torch.arange(len(order))

    def put(rows: Sequence[Tensor], numbered: bool = False) -> Tensor:
        """The rows of all texts as one; running numbers go on from text to text."""
        ends = [0, *(int(row.max()) + 1 for row in rows)]
        shift = torch.tensor(ends).cumsum(0).tolist()
        rows = [row.where(row < 0, row + by) for row, by in zip(rows, shift, strict=False)] if numbered else rows
        return torch.cat(list(rows))[order]

    labels = {name: put([t.labels[name] for t in texts], name not in texts[0].label_names) for name in texts[0].labels}
    if "head" in labels:
        heads = torch.cat([t.labels["head"] + b * (t.labels["head"] >= 0) for b, t in zip(begins, texts, strict=True)])
        labels["head"] = there[heads[order].long()].int().where(heads[order] >= 0, -1)
    edges = torch.tensor([len(part) for part in parts]).cumsum(0).tolist()
    return replace(
        texts[0],
        ids=put([text.ids for text in texts]),
        word_ids=torch.arange(len(order), dtype=torch.int32),
        sentence_ids=counted(put([text.sentence_ids for text in texts], numbered=True)),
        document_ids=counted(put([text.document_ids for text in texts], numbered=True)),
        held_out_from=sum(text.held_out_from for text in texts),
        labels=labels,
        entropy_bound=None,
        sections=tuple(edges[:-1]),
    )


def counted(numbers: Tensor) -> Tensor:
    """Runs of equal numbers, counted through."""
    return numbers.unique_consecutive(return_inverse=True)[1].int()


def find_boundary(ids: Tensor, sentence: Tensor, share: float = HELD_OUT) -> int:
    """Where the held-out part begins: after the document that ends nearest, else after the nearest sentence."""
    wanted = round(len(ids) * (1 - share))
    slack = max(1, round(len(ids) * share / 2))
    ends = (ids[:-1] == SEPARATOR).nonzero()[:, 0] + 1
    for places in (ends, (sentence[1:] != sentence[:-1]).nonzero()[:, 0] + 1):
        if len(places) and int((places - wanted).abs().min()) <= slack:
            return int(places[(places - wanted).abs().argmin()])
    return wanted
