"""What all ways of cutting words share: marked pieces, an alphabet, and private characters for the library."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from playground.tokenizing.vocabulary import FIRST_WORD

MARK = "##"
"""Stands before a piece that continues a word (BERT, arXiv:1810.04805, sec. 3)."""

ALPHABET = 0.25
"""Largest share of the vocabulary for characters; each takes two entries, as a first letter and as a later one."""

READ = 2_000_000
"""Words that a library reads while it learns; longer texts are scaled down, so the pieces stay the same."""

PRIVATE = 0xF0000
"""The first of the characters that Unicode leaves to private use."""

Piece = tuple[int, int, int]
"""An id, and from which to which letter of its word it reaches."""

Cut = Callable[[str], list[Piece]]
"""A way to cut one word."""

Counts = Mapping[str, int]
"""Words and how often each occurs."""


@dataclass(frozen=True)
class Learnt:
    """What a way of cutting has learnt: pieces by number, and what else it needs to find them in a word."""

    pieces: tuple[str, ...]
    merges: tuple[tuple[str, str], ...] = ()
    scores: tuple[float, ...] = ()
    across: bool = False

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The id of every piece."""
        return {piece: number for number, piece in enumerate(self.pieces, FIRST_WORD)}


def continues(piece: str) -> bool:
    """Whether a piece of the vocabulary continues a word."""
    return piece.startswith(MARK) and len(piece) > len(MARK)


def plain(piece: str) -> str:
    """A piece as a person reads it."""
    return piece[len(MARK) :] if continues(piece) else piece


def joined(left: str, right: str) -> str | None:
    """Two neighbours as one piece; none where a word that begins with "##" would look like a later piece."""
    made = left + plain(right)
    return made if continues(made) == continues(left) else None


def alphabet(counts: Counts, most: int) -> list[str]:
    """The most frequent letters, in the order of their codes."""
    letters: Counter[str] = Counter()
    for word, count in counts.items():
        for letter in word:
            letters[letter] += count
    return sorted(letter for letter, _ in letters.most_common(max(1, most)))


def both(letters: Sequence[str]) -> list[str]:
    """Every letter as the first of a word and as a later one."""
    return [*letters, *(MARK + letter for letter in letters)]


@dataclass(frozen=True)
class Code:
    """Two private characters for each letter, so that the library tells the first letter of a word from a later one.

    The library's own mark for later letters makes ties fall differently from run to run.
    """

    letters: tuple[str, ...]

    @cached_property
    def _first(self) -> dict[str, str]:
        return {letter: chr(PRIVATE + k) for k, letter in enumerate(self.letters)}

    @cached_property
    def _later(self) -> dict[str, str]:
        return {letter: chr(PRIVATE + len(self.letters) + k) for k, letter in enumerate(self.letters)}

    @cached_property
    def _back(self) -> dict[str, str]:
        return {code: letter for table in (self._first, self._later) for letter, code in table.items()}

    def write(self, word: str, first: bool = True) -> str:
        """A word, or a later part of one, in private characters; a letter outside the alphabet leaves a gap."""
        table = self._first if first else self._later
        return "".join(table.get(c, " ") for c in word[:1]) + "".join(self._later.get(c, " ") for c in word[1:])

    def piece(self, piece: str) -> str:
        """A piece of the vocabulary in private characters."""
        return self.write(plain(piece), first=not continues(piece))

    def read(self, coded: str) -> str:
        """The piece of the vocabulary that private characters stand for."""
        return (MARK if ord(coded[0]) >= PRIVATE + len(self.letters) else "") + "".join(
            self._back[code] for code in coded
        )


def code_of(pieces: Sequence[str]) -> Code:
    """The code of all letters that a vocabulary is made of."""
    return Code(tuple(sorted({letter for piece in pieces for letter in plain(piece)})))


def coded_text(counts: Counts, write: Callable[[str], str]) -> Iterator[str]:
    """Every word as often as it occurs, for a library that learns from text."""
    scale = min(1.0, READ / max(1, sum(counts.values())))
    for word, count in counts.items():
        yield " ".join([write(word)] * max(1, round(count * scale)))
