"""Pairs and triples of segments: the next one, a translation, one that is not adjacent, one of another document."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from playground.batch import Tokens
from playground.errors import TooShort, UserError
from playground.rng import generator

if TYPE_CHECKING:
    from playground.corpora.corpus import Corpus


@dataclass(frozen=True)
class Segments:
    """Spans of a corpus `[r]`: first token and one after the last, and the document of each."""

    first: Tensor
    last: Tensor
    document: Tensor

    @property
    def length(self) -> Tensor:
        return self.last - self.first

    def of(self, index: Tensor) -> "Segments":
        return Segments(self.first[index], self.last[index], self.document[index])


def cut_pairs(corpus: "Corpus", length: int, first: int, last: int, seed: int) -> Tokens:
    """Segment A of every pair in the tokens from `first` to `last`, with its neighbours.

    In a text with two languages they are a sentence and its translation, in any other A and what follows it in its
    document. "other" is a second segment of another document, of about the same length and in the same language, so
    that neither predicts which it is.
    """
    if length < 2:
        raise UserError(f"The length is {length}; a pair of segments needs at least 2 tokens.")
    rng = generator(seed, "pairs", length, first)
    sentences = _sentences(corpus, first, last)
    translated = _translated(corpus)
    a, b = _sides(corpus, sentences) if translated else _split(sentences, length, rng)
    if not len(a.first):
        raise TooShort(
            f"No document of {corpus.name} has two sentences among its tokens {first} to {last}, so there are no "
            "pairs. Use a longer text, or one whose sentences end with a full stop.",
            len(corpus),
        )
    neighbours = {"translation" if translated else "next": b, "other": _from_other_documents(b, corpus, rng)}
    return _with_neighbours(corpus, a, neighbours, b.length, length, sentences)


def cut_streams(corpus: "Corpus", length: int, first: int, last: int) -> dict[str, Tokens]:
    """Each side of every pair, and behind it the sentences that follow in its language (XLM, arXiv:1901.07291, 5.1).

    Each sentence is ended by [SEP] and the last one cut at `length` tokens; rows near the end of the part are shorter.
    """
    ends = corpus.ids[first:last] == corpus.tokenizer.specials.sep
    sides, rows = _sides(corpus, _sentences(corpus, first, last)), {}
    for name, language, side in zip(("stream", "translation stream"), (0, 1), sides, strict=True):
        kept = (ends | (corpus.labels["language"][first:last] == language)).nonzero()[:, 0] + first
        sentence = corpus.sentence_ids[kept]
        sentence = sentence.roll(1).where(corpus.ids[kept] == corpus.tokenizer.specials.sep, sentence)
        word, sentence = (row.unique_consecutive(return_inverse=True)[1] for row in (corpus.word_ids[kept], sentence))
        spoken = {"language": torch.full_like(kept, language)}
        text = replace(corpus, ids=corpus.ids[kept], word_ids=word, sentence_ids=sentence, labels=spoken)
        begin = torch.searchsorted(kept, side.first)
        rows[name] = _cut(text, replace(side, first=begin, last=(begin + length).clamp(max=len(kept))), begin)
    return rows


def cut_continuing_pairs(corpus: "Corpus", starts: Tensor, length: int, seed: int) -> Tokens:
    """Rows of a stretch of `length` // 2 tokens and a pair behind it, cut at the end of a sentence where one ends.

    A begins with the stretch, "next" follows A, and "other" is as long and of another document.
    """
    rng, half = generator(seed, "continuing pairs", length), length // 2
    if not len(starts) or length < 4:
        raise TooShort(f"{corpus.name} has no row of {length} tokens for a pair. Use a longer text.", len(corpus))
    behind = starts[:, None] + torch.arange(half + 1, length)  # where B may begin
    ends = corpus.sentence_ids[behind] != corpus.sentence_ids[behind - 1]
    chance = torch.rand(behind.shape, generator=rng) + ends
    cut = behind.gather(1, chance.argmax(1, keepdim=True))[:, 0]
    document = corpus.document_ids
    b = Segments(cut, starts + length, document[cut])
    other = _from_other_documents(b, corpus, rng)
    begin = other.first.minimum(starts.max() + length - b.length)
    cuts = (Segments(starts, cut, document[starts]), b, Segments(begin, begin + b.length, document[begin]))
    first, following, elsewhere = (_cut(corpus, each, torch.zeros_like(starts)) for each in cuts)
    return replace(first, neighbours={"next": following, "other": elsewhere}, reuse_len=half)


def cut_triples(corpus: "Corpus", length: int, first: int, last: int, seed: int, paragraphs: bool = False) -> Tokens:
    """Every sentence that has a next one and another that is not adjacent (ERNIE 2.0, arXiv:1907.12412, sec. 4.2.2).

    "apart" is any of the sentences that are not adjacent, "other" one of another document, about as long as the next.
    With `paragraphs` the sentences that follow in the document stand behind the first, as many as fit.
    """
    if length < 2:
        raise UserError(f"The length is {length}; two sentences need at least 2 tokens.")
    rng = generator(seed, "triples", length, first)
    sentences = _sentences(corpus, first, last)
    a, near, apart = _apart(sentences, rng)
    if not len(a):
        raise TooShort(
            f"No document of {corpus.name} has three sentences among its tokens {first} to {last}. Use a longer text, "
            "or one whose sentences end with a full stop.",
            len(corpus),
        )
    neighbours = {"next": sentences.of(near), "apart": sentences.of(apart)}
    neighbours["other"] = _from_other_documents(neighbours["next"], corpus, rng)
    longest = torch.stack([other.length for other in neighbours.values()]).amax(0)
    rows = _with_neighbours(corpus, sentences.of(a), neighbours, longest, length, sentences)
    if not paragraphs:
        return rows
    going = _going_on(sentences, a, rows.lengths, length)
    return replace(_cut(corpus, going, torch.zeros_like(a)), neighbours=rows.neighbours)


def _going_on(sentences: Segments, a: Tensor, cut: Tensor, length: int) -> Segments:
    """The sentences `a` with those that follow in their documents, whole ones up to `length` tokens.

    A sentence that was `cut` to fewer tokens than it has stands alone.
    """
    alone = sentences.of(a)
    fits = torch.searchsorted(sentences.last, alone.first + length, right=True) - 1
    ends = torch.searchsorted(sentences.document, alone.document, right=True) - 1
    last = sentences.last[fits.minimum(ends).maximum(a)]
    return replace(alone, last=last.where(cut == alone.length, alone.first + cut))


def measure_pairs(corpus: "Corpus", length: int, first: int, last: int, apart: bool) -> tuple[Tensor, int, int]:
    """The whole length of every pair or, with `apart`, triple `[r]`, how many sentences are in one, and all sentences.

    A triple is as long as its two neighbours, for the third text may be shortened without a loss: it is read elsewhere.
    """
    sentences = _sentences(corpus, first, last)
    document, number = sentences.document, len(sentences.document)
    if apart:
        a, near, _ = _apart(sentences, torch.Generator())
        return sentences.last[near] - sentences.first[a], int(torch.isin(document, document[a]).sum()), number
    if _translated(corpus):
        a, b = _sides(corpus, sentences)
        return a.length + b.length, 2 * len(a.first), number
    start, stop = torch.tensor(_blocks(sentences, length), dtype=torch.long).view(-1, 2).T
    return sentences.last[stop - 1] - sentences.first[start], int((stop - start).sum()), number


def _with_neighbours(
    corpus: "Corpus", a: Segments, neighbours: dict[str, Segments], longest: Tensor, length: int, sentences: Segments
) -> Tokens:
    """Segments with their neighbours, the longer of both (a neighbour of `longest` tokens) shortened until both fit."""
    a = replace(a, last=a.first + a.length.minimum((length - longest).clamp(min=(length + 1) // 2)))
    neighbours = {name: _shorten(other, length - a.length, sentences) for name, other in neighbours.items()}
    nothing = torch.zeros_like(a.first)
    cut = {
        name: _cut(corpus, other, a.length if name == "translation" else nothing) for name, other in neighbours.items()
    }
    facing = neighbours["translation"].length if "translation" in neighbours else nothing
    return replace(_cut(corpus, a, facing), neighbours=cut)


def _apart(sentences: Segments, rng: torch.Generator) -> tuple[Tensor, Tensor, Tensor]:
    """The numbers of sentences, of the next ones, and of a random one of each document that is not adjacent."""
    document, number = sentences.document, torch.arange(len(sentences.document))
    start = torch.searchsorted(document, document)
    stop = torch.searchsorted(document, document, right=True)
    before, after = (number - 1 - start).clamp(min=0), (stop - number - 2).clamp(min=0)
    drawn = (torch.rand(len(number), generator=rng, dtype=torch.double) * (before + after)).long()
    apart = (start + drawn).where(drawn < before, number + 2 + drawn - before)
    kept = (number + 1 < stop) & (before + after > 0)
    return number[kept], number[kept] + 1, apart[kept]


def _sentences(corpus: "Corpus", first: int, last: int) -> Segments:
    """The sentences of a part in order, without [SEP]."""
    kept = (corpus.ids[first:last] != corpus.tokenizer.specials.sep).nonzero()[:, 0] + first
    sentence, document = corpus.sentence_ids[kept], corpus.document_ids[kept]
    begins = torch.ones(len(kept), dtype=torch.bool)
    begins[1:] = (sentence[1:] != sentence[:-1]) | (document[1:] != document[:-1])
    return Segments(kept[begins], kept[begins.roll(-1)] + 1, document[begins])


def _translated(corpus: "Corpus") -> bool:
    """Whether documents contain a text and its translation."""
    if "language" not in corpus.labels:
        return False
    language, document = corpus.labels["language"], corpus.document_ids
    changes = (language[1:] != language[:-1]) & (language[1:] >= 0) & (language[:-1] >= 0)
    return bool((changes & (document[1:] == document[:-1])).any())


def _sides(corpus: "Corpus", sentences: Segments) -> tuple[Segments, Segments]:
    """The sentence of each document and its translation, which follows it."""
    language = corpus.labels["language"][sentences.first]
    position = ((language[:-1] == 0) & (language[1:] == 1)).nonzero()[:, 0]
    position = position[sentences.document[position] == sentences.document[position + 1]]
    return sentences.of(position), sentences.of(position + 1)


def _split(sentences: Segments, length: int, rng: torch.Generator) -> tuple[Segments, Segments]:
    """Blocks of whole sentences that fit, each cut in two between two random sentences."""
    blocks = torch.tensor(_blocks(sentences, length), dtype=torch.long).view(-1, 2)
    start, stop = blocks[:, 0], blocks[:, 1]
    cut = start + 1 + (torch.rand(len(blocks), generator=rng, dtype=torch.double) * (stop - start - 1)).long()
    document = sentences.document[start]
    a = Segments(sentences.first[start], sentences.last[cut - 1], document)
    return a, Segments(sentences.first[cut], sentences.last[stop - 1], document)


def _blocks(sentences: Segments, length: int) -> list[tuple[int, int]]:
    """First sentence and one after the last of each block: as many of a document as fit, and at least two."""
    columns = (sentences.first.tolist(), sentences.last.tolist(), sentences.document.tolist())
    blocks: list[tuple[int, int]] = []
    start, begin, current = 0, 0, None
    for k, (first, last, document) in enumerate(zip(*columns, strict=True)):
        if document != current or (last - begin > length and k - start > 1):
            blocks.append((start, k))
            start, begin, current = k, first, document
    blocks.append((start, len(columns[0])))
    return [(one, after) for one, after in blocks if after - one > 1]


def _from_other_documents(segments: Segments, corpus: "Corpus", rng: torch.Generator) -> Segments:
    """For each segment one of another document in the same language, see `_exchanged`."""
    language = corpus.labels["language"] if "language" in corpus.labels else torch.zeros_like(corpus.ids)
    language = language[segments.first]
    partner = torch.empty_like(segments.first)
    for one in language.unique().tolist():
        same = (language == one).nonzero()[:, 0]
        partner[same] = same[_exchanged(segments.of(same), corpus, rng)]
    return segments.of(partner)


def _exchanged(segments: Segments, corpus: "Corpus", rng: torch.Generator) -> Tensor:
    """The number of one of another document for each segment: the next shorter, with ties in random order."""
    if int(segments.document.min()) == int(segments.document.max()):
        raise TooShort(
            f"This part of {corpus.name} has only one document with pairs, so there is no segment of another one. "
            "Use a text with several documents (empty lines between them), "
            "or an objective of single texts, such as MLM.",
            len(corpus),
        )
    mixed = torch.randperm(len(segments.first), generator=rng)
    order = mixed[segments.length[mixed].argsort(stable=True)]
    document = segments.document[order]
    changes = document.diff(prepend=document[:1] - 1) != 0
    run, starts = changes.cumsum(0) - 1, changes.nonzero()[:, 0]
    return order[torch.where(run > 0, starts[run] - 1, starts[1])][order.argsort()]


def _shorten(segments: Segments, room: Tensor, sentences: Segments) -> Segments:
    """At most so many tokens of each: whole sentences where one fits, else the beginning of the first."""
    limit = segments.first + room
    whole = torch.searchsorted(sentences.last, limit, right=True) - 1
    ends = sentences.last[whole.clamp(min=0)].where(whole >= 0, segments.first)
    last = ends.where(ends > segments.first, limit).minimum(segments.last)
    return replace(segments, last=last.where(segments.length > room, segments.last))


def _cut(corpus: "Corpus", segments: Segments, facing: Tensor) -> Tokens:
    """Segments as rows padded to the longest; only links to the first `facing` tokens of the other side are kept."""
    positions = torch.arange(int(segments.length.max()))
    real = positions < segments.length[:, None]
    at = (segments.first[:, None] + positions).minimum(segments.last[:, None] - 1)
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
