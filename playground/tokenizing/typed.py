"""A text that a person typed, as a batch of one row."""

import re
from dataclasses import dataclass

import torch

from playground.example import Tokens
from playground.refusal import Refusal
from playground.tokenizing.sentences import number_sentences
from playground.tokenizing.tokenizer import Tokenizer, of_words, unknown_words
from playground.tokenizing.words import clean, split_words

LONGEST = 64
"""Tokens of a typed text that are used; a picture of more would not be readable."""

MOST_CHARACTERS = 20_000
"""Characters of a typed text that are looked at."""

_PARAGRAPH = re.compile(r"\n[^\S\n]*\n\s*")


@dataclass(frozen=True)
class Typed:
    """The text as tokens, the tokenizer that cut it, and a sentence where something had to be left out."""

    tokens: Tokens
    tokenizer: Tokenizer
    notice: str = ""


def typed(text: str, tokenizer: Tokenizer | None = None) -> Typed:
    """One or several typed sentences; without a tokenizer the text itself is the vocabulary."""
    words, sentence = _read(clean(text[:MOST_CHARACTERS]))
    if not words:
        raise Refusal(f"The text {text[:20]!r} has no words; type at least one.")
    tokenizer = tokenizer or of_words(words)
    ids = [tokenizer.encode_word(word) for word in words]
    places = [index for index, pieces in enumerate(ids) for _ in pieces]
    kept = places[:LONGEST]
    row = [number for pieces in ids for number in pieces][:LONGEST]
    tokens = Tokens(
        ids=torch.tensor([row]),
        lengths=torch.tensor([len(row)]),
        word=torch.tensor([kept]),
        sentence=torch.tensor([[sentence[index] for index in kept]]),
        specials=tokenizer.specials,
        vocabulary=tokenizer.words,
        padded=False,
    )
    return Typed(tokens, tokenizer, _notice(len(places), len(text), unknown_words(tokenizer, words[: kept[-1] + 1])))


def _read(text: str) -> tuple[list[str], list[int]]:
    """The words of all paragraphs and the sentence of each; a new paragraph begins a new sentence."""
    words: list[str] = []
    sentence: list[int] = []
    for paragraph in _PARAGRAPH.split(text.replace("\r\n", "\n").replace("\r", "\n")):
        some = split_words(paragraph)
        first = sentence[-1] + 1 if sentence else 0
        words += some
        sentence += [first + number for number in number_sentences(some)]
    return words, sentence


def _notice(tokens: int, characters: int, unknown: list[str]) -> str:
    said = []
    if characters > MOST_CHARACTERS:
        said.append(f"The text is long; only its first {LONGEST} tokens are used.")
    elif tokens > LONGEST:
        said.append(f"The text has {tokens} tokens; only the first {LONGEST} are used.")
    if unknown:
        said.append(f"Not in the vocabulary, so read as [UNK]: {', '.join(unknown[:8])}.")
    return " ".join(said)
