"""Words that are read one after another, and the corpus that they make."""

import math
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import TypedDict, Unpack

import torch
from torch import Tensor

from playground.corpora.corpus import HELD_OUT, Corpus, find_boundary
from playground.corpora.unspaced import describe_unspaced
from playground.errors import TooShort, UserError
from playground.tokenizing.sentences import number_sentences
from playground.tokenizing.tokenizer import KindOrAuto, Tokenizer, of_counts, spell_text

FEWEST = 64
"""A text with fewer tokens is too short to train on."""

LIMIT = 10_000_000
"""Words of one text that are used; more would fill the memory of a small computer."""

MOST_TYPES = 1_000_000
"""Different words of one text that are used; no language has so many, but a file of numbers can."""

SLICE = 100_000
"""Words that are tokenized at a time, so that the work needs little memory beside the corpus."""


class Vocabulary(TypedDict, total=False):
    """Options of the vocabulary of a text: kind of tokenizer, number of entries, lower case only."""

    kind: KindOrAuto
    size: int
    lower: bool


class Options(Vocabulary, total=False):
    """The same, or a tokenizer from elsewhere; how often a short text is repeated, and what is mixed with it."""

    tokenizer: Tokenizer

    repeat: int
    mix: Corpus


@dataclass
class DocumentWords:
    """The words of documents, each as the number of its type, with their sentences; type 0 ends a document."""

    limit: int = LIMIT
    types: dict[str, int] = field(default_factory=lambda: {"": 0})
    rows: array = field(default_factory=lambda: array("i"))
    sentence: array = field(default_factory=lambda: array("i"))
    sentences: int = 0
    cut: bool = False

    @property
    def room(self) -> int:
        """How many words can be added; one place is kept for the end of the document."""
        return 0 if len(self.types) > MOST_TYPES else max(0, self.limit - 1 - len(self.rows))

    def add(self, words: Sequence[str], sentence: Sequence[int] | None = None) -> None:
        """Add words, with the number of the sentence of each from 0, as far as there is room."""
        self.cut = self.cut or len(words) > self.room
        words = words[: self.room]
        if not words:
            return
        types = self.types
        self.rows.extend([types.setdefault(word, len(types)) for word in words])
        numbers = number_sentences(words) if sentence is None else sentence[: len(words)]
        self.sentence.extend([self.sentences + number for number in numbers])
        self.sentences += numbers[-1] + 1

    def close(self) -> bool:
        """End the document, its end belongs to the last sentence; False where the document has no words."""
        if not self.rows or self.rows[-1] == 0:
            return False
        self.rows.append(0)
        self.sentence.append(self.sentences - 1)
        return True

    def extend(self, other: "DocumentWords", first: int, last: int, times: int = 1) -> None:
        """Add a part of other words with the same types so many times, each time as documents of its own."""
        rows, sentence = other.rows[first:last], other.sentence[first:last]
        if rows[-1] != 0:
            rows.append(0)
            sentence.append(sentence[-1])
        for _ in range(times):
            self.rows.extend(rows)
            self.sentence.extend(array("i", [self.sentences + number - sentence[0] for number in sentence]))
            self.sentences += sentence[-1] - sentence[0] + 1

    def counts(self) -> dict[str, int]:
        """How often each type occurs; the ends of documents are not counted."""
        every = torch.bincount(torch.frombuffer(self.rows, dtype=torch.int32), minlength=len(self.types)).tolist()
        return {word: count for word, count in zip(self.types, every, strict=True) if word}

    def spread(self, values: Sequence[int]) -> Tensor:
        """A value of each document for each of its words, -1 for its end."""
        ends = torch.frombuffer(self.rows, dtype=torch.int32) == 0
        return torch.tensor(values)[ends.cumsum(0) - ends.long()].masked_fill(ends, -1)


@dataclass
class Labels:
    """The values of one label, numbered in the order of their occurrence; "" is an unknown value."""

    numbers: dict[str, int] = field(default_factory=dict)
    rows: array = field(default_factory=lambda: array("i"))

    def add(self, value: str) -> None:
        self.rows.append(self.numbers.setdefault(value, len(self.numbers)) if value else -1)

    def sorted(self) -> tuple[Tensor, tuple[str, ...]]:
        """The numbers of the values in the order of their names (numbers by size), and the names."""
        names = tuple(sorted(self.numbers, key=_sort_key))
        place = {self.numbers[name]: k for k, name in enumerate(names)}
        table = torch.tensor([*(place[k] for k in range(len(names))), -1])
        return table[torch.tensor(self.rows, dtype=torch.long)], names


