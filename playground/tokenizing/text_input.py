"""A typed text as a batch of one row."""

import re
from dataclasses import dataclass
from itertools import pairwise

import torch

from playground.batch import Tokens
from playground.errors import UserError
from playground.tokenizing.phrases import guess_mentions, guess_phrases
from playground.tokenizing.sentences import number_sentences
from playground.tokenizing.tokenizer import Tokenizer, of_words, unknown_words
from playground.tokenizing.words import clean, find_words

LONGEST = 64
"""Tokens of a typed text that are used by default."""

MOST_CHARACTERS = 20_000
"""Characters of a typed text that are read."""

_PARAGRAPH = re.compile(r"\n[^\S\n]*\n\s*")


@dataclass(frozen=True)
class LeftOut:
    """A text of which only the first tokens are used, and how many it has (0: too long to be counted)."""

    text: str
    used: int
    tokens: int

    def __str__(self) -> str:
        if not self.tokens:
            return f"The {self.text} is long; only its first {self.used} tokens are used."
        return f"The {self.text} has {self.tokens} tokens; only the first {self.used} are used."


@dataclass(frozen=True)
class TextInput:
    """The text as tokens, their tokenizer, a notice in sentences, and which texts are used in part only."""

    tokens: Tokens
    tokenizer: Tokenizer
    notice: str = ""
    left_out: tuple[LeftOut, ...] = ()


def read_input(text: str, tokenizer: Tokenizer | None = None, longest: int = LONGEST) -> TextInput:
    """One or several typed sentences; without a tokenizer the text itself is the vocabulary.

    Labels: guessed phrases and mentions, as running numbers (-1: none), and the language, which is always 0.
    """
    words, labels = _read(clean(text[:MOST_CHARACTERS]), across=tokenizer is not None and tokenizer.across)
    if not words:
        raise UserError(f"The text {text[:20]!r} has no words; type at least one.")
    tokenizer = tokenizer or of_words(words)
    ids = [tokenizer.encode_word(word) for word in words]
    places = [index for index, pieces in enumerate(ids) for _ in pieces]
    kept = places[:longest]
    row = [number for pieces in ids for number in pieces][:longest]
    rows = {name: torch.tensor([[values[index] for index in kept]]) for name, values in labels.items()}
    tokens = Tokens(
        ids=torch.tensor([row]),
        lengths=torch.tensor([len(row)]),
        word_ids=torch.tensor([kept]),
        sentence_ids=rows.pop("sentence"),
        specials=tokenizer.specials,
        labels=rows,
        vocabulary=tokenizer.words,
        padded=False,
    )
    unknown = unknown_words(tokenizer, words[: kept[-1] + 1])
    notice = [f"Not in the vocabulary, so read as [UNK]: {', '.join(unknown[:8])}."] if unknown else []
    left_out: tuple[LeftOut, ...] = ()
    if len(text) > MOST_CHARACTERS or len(places) > longest:
        left_out = (LeftOut("text", longest, 0 if len(text) > MOST_CHARACTERS else len(places)),)
    return TextInput(tokens, tokenizer, " ".join([*map(str, left_out), *notice]), left_out)


def _read(text: str, across: bool) -> tuple[list[str], dict[str, list[int]]]:
    """The words of all paragraphs and labels of each; a new paragraph begins a new sentence.

    With `across`, words without a space between them are one, with the labels of its first part.
    """
    words: list[str] = []
    sentence: list[int] = []
    begins: list[bool] = []
    for paragraph in _PARAGRAPH.split(text.replace("\r\n", "\n").replace("\r", "\n")):
        matches = list(find_words(paragraph))
        first = sentence[-1] + 1 if sentence else 0
        words += [match.group() for match in matches]
        sentence += [first + number for number in number_sentences([match.group() for match in matches])]
        ends = [-1, *(match.end() for match in matches)]
        begins += [not across or match.start() != end for match, end in zip(matches, ends, strict=False)]
    labels = {
        "sentence": sentence,
        "phrase": guess_phrases(words, sentence),
        "mention": guess_mentions(words, sentence),
        "language": [0] * len(words),
    }
    starts = [index for index, begin in enumerate(begins) if begin]
    whole = ["".join(words[a:b]) for a, b in pairwise([*starts, len(words)])]
    return whole, {name: [values[index] for index in starts] for name, values in labels.items()}
