"""The kinds of tokenizers, each with its training."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from playground.tokenizing import bytelevel, merging, unigram, wordpiece
from playground.tokenizing.pieces import Counts, Learnt, alphabet, both


@dataclass(frozen=True)
class TokenizerKind:
    """A kind of tokenizer: its title, its training, and its smallest number of entries.

    `unknown` says what becomes of a character that is not in the vocabulary.
    """

    title: str
    unknown: str
    learn: Callable[..., Learnt]
    fewest: int = 1


def whole_words(counts: Counts, room: int | None) -> Learnt:
    """The most frequent words; among equally frequent ones the first to occur."""
    return Learnt(tuple(word for word, _ in Counter(counts).most_common(room)))


def characters(counts: Counts, room: int) -> Learnt:
    """The most frequent characters, each as the first of a word and as a later one."""
    return Learnt(tuple(both(alphabet(counts, room, 0.5))[:room]))


KINDS = {
    "word": TokenizerKind("whole words", "the word is [UNK]", whole_words),
    "character": TokenizerKind("characters", "the character is [UNK]", characters, 2),
    "wordpiece": TokenizerKind("WordPiece", "the whole word is [UNK]", wordpiece.learn, 2),
    "bpe": TokenizerKind("BPE", "the character is [UNK]", merging.learn, 2),
    "bytes": TokenizerKind("byte-level BPE", "nothing is unknown", bytelevel.learn, len(bytelevel.LETTERS)),
    "unigram": TokenizerKind("Unigram", "a run of such characters is one [UNK]", unigram.learn, 3),
}
