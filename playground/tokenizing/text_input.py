"""A text that a person typed, as a batch of one row."""

import re
from dataclasses import dataclass
from itertools import pairwise

import torch

from playground.batch import Tokens
from playground.errors import Refusal
from playground.tokenizing.phrases import guess_mentions, guess_phrases
from playground.tokenizing.sentences import number_sentences
from playground.tokenizing.tokenizer import Tokenizer, of_words, unknown_words
from playground.tokenizing.words import clean, find_words

LONGEST = 64
"""Tokens of a typed text that are used where nobody asks for more."""

MOST_CHARACTERS = 20_000
"""Characters of a typed text that are looked at."""

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
    """The text as tokens, the tokenizer that cut it, what had to be left out, and sentences that say all of it."""

    tokens: Tokens
    tokenizer: Tokenizer
    notice: str = ""
    left_out: tuple[LeftOut, ...] = ()


def read_input(text: str, tokenizer: Tokenizer | None = None, longest: int = LONGEST) -> TextInput:
    """One or several typed sentences; without a tokenizer the text itself is the vocabulary.

    Labels: guessed phrases and mentions, as running numbers (-1: none), and the language, which is always 0.
    """
    words, about = _read(clean(text[:MOST_CHARACTERS]), across=tokenizer is not None and tokenizer.across)
    if not words:
        raise Refusal(f"The text {text[:20]!r} has no words; type at least one.")
    tokenizer = tokenizer or of_words(words)
    ids = [tokenizer.encode_word(word) for word in words]
    places = [index for index, pieces in enumerate(ids) for _ in pieces]
    kept = places[:longest]
    row = [number for pieces in ids for number in pieces][:longest]
    known = {name: torch.tensor([[values[index] for index in kept]]) for name, values in about.items()}
    tokens = Tokens(
        ids=torch.tensor([row]),
        lengths=torch.tensor([len(row)]),
        word_ids=torch.tensor([kept]),
        sentence_ids=known.pop("sentence"),
        specials=tokenizer.specials,
        labels=known,
        vocabulary=tokenizer.words,
        padded=False,
    )
    unknown = unknown_words(tokenizer, words[: kept[-1] + 1])
    left_out = _left_out(len(places), len(text), longest)
    return TextInput(tokens, tokenizer, " ".join([*map(str, left_out), *_strange(unknown)]), left_out)


def _read(text: str, across: bool) -> tuple[list[str], dict[str, list[int]]]:
    """The words of all paragraphs and what is known about each; a new paragraph begins a new sentence.

    With `across`, words that no space parts are one, and what is known about it is true of its first part.
    """
    words: list[str] = []
    sentence: list[int] = []
    begins: list[bool] = []
    for paragraph in _PARAGRAPH.split(text.replace("\r\n", "\n").replace("\r", "\n")):
        found = list(find_words(paragraph))
        some = [match.group() for match in found]
        first = sentence[-1] + 1 if sentence else 0
        words += some
        sentence += [first + number for number in number_sentences(some)]
        ends = [-1, *(match.end() for match in found)]
        begins += [not across or match.start() != end for match, end in zip(found, ends, strict=False)]
    about = {
        "sentence": sentence,
        "phrase": guess_phrases(words, sentence),
        "mention": guess_mentions(words, sentence),
        "language": [0] * len(words),
    }
    starts = [index for index, begin in enumerate(begins) if begin]
    whole = ["".join(words[a:b]) for a, b in pairwise([*starts, len(words)])]
    return whole, {name: [values[index] for index in starts] for name, values in about.items()}


def _left_out(tokens: int, characters: int, longest: int) -> tuple[LeftOut, ...]:
    if characters > MOST_CHARACTERS:
        return (LeftOut("text", longest, 0),)
    return (LeftOut("text", longest, tokens),) if tokens > longest else ()


def _strange(unknown: list[str]) -> list[str]:
    return [f"Not in the vocabulary, so read as [UNK]: {', '.join(unknown[:8])}."] if unknown else []
