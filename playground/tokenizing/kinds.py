"""The ways to number text, each with what it learns from words and how it cuts one."""

import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from playground.tokenizing import bytelevel, merging, unigram, wordpiece
from playground.tokenizing.pieces import MARK, Counts, Cut, Learnt, Piece, alphabet, both, joined
from playground.tokenizing.vocabulary import UNKNOWN
from playground.tokenizing.words import clean


@dataclass(frozen=True)
class Way:
    """A way to number text: its name for people, what it learns, how it cuts, and how many entries it needs at least.

    `unknown` says in words what becomes of a character that the vocabulary cannot write.
    """

    title: str
    unknown: str
    learn: Callable[..., Learnt]
    cutter: Callable[[Learnt], Cut]
    fewest: int = 1


def whole_words(counts: Counts, room: int | None) -> Learnt:
    """The most frequent words; among equals the one that came first."""
    return Learnt(tuple(word for word, _ in Counter(counts).most_common(room)))


def characters(counts: Counts, room: int) -> Learnt:
    """The most frequent characters, each as the first of a word and as a later one."""
    return Learnt(tuple(both(alphabet(counts, room // 2))[:room]))


def _look_up(numbers: Mapping[str, int], word: str) -> list[Piece]:
    return [(numbers.get(word, UNKNOWN), 0, len(word))]


def _spell(numbers: Mapping[str, int], word: str) -> list[Piece]:
    return [(numbers.get(MARK + c if k else c, UNKNOWN), k, k + 1) for k, c in enumerate(word)]


KINDS = {
    "word": Way("whole words", "the word is [UNK]", whole_words, lambda learnt: partial(_look_up, learnt.numbers)),
    "character": Way(
        "characters", "the character is [UNK]", characters, lambda learnt: partial(_spell, learnt.numbers), 2
    ),
    "wordpiece": Way("WordPiece", "the whole word is [UNK]", wordpiece.learn, wordpiece.cutter, 2),
    "bpe": Way("BPE", "the character is [UNK]", merging.learn, merging.cutter, 2),
    "bytes": Way("byte-level BPE", "nothing is unknown", bytelevel.learn, bytelevel.cutter, bytelevel.BASE),
    "unigram": Way("Unigram", "a run of such characters is one [UNK]", unigram.learn, unigram.cutter, 2),
}


def check(kind: str, learnt: Learnt) -> None:
    """A `ValueError` where saved pieces do not fit together."""
    if kind == "bytes":
        learnt = bytelevel.raw(learnt)
    known = set(learnt.pieces)
    parts = {part for left, right in learnt.merges for part in (left, right, joined(left, right))}
    sound = (
        kind in KINDS
        and all(clean(piece) == piece and (piece or kind == "word") for piece in known)
        and parts <= known
        and len(learnt.scores) == (len(learnt.pieces) if kind == "unigram" else 0)
        and all(map(math.isfinite, learnt.scores))
        and (kind != "bytes" or known.issuperset(both(bytelevel.BYTES)))
    )
    if not sound:
        raise ValueError(kind)
