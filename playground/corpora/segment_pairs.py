"""Texts cut into pairs of segments: what follows what, what does not, and what translates what."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from playground.batch import Tokens
from playground.errors import Refusal
from playground.rng import generator
from playground.tokenizing.vocabulary import SEPARATOR

if TYPE_CHECKING:
    from playground.corpora.corpus import Corpus


@dataclass(frozen=True)
class Segments:
    """Runs of a corpus `[r]`: first token and one after the last, and the document that each is cut from."""

    first: Tensor
    last: Tensor
    document: Tensor

    @property
    def length(self) -> Tensor:
        return self.last - self.first

    def of(self, index: Tensor) -> "Segments":
        return Segments(self.first[index], self.last[index], self.document[index])


def cut_pairs(corpus: "Corpus", length: int, first: int, last: int, seed: int) -> Tokens:
    """Segment A of every pair in the tokens from `first` to `last`, with its neighbours of equal number.

    A text with two languages gives a sentence and its translation; any other gives what follows A in its document.
    "other" is a second segment of another document, of about the same length and in the same language, so that
    neither gives anything away.
    """
    if length < 2:
        raise Refusal(f"The length is {length}; a pair of segments needs at least 2 tokens.")
    rng = generator(seed, "pairs", length, first)
    sentences = _sentences(corpus, first, last)
    translated = _translated(corpus)
    a, b = _sides(corpus, sentences) if translated else _split(sentences, length, rng)
    if not len(a.first):
        raise Refusal(
            f"No document of {corpus.name} has two sentences among its tokens {first} to {last}, so there are no "
            "pairs. Use a longer text, or one whose sentences end with a full stop."
        )
    other = _from_elsewhere(b, corpus, rng)
    a = replace(a, last=a.first + _fitting(a.length, b.length, length))
    room = length - a.length
    b, other = _shorten(b, room, sentences), _shorten(other, room, sentences)
    neighbours = {"translation" if translated else "next": _cut(corpus, b, a.length)}
    neighbours["other"] = _cut(corpus, other, torch.zeros_like(room))
    return replace(_cut(corpus, a, b.length), neighbours=neighbours)


def cut_triples(corpus: "Corpus", length: int, first: int, last: int, seed: int) -> Tokens:
    """Every sentence that has a next one and another that is no neighbour (ERNIE 2.0, arXiv:1907.12412, sec. 4.2.2).

    "apart" is any of those others, "other" a sentence of another document that is about as long as the next one.
    """
    if length < 2:
        raise Refusal(f"The length is {length}; two sentences need at least 2 tokens.")
    rng = generator(seed, "triples", length, first)
    sentences = _sentences(corpus, first, last)
    a, near, apart = _apart(sentences, rng)
    if not len(a):
        raise Refusal(
            f"No document of {corpus.name} has three sentences among its tokens {first} to {last}. Use a longer text, "
            "or one whose sentences end with a full stop."
        )
    begin = sentences.of(a)
    others = {"next": sentences.of(near), "apart": sentences.of(apart)}
    others["other"] = _from_elsewhere(others["next"], corpus, rng)
    longest = torch.stack([other.length for other in others.values()]).amax(0)
    begin = replace(begin, last=begin.first + _fitting(begin.length, longest, length))
    room = length - begin.length
    nothing = torch.zeros_like(room)
    cut = {name: _cut(corpus, _shorten(other, room, sentences), nothing) for name, other in others.items()}
    return replace(_cut(corpus, begin, nothing), neighbours=cut)


def _apart(sentences: Segments, rng: torch.Generator) -> tuple[Tensor, Tensor, Tensor]:
    """The numbers of sentences, of those right after them, and of a drawn one of each document that is no neighbour."""
    document, number = sentences.document, torch.arange(len(sentences.document))
    start = torch.searchsorted(document, document)
    stop = torch.searchsorted(document, document, right=True)
    before, after = (number - 1 - start).clamp(min=0), (stop - number - 2).clamp(min=0)
    chance = torch.rand(len(number), generator=rng, dtype=torch.double)
    drawn = (chance * (before + after)).long()
    apart = (start + drawn).where(drawn < before, number + 2 + drawn - before)
    kept = (number + 1 < stop) & (before + after > 0)
    return number[kept], number[kept] + 1, apart[kept]


def _sentences(corpus: "Corpus", first: int, last: int) -> Segments:
    """The sentences of a part in order, without the marks at the ends of documents."""
    kept = (corpus.ids[first:last] != SEPARATOR).nonzero()[:, 0] + first
    sentence, document = corpus.sentence_ids[kept], corpus.document_ids[kept]
    begins = torch.ones(len(kept), dtype=torch.bool)
    begins[1:] = (sentence[1:] != sentence[:-1]) | (document[1:] != document[:-1])
    ends = torch.cat([begins[1:], torch.ones(1, dtype=torch.bool)])[: len(kept)]
    return Segments(kept[begins], kept[ends] + 1, document[begins])


def _translated(corpus: "Corpus") -> bool:
    """Whether documents hold a text and its translation."""
    if "language" not in corpus.labels:
        return False
    language, document = corpus.labels["language"], corpus.document_ids
    changes = (language[1:] != language[:-1]) & (language[1:] >= 0) & (language[:-1] >= 0)
    return bool((changes & (document[1:] == document[:-1])).any())


def _sides(corpus: "Corpus", sentences: Segments) -> tuple[Segments, Segments]:
    """The sentence of each document and its translation, which follows it."""
    language = corpus.labels["language"][sentences.first]
    place = ((language[:-1] == 0) & (language[1:] == 1)).nonzero()[:, 0]
    place = place[sentences.document[place] == sentences.document[place + 1]]
    return sentences.of(place), sentences.of(place + 1)


def _split(sentences: Segments, length: int, rng: torch.Generator) -> tuple[Segments, Segments]:
    """Blocks of whole sentences that fit, each cut in two between two sentences anywhere in it."""
    blocks = torch.tensor(_blocks(sentences, length), dtype=torch.long).view(-1, 2)
    start, stop = blocks[:, 0], blocks[:, 1]
    chance = torch.rand(len(blocks), generator=rng, dtype=torch.double)
    cut = start + 1 + (chance * (stop - start - 1)).long()
    document = sentences.document[start]
    a = Segments(sentences.first[start], sentences.last[cut - 1], document)
    return a, Segments(sentences.first[cut], sentences.last[stop - 1], document)


def _blocks(sentences: Segments, length: int) -> list[tuple[int, int]]:
    """First sentence and one after the last: as many of a document as fit, and two at least."""
    columns = (sentences.first.tolist(), sentences.last.tolist(), sentences.document.tolist())
    blocks: list[tuple[int, int]] = []
    start, begin, current = 0, 0, None
    for k, (first, last, document) in enumerate(zip(*columns, strict=True)):
        if document != current or (last - begin > length and k - start > 1):
            blocks.append((start, k))
            start, begin, current = k, first, document
    blocks.append((start, len(columns[0])))
    return [(one, after) for one, after in blocks if after - one > 1]


def _from_elsewhere(segments: Segments, corpus: "Corpus", rng: torch.Generator) -> Segments:
    """For each segment one of another document in its own language, see `_exchanged`."""
    if "language" not in corpus.labels:
        return _exchanged(segments, corpus, rng)
    language = corpus.labels["language"][segments.first]
    other = [torch.empty_like(segments.first) for _ in range(3)]
    for one in language.unique().tolist():
        own = (language == one).nonzero()[:, 0]
        found = _exchanged(segments.of(own), corpus, rng)
        for row, values in zip(other, (found.first, found.last, found.document), strict=True):
            row[own] = values.to(row.dtype)
    return Segments(*other)


def _exchanged(segments: Segments, corpus: "Corpus", rng: torch.Generator) -> Segments:
    """For each segment one of another document: the next shorter in a random order of equals, so each serves once."""
    if int(segments.document.min()) == int(segments.document.max()):
        raise Refusal(
            f"This part of {corpus.name} has only one document with pairs, so there is no segment of another one. "
            "Use a text with several documents (empty lines between them)."
        )
    number = len(segments.first)
    mixed = torch.randperm(number, generator=rng)
    order = mixed[segments.length[mixed].argsort(stable=True)]
    document = segments.document[order]
    places = torch.arange(number)
    changes = torch.ones(number, dtype=torch.bool)
    changes[1:] = document[1:] != document[:-1]
    run = changes.cumsum(0) - 1
    starts = changes.nonzero()[:, 0]
    second = starts[1]
    before = torch.where(run > 0, starts[run] - 1, second)
    partner = torch.empty_like(order)
    partner[order] = order[before.where(places >= second, second)]
    return segments.of(partner)


def _fitting(one: Tensor, other: Tensor, length: int) -> Tensor:
    """How long the first may be when the longer of the two is cut until both fit."""
    return one.minimum((length - other).clamp(min=(length + 1) // 2))


def _shorten(segments: Segments, room: Tensor, sentences: Segments) -> Segments:
    """At most so many tokens of each: whole sentences where one fits, else the beginning of the first."""
    limit = segments.first + room
    whole = torch.searchsorted(sentences.last, limit, right=True) - 1
    ends = sentences.last[whole.clamp(min=0)].where(whole >= 0, segments.first)
    last = ends.where(ends > segments.first, limit).minimum(segments.last)
    return replace(segments, last=last.where(segments.length > room, segments.last))


def _cut(corpus: "Corpus", segments: Segments, facing: Tensor) -> Tokens:
    """Segments as rows padded to the longest; links into the first `facing` tokens of the other side are kept."""
    width = int(segments.length.max())
    places = torch.arange(width)
    real = places < segments.length[:, None]
    at = (segments.first[:, None] + places).minimum(segments.last[:, None] - 1)
    labels = {name: row[at].long().masked_fill(~real, -1) for name, row in corpus.labels.items()}
    if "aligned" in labels:
        labels["aligned"] = labels["aligned"].masked_fill(labels["aligned"] >= facing[:, None], -1)
    return Tokens(
        ids=corpus.ids[at].masked_fill(~real, corpus.tokenizer.specials.pad),
        lengths=segments.length,
        word_ids=from_zero(corpus.word_ids[at].long()),
        sentence_ids=from_zero(corpus.sentence_ids[at].long()),
        specials=corpus.tokenizer.specials,
        labels=labels,
        vocabulary=corpus.tokenizer.words,
    )


def from_zero(numbers: Tensor) -> Tensor:
    """Running numbers that begin at 0 in every row."""
    return numbers - numbers[:, :1]
