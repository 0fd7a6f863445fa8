"""WordPiece: merge the pair that increases the likelihood most, then match longest first (Schuster and Nakajima 2012).

The gain of a pair is its count times the logarithm of how much more often it occurs than by chance: approximately the
gain in log-likelihood of the text under a model of independent pieces.
"""

from array import array
from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from playground.tokenizing.pieces import MARK, Counts, Learnt, alphabet, both, joined

FEWEST = 2
"""A pair that occurs less often is never merged."""


def learn(counts: Counts, room: int) -> Learnt:
    """At most `room` pieces; every character of the alphabet is a piece, too."""
    letters = alphabet(counts, room)
    known = dict.fromkeys(both(letters))
    known |= dict.fromkeys(_merged_pieces(_Pairs(counts, set(letters)), room - len(known)))
    return Learnt(tuple(known))


class _Pairs:
    """Words as rows of pieces, the counts of pieces and of pairs of neighbours, and the words of each pair."""

    def __init__(self, counts: Counts, letters: set[str]):
        """Begin with single letters; words with a letter outside the alphabet are left out."""
        self.names: dict[str, int] = {}
        self.pieces = array("d")
        self.words: list[list[int]] = []
        self.weights: list[int] = []
        self.slots: dict[tuple[int, int], int] = {}
        self.left, self.right, self.pairs = array("q"), array("q"), array("d")
        self.where: list[set[int]] = []
        for word in sorted(word for word in counts if word and letters.issuperset(word)):
            self.words.append([self.number(MARK + letter if k else letter) for k, letter in enumerate(word)])
            self.weights.append(counts[word])
            self.count(len(self.words) - 1, 1)

    def number(self, name: str) -> int:
        """The number of a piece; a new one has the count 0."""
        if name not in self.names:
            self.names[name] = len(self.names)
            self.pieces.append(0.0)
        return self.names[name]

    def count(self, word: int, sign: int) -> None:
        """Add or subtract the counts of one word."""
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
        """The pair with the largest gain; none where no pair gains."""
        together = np.frombuffer(self.pairs)
        often = np.flatnonzero(together >= FEWEST)
        if not len(often):
            return None
        pieces = np.frombuffer(self.pieces)
        alone = [pieces[np.frombuffer(side, dtype=np.int64)[often]] for side in (self.left, self.right)]
        gain = together[often] * np.log(together[often] * pieces.sum() / (alone[0] * alone[1]))
        top = int(gain.argmax())
        return int(often[top]) if gain[top] > 0 else None

    def merge(self, slot: int, name: str) -> None:
        """Replace a pair by one piece in all words."""
        pair, number = (self.left[slot], self.right[slot]), self.number(name)
        for word in sorted(self.where[slot]):
            self.count(word, -1)
            row, merged = self.words[word], []
            while row:
                hit = tuple(row[:2]) == pair
                merged.append(number if hit else row[0])
                row = row[2 if hit else 1 :]
            self.words[word] = merged
            self.count(word, 1)


def _merged_pieces(pairs: _Pairs, wanted: int) -> Iterator[str]:
    """The next pieces, the one with the largest gain first."""
    while wanted > 0 and (slot := pairs.best()) is not None:
        names = list(pairs.names)
        name = joined(names[pairs.left[slot]], names[pairs.right[slot]])
        if name is None:
            pairs.pairs[slot] = -np.inf
            continue
        if name not in pairs.names:
            wanted -= 1
            yield name
        pairs.merge(slot, name)