@dataclass(frozen=True)
class TokenizedWords:
    """The tokens of words: the `ids`, and for each the index of its `word`; for each word the index of its `first`.

    `word_ids` are the numbers of the tokenizer's own words: one from elsewhere may cut one of ours.
    """

    ids: Tensor
    word: Tensor
    first: Tensor
    word_ids: Tensor


@dataclass(frozen=True)
class WordLabels:
    """Labels with a value for each word (`values`) or the index of another word or -1 (`heads`); `names` of values."""

    values: Mapping[str, Tensor] = field(default_factory=dict)
    heads: Mapping[str, Tensor] = field(default_factory=dict)
    names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.values or self.heads)

    def of_tokens(self, tokens: TokenizedWords) -> dict[str, Tensor]:
        """The labels of each token, those of its word; an index of a word becomes that of the word's first token."""
        first, word = tokens.first, tokens.word
        heads = {label: first[row].long().where(row >= 0, -1)[word] for label, row in self.heads.items()}
        return {**{label: row[word] for label, row in self.values.items()}, **heads}


def _sort_key(name: str) -> tuple[bool, float, str]:
    """Numbers first, by size; "nan" has no place among them."""
    try:
        number = float(name)
    except ValueError:
        number = math.nan
    return (True, 0.0, name) if math.isnan(number) else (False, number, name)


NO_LABELS = WordLabels()


