"""What all kinds of tokenizers share: marked pieces, an alphabet, and private characters for the library."""

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

from tokenizers import Tokenizer
from tokenizers.pre_tokenizers import PreTokenizer

MARK = "##"
"""Prefix of a piece that continues a word (BERT, arXiv:1810.04805, sec. 3)."""

ALPHABET = 0.25
"""Largest fraction of the vocabulary for characters; each has two entries, as a first letter and as a later one."""

READ = 2_000_000
"""Words that the library reads for training; the counts of longer texts are scaled down."""

PRIVATE = 0xF0000
"""The first of the characters that Unicode reserves for private use."""

Counts = Mapping[str, int]
"""Words and how often each occurs."""


@dataclass(frozen=True)
class Learnt:
    """The result of training: pieces by number, and what else is needed to split a word into them."""

    pieces: tuple[str, ...]
    merges: tuple[tuple[str, str], ...] = ()
    scores: tuple[float, ...] = ()


def continues(piece: str) -> bool:
    """Whether a piece of the vocabulary continues a word."""
    return piece.startswith(MARK) and len(piece) > len(MARK)


def plain(piece: str) -> str:
    """A piece without its mark."""
    return piece[len(MARK) :] if continues(piece) else piece


def joined(left: str, right: str) -> str | None:
    """Two neighbours as one piece; none where a word that begins with "##" would look like a later piece."""
    piece = left + plain(right)
    return piece if continues(piece) == continues(left) else None


def alphabet(counts: Counts, room: int, ratio: float = ALPHABET) -> list[str]:
    """The most frequent letters, at most this fraction of `room` pieces, in the order of their codes."""
    letters: Counter[str] = Counter()
    for word, count in counts.items():
        for letter in word:
            letters[letter] += count
    return sorted(letter for letter, _ in letters.most_common(max(1, int(room * ratio))))


def both(letters: Sequence[str]) -> list[str]:
    """Every letter as the first of a word and as a later one."""
    return [*letters, *(MARK + letter for letter in letters)]


@dataclass(frozen=True)
class LetterCode:
    """Two private characters for each letter, so that the library distinguishes the first letter of a word.

    The library's own mark for later letters makes the order of ties differ from run to run.
    """

    letters: tuple[str, ...]

    @cached_property
    def _tables(self) -> list[dict[str, str]]:
        starts = (PRIVATE, PRIVATE + len(self.letters))
        return [{letter: chr(start + k) for k, letter in enumerate(self.letters)} for start in starts]

    def write(self, word: str) -> str:
        """A word in private characters; a letter outside the alphabet becomes a space."""
        first, later = self._tables
        return "".join(first.get(c, " ") for c in word[:1]) + "".join(later.get(c, " ") for c in word[1:])

    def read(self, coded: str) -> str:
        """The piece of the vocabulary of a text in private characters."""
        numbers = [ord(code) - PRIVATE for code in coded]
        mark = MARK if numbers[0] >= len(self.letters) else ""
        return mark + "".join(self.letters[number % len(self.letters)] for number in numbers)


def train_library(
    model: Any, trainer: Any, splitter: PreTokenizer, counts: Counts, write: Callable[[str], str]
) -> dict[str, Any]:
    """The model that the library learns from every word, as `write` writes it, as often as it occurs."""
    scale = min(1.0, READ / max(1, sum(counts.values())))
    texts = ([write(word)] * max(1, round(count * scale)) for word, count in counts.items())
    library = Tokenizer(model)
    library.pre_tokenizer = splitter
    library.train_from_iterator(chain.from_iterable(texts), trainer)
    return json.loads(library.to_str())["model"]
