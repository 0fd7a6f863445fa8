"""WordPiece: merge the pair that increases the likelihood most, then match longest first (Schuster and Nakajima 2012).

The gain of a pair is its count times the logarithm of how much more often it occurs than by chance: approximately the
gain in log-likelihood of the text under a model of independent pieces.
"""

from array import array
from itertools import pairwise

import numpy as np

from playground.tokenizing.pieces import MARK, Counts, Learnt, alphabet, both, joined

FEWEST = 2
"""A pair that occurs less often is never merged."""


def learn(counts: Counts, room: int) -> Learnt:
    """At most `room` pieces; every character of the alphabet is a piece, too."""
    letters = alphabet(counts, room)
    names = [*both(letters)]
    number = {name: k for k, name in enumerate(names)}
    words = sorted(word for word in counts if word and set(letters).issuperset(word))
    rows = {word: [number[MARK + letter if k else letter] for k, letter in enumerate(word)] for word in words}
    pieces, slots, where = array("d", [0] * len(names)), dict[tuple[int, int], int](), list[set[str]]()
    lefts, rights, pairs = array("q"), array("q"), array("d")

    def count(word: str, weight: int) -> None:
        for piece in rows[word]:
            pieces[piece] += weight
        for pair in pairwise(rows[word]):
            if pair not in slots:
                slots[pair] = len(where)
                lefts.append(pair[0])
                rights.append(pair[1])
                pairs.append(0)
                where.append(set())
            pairs[slots[pair]] += weight
            where[slots[pair]].add(word)

    for word in words:
        count(word, counts[word])
    while len(number) < room and (slot := _best(*map(np.array, (lefts, rights, pairs, pieces)))) is not None:
        pair = lefts[slot], rights[slot]
        name = joined(*(names[piece] for piece in pair))
        if name is None:
            pairs[slot] = -np.inf
            continue
        if number.setdefault(name, len(names)) == len(names):
            names.append(name)
            pieces.append(0)
        for word in sorted(where[slot]):
            count(word, -counts[word])
            rows[word] = _merged(rows[word], pair, number[name])
            count(word, counts[word])
    return Learnt(tuple(names))


def _best(lefts: np.ndarray, rights: np.ndarray, pairs: np.ndarray, pieces: np.ndarray) -> int | None:
    """The pair with the largest gain; none where no pair gains."""
    often = np.flatnonzero(pairs >= FEWEST)
    together = pairs[often]
    gain = together * np.log(together * pieces.sum() / (pieces[lefts[often]] * pieces[rights[often]]))
    return int(often[gain.argmax()]) if len(gain) and gain.max() > 0 else None


def _merged(row: list[int], pair: tuple[int, int], piece: int) -> list[int]:
    """A row with one piece in place of a pair, wherever it stands."""
    merged: list[int] = []
    while row:
        hit = tuple(row[:2]) == pair
        merged.append(piece if hit else row[0])
        row = row[2 if hit else 1 :]
    return merged