def build(
    name: str,
    words: DocumentWords,
    *,
    more: str = "",
    note: str = "",
    warning: str = "",
    labels: WordLabels = NO_LABELS,
    tokenizer: Tokenizer | None = None,
    repeat: int = 1,
    mix: Corpus | None = None,
    **options: Unpack[Vocabulary],
) -> Corpus:
    """The corpus of these words; every piece of a word has the word's labels.

    Without a `tokenizer` one is trained on these words with the `options`. `repeat` and `mix` make a short text longer.
    `more` says what else the text is, `note` what was guessed, `warning` what was left out.
    """
    if not words.rows:
        raise UserError(f"There are no words in {name}, only white space; choose a text of at least {FEWEST} words.")
    number, edges, lengthening = f"{len(words.rows):,} words", (), ""
    if repeat > 1 or mix is not None:
        words, edges, lengthening = lengthened(name, words, labels, repeat, mix)
    if (tokens := len(words.rows)) < FEWEST:
        few = f"There are only {tokens} tokens in {name}; at least {FEWEST} are needed to train on it."
        raise UserError(_join(few, note, warning)) if labels else TooShort(_join(few, note, warning), tokens)
    counts = words.counts()
    unspaced = describe_unspaced(counts)
    if unspaced and options.get("kind", "auto") == "auto":
        options["kind"] = "bpe"  # a clause is no word
    tokenizer = tokenizer or of_counts(counts, **options)
    tokenized = (lay_out_words if tokenizer.own else lay_out_text)(words, tokenizer)
    sentence = torch.frombuffer(words.sentence, dtype=torch.int32)[tokenized.word]
    ends = tokenized.ids == tokenizer.specials.sep
    cut = f"The text is longer; only its first {number} are used." if words.cut else ""
    note, warning = _join(lengthening, note, unspaced), _join(warning, cut)
    about = "" if lengthening else f"{number} and punctuation marks of {name}."
    return Corpus(
        name, _join(about, more, note, warning), tokenizer, note=note, warning=warning,
        ids=tokenized.ids, word_ids=tokenized.word_ids, sentence_ids=sentence,
        document_ids=ends.cumsum(0, dtype=torch.int32).sub_(ends.int()),
        held_out_from=int(tokenized.first[edges[len(edges) // 2]]) if edges else find_boundary(ends, sentence),
        sections=tuple(int(tokenized.first[edge]) for edge in edges) if mix is not None else (),
        labels=labels.of_tokens(tokenized), label_names=dict(labels.names),
    )  # fmt: skip


def _join(*sentences: str) -> str:
    """The sentences that are not empty, as one text."""
    return " ".join(filter(None, sentences))


def lengthened(
    name: str, words: DocumentWords, labels: WordLabels, repeat: int, mix: Corpus | None
) -> tuple[DocumentWords, tuple[int, ...], str]:
    """The words repeated, and those of a generated corpus after them; the edges between their parts; a sentence on it.

    First come the training parts, then the held-out parts. What is held out, the last sentence of a short text, is cut
    off before anything is repeated, so that no repetition of it is trained on.
    """
    if labels:
        raise UserError(f"The words of {name} have labels; only a text without labels is repeated or mixed.")
    if len(words.rows) < 3:
        raise UserError(f"There is only one word in {name}, so none is left to hold out; choose a longer text.")
    if len(words.rows) * repeat > LIMIT:
        raise UserError(f"Repeated {repeat:,} times, {name} has more than the {LIMIT:,} words that are used at most.")
    border = _last_part(words)
    sources = [(words, border, repeat)]
    often = f" {repeat:,} times" if repeat > 1 else ""
    read, left = f"{border:,} of your {len(words.rows):,} tokens{often}", f"{len(words.rows) - border:,}"
    if mix is not None:
        sources.append((_words_of(mix, words.types), mix.held_out_from, 1))
        read += f" and {mix.held_out_from:,} of {mix.name}"
        left += f" and {len(mix) - mix.held_out_from:,}"
    made, edges = DocumentWords(types=words.types, cut=words.cut), []
    for held_out in (False, True):
        for source, edge, times in sources:
            made.extend(source, *((edge, len(source.rows)) if held_out else (0, edge)), times)
            edges.append(len(made.rows))
    return made, tuple(edges[:-1]), f"Training reads {read}; {left} others are held out."


def _words_of(corpus: Corpus, types: dict[str, int]) -> DocumentWords:
    """The words of a corpus of whole words, by the numbers of types that others share."""
    numbers = {corpus.tokenizer.specials.sep: 0}
    for number in set(corpus.ids.tolist()) - {*numbers}:
        numbers[number] = types.setdefault(corpus.tokenizer.words[number], len(types))
    rows = array("i", [numbers[number] for number in corpus.ids.tolist()])
    return DocumentWords(types=types, rows=rows, sentence=array("i", corpus.sentence_ids.tolist()))


def _last_part(words: DocumentWords) -> int:
    """Where the held-out part of a short text begins: after the sentence that ends nearest, else within a sentence."""
    boundary = min(round(len(words.rows) * (1 - HELD_OUT)), len(words.rows) - 2)
    sentence = words.sentence
    ends = [k for k in range(1, len(sentence)) if sentence[k] != sentence[k - 1]]
    return min(ends, key=lambda end: abs(end - boundary), default=boundary)


def lay_out_text(words: DocumentWords, tokenizer: Tokenizer) -> TokenizedWords:
    """Words as the pieces that a tokenizer from elsewhere gives to the text of each document."""
    types, ids, row, begins, first = list(words.types), array("i"), array("i"), array("b"), array("i")
    for begin in range(0, len(words.rows), SLICE):
        some, at = words.rows[begin : begin + SLICE], begin
        for ends, group in groupby(some, lambda number: number == 0):
            numbers = list(group)
            spelt = [[(tokenizer.specials.sep, True)]] * len(numbers)
            if not ends:
                spelt = spell_text(tokenizer, [types[number] for number in numbers])
            for pieces in spelt:
                first.append(len(ids))
                for number, new in pieces:
                    ids.append(number)
                    row.append(at)
                    begins.append(new)
                at += 1
    whole, rows, starts = (torch.frombuffer(each, dtype=torch.int32) for each in (ids, row, first))
    own = torch.frombuffer(begins, dtype=torch.int8).cumsum(0, dtype=torch.int32) - 1
    return TokenizedWords(whole.long(), rows, starts, own)


def lay_out_words(words: DocumentWords, tokenizer: Tokenizer) -> TokenizedWords:
    """Words as the pieces of a tokenizer that reads each word by itself."""
    pieces = [[tokenizer.specials.sep], *(tokenizer.encode_word(word) for word in list(words.types)[1:])]
    return lay_out(pieces, torch.frombuffer(words.rows, dtype=torch.int32))


def lay_out(pieces: Sequence[Sequence[int]], rows: Tensor) -> TokenizedWords:
    """Words, each by the number of its type, as the `pieces` of these types one after another."""
    length = torch.tensor([len(ids) for ids in pieces])
    flat = torch.tensor([number for ids in pieces for number in ids])
    start = length.cumsum(0) - length
    first = torch.cat([torch.zeros(1, dtype=torch.int32), length.int()[rows].cumsum(0, dtype=torch.int32)])
    ids, word = torch.empty(int(first[-1]), dtype=torch.long), torch.empty(int(first[-1]), dtype=torch.int32)
    for begin in range(0, len(rows), SLICE):
        some = rows[begin : begin + SLICE].long()
        which = torch.arange(len(some)).repeat_interleave(length[some])
        here = slice(int(first[begin]), int(first[begin]) + len(which))
        within = torch.arange(here.start, here.stop) - first[begin + which]
        ids[here] = flat[start[some][which] + within]
        word[here] = begin + which
    return TokenizedWords(ids, word, first[:-1], word)
