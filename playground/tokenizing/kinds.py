"""The kinds of tokenizers, each with its training and its way to split a word."""

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from playground.tokenizing import bytelevel, merging, unigram, wordpiece
from playground.tokenizing.pieces import MARK, Counts, Cut, Learnt, alphabet, both, joined
from playground.tokenizing.vocabulary import UNKNOWN
from playground.tokenizing.words import clean


@dataclass(frozen=True)
class Method:
    """A kind of tokenizer: its title, its training, its splitter of words, and its smallest number of entries.

    `unknown` says what becomes of a character that is not in the vocabulary.
    """

    title: str
    unknown: str
    learn: Callable[..., Learnt]
    cutter: Callable[[Learnt], Cut]
    fewest: int = 1


def whole_words(counts: Counts, room: int | None) -> Learnt:
    """The most frequent words; among equally frequent ones the first to occur."""
    return Learnt(tuple(word for word, _ in Counter(counts).most_common(room)))


def characters(counts: Counts, room: int) -> Learnt:
    """The most frequent characters, each as the first of a word and as a later one."""
    return Learnt(tuple(both(alphabet(counts, room, 0.5))[:room]))


def _word_cutter(learnt: Learnt) -> Cut:
    return lambda word: [(learnt.numbers.get(word, UNKNOWN), 0, len(word))]


def _character_cutter(learnt: Learnt) -> Cut:
    return lambda word: [(learnt.numbers.get(MARK + c if k else c, UNKNOWN), k, k + 1) for k, c in enumerate(word)]


KINDS = {
    "word": Method("whole words", "the word is [UNK]", whole_words, _word_cutter),
    "character": Method("characters", "the character is [UNK]", characters, _character_cutter, 2),
    "wordpiece": Method("WordPiece", "the whole word is [UNK]", wordpiece.learn, wordpiece.cutter, 2),
    "bpe": Method("BPE", "the character is [UNK]", merging.learn, merging.cutter, 2),
    "bytes": Method("byte-level BPE", "nothing is unknown", bytelevel.learn, bytelevel.cutter, bytelevel.BASE),
    "unigram": Method("Unigram", "a run of such characters is one [UNK]", unigram.learn, unigram.cutter, 3),
}


def check(kind: str, learnt: Learnt) -> None:
    """Raise a `ValueError` where saved pieces do not fit together."""
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
