"""A typed text as a batch of one row."""

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from playground.batch import Tokens
from playground.errors import UserError
from playground.tokenizing.phrases import guess_mentions, guess_phrases
from playground.tokenizing.sentences import number_sentences
from playground.tokenizing.tokenizer import Tokenizer, of_words
from playground.tokenizing.words import WORD, clean

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
    read = [each for each in map(_read, _paragraphs(clean(text[:MOST_CHARACTERS]))) if each[1]]
    if not read:
        raise UserError(f"The text {text[:20]!r} has no words; type at least one.")
    spelt = [word for _, words, _ in read for word in words]
    tokenizer = tokenizer or of_words(spelt)
    pieces = _pieces(read, tokenizer)
    ids, word_ids, label_ids = zip(*pieces[:longest], strict=True)
    sentence = _number_sentences([words for _, words, _ in read])
    phrases, mentions = guess_phrases(spelt, sentence), guess_mentions(spelt, sentence)
    labels = {"phrase": phrases, "mention": mentions, "language": [0] * len(spelt)}
    rows = {name: torch.tensor([[values[label] for label in label_ids]]) for name, values in labels.items()}
    tokens = Tokens(
        ids=torch.tensor([ids]),
        lengths=torch.tensor([len(ids)]),
        word_ids=torch.tensor([word_ids]),
        sentence_ids=torch.tensor([[sentence[label] for label in label_ids]]),
        specials=tokenizer.specials,
        labels=rows,
        vocabulary=tokenizer.words,
        padded=False,
    )
    pairs = zip(ids, label_ids, strict=True)
    unknown = [*dict.fromkeys(spelt[label] for number, label in pairs if number == tokenizer.specials.unknown)]
    notice = [f"Not in the vocabulary, so read as [UNK]: {', '.join(unknown[:8])}."] if unknown else []
    total = 0 if len(text) > MOST_CHARACTERS else len(pieces)
    left_out = () if 0 < total <= longest else (LeftOut("text", longest, total),)
    return TextInput(tokens, tokenizer, " ".join([*map(str, left_out), *notice]), left_out)


def _paragraphs(text: str) -> list[str]:
    """The paragraphs; a lone carriage return ends a line only where nothing else does, as in files."""
    text = text.replace("\r\n", "\n")
    return _PARAGRAPH.split(text.replace("\r", " " if "\n" in text else "\n"))


def _read(paragraph: str) -> tuple[str, list[str], list[int]]:
    """A paragraph, its words, and where each begins."""
    matches = list(WORD.finditer(paragraph))
    return paragraph, [match.group() for match in matches], [match.start() for match in matches]


def _pieces(read: Sequence[tuple[str, list[str], list[int]]], tokenizer: Tokenizer) -> list[tuple[int, int, int]]:
    """Ids, each with the number of the tokenizer's word that it belongs to, and that of ours, which has the labels."""
    found: list[tuple[int, int, int]] = []
    before = 0
    for paragraph, words, starts in read:
        encoding, begun = tokenizer.encode(paragraph), found[-1][1] + 1 if found else 0
        for number, word, (first, _) in zip(encoding.ids, encoding.word, encoding.offsets, strict=True):
            found.append((number, begun + word, before + max(0, bisect_right(starts, first) - 1)))
        before += len(words)
    return found


def _number_sentences(paragraphs: Sequence[list[str]]) -> list[int]:
    """The running number of the sentence of each word; a new paragraph begins a new sentence."""
    sentence: list[int] = []
    for words in paragraphs:
        first = sentence[-1] + 1 if sentence else 0
        sentence += [first + number for number in number_sentences(words)]
    return sentence
