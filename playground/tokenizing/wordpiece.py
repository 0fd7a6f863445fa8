"""WordPiece: join the pair that makes the text most likely, then cut longest first (Schuster and Nakajima 2012).

The pair is judged by how often it occurs times the logarithm of how much more often than by chance; that is, closely,
what the log-likelihood of the text gains under a model of independent pieces.
"""

from array import array
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise

import numpy as np

from playground.tokenizing.pieces import (
    ALPHABET,
    MARK,
    Counts,
    Cut,
    Learnt,
    Piece,
    alphabet,
    both,
    continues,
    joined,
    plain,
)
from playground.tokenizing.vocabulary import UNKNOWN

FEWEST = 2
"""A pair that occurs less often is never joined."""


def learn(counts: Counts, room: int) -> Learnt:
    """At most `room` pieces; every character of the alphabet is a piece, too."""
    letters = alphabet(counts, int(room * ALPHABET))
    known = dict.fromkeys(both(letters))
    for made in _made(_start(counts, set(letters)), room - len(known)):
        known[made] = None
    return Learnt(tuple(known))


def cutter(learnt: Learnt) -> Cut:
    """The way to cut words into the longest pieces from the left."""
    return partial(_cut, learnt.numbers, max((len(plain(piece)) for piece in learnt.pieces), default=1))


def _cut(numbers: Mapping[str, int], longest: int, word: str) -> list[Piece]:
    """The pieces of a word; a word that cannot be written whole is unknown as a whole, as in BERT."""
    found: list[Piece] = []
    start = 0
    while start < len(word):
        mark = MARK if start else ""
        ends = range(min(len(word), start + longest), start, -1)
        pieces = ((mark + word[start:end], end) for end in ends)
        piece, end = next(((p, end) for p, end in pieces if p in numbers and continues(p) == bool(start)), ("", 0))
        if not end:
            return [(UNKNOWN, 0, len(word))]
        found.append((numbers[piece], start, end))
        start = end
    return found


@dataclass
class _Pairs:
    """Words as rows of pieces, how often each piece and each pair of neighbours occurs, and in which words."""

    names: dict[str, int] = field(default_factory=dict)
    pieces: array = field(default_factory=lambda: array("d"))
    words: list[list[int]] = field(default_factory=list)
    weights: list[int] = field(default_factory=list)
    slots: dict[tuple[int, int], int] = field(default_factory=dict)
    left: array = field(default_factory=lambda: array("q"))
    right: array = field(default_factory=lambda: array("q"))
    pairs: array = field(default_factory=lambda: array("d"))
    where: list[set[int]] = field(default_factory=list)

    def number(self, name: str) -> int:
        """The number of a piece; a new one begins with no occurrence."""
        if name not in self.names:
            self.names[name] = len(self.names)
            self.pieces.append(0.0)
        return self.names[name]

    def count(self, word: int, sign: int) -> None:
        """Add or take away all that one word holds."""
        weight, row = sign * self.weights[word], self.words[word]
        for piece in row:
            self.pieces[piece] += weight
        for pair in pairwise(row):
            slot = self.slots.setdefault(pair, len(self.where))
            if slot == len(self.where):
                self.left.append(pair[0])
                self.right.append(pair[1])
                self.pairs.append(0.0)
                self.where.append(set())
            self.pairs[slot] += weight
            self.where[slot].add(word)

    def best(self) -> int | None:
        """The pair that gains most; none where no pair gains."""
        together = np.frombuffer(self.pairs)
        often = np.flatnonzero(together >= FEWEST)
        if not len(often):
            return None
        pieces = np.frombuffer(self.pieces)
        alone = [pieces[np.frombuffer(side, dtype=np.int64)[often]] for side in (self.left, self.right)]
        gain = together[often] * np.log(together[often] * pieces.sum() / (alone[0] * alone[1]))
        top = int(gain.argmax())
        return int(often[top]) if gain[top] > 0 else None

    def join(self, slot: int, made: str) -> None:
        """Make one piece of a pair, wherever it stands."""
        pair, number = (self.left[slot], self.right[slot]), self.number(made)
        for word in sorted(self.where[slot]):
            self.count(word, -1)
            self.words[word] = _replaced(self.words[word], pair, number)
            self.count(word, 1)


def _start(counts: Counts, letters: set[str]) -> _Pairs:
    """All words as single letters; those with a letter outside the alphabet are left out."""
    pairs = _Pairs()
    for word in sorted(word for word in counts if word and letters.issuperset(word)):
        pairs.words.append([pairs.number(MARK + letter if k else letter) for k, letter in enumerate(word)])
        pairs.weights.append(counts[word])
        pairs.count(len(pairs.words) - 1, 1)
    return pairs


def _made(pairs: _Pairs, wanted: int) -> Iterator[str]:
    """The next pieces, the one that gains most first."""
    while wanted > 0 and (slot := pairs.best()) is not None:
        names = list(pairs.names)
        made = joined(names[pairs.left[slot]], names[pairs.right[slot]])
        if made is None:
            pairs.pairs[slot] = -np.inf
            continue
        if made not in pairs.names:
            wanted -= 1
            yield made
        pairs.join(slot, made)


def _replaced(row: list[int], pair: tuple[int, int], number: int) -> list[int]:
    found: list[int] = []
    place = 0
    while place < len(row):
        hit = tuple(row[place : place + 2]) == pair
        found.append(number if hit else row[place])
        place += 2 if hit else 1
    return found
