"""One face over two ways to number text: whole words, or pieces learnt by byte-pair merging."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from tokenizers import models

from playground.example import Specials
from playground.refusal import Refusal
from playground.tokenizing import pieces
from playground.tokenizing.vocabulary import FIRST_WORD, SPECIAL_TOKENS, UNKNOWN, specials
from playground.tokenizing.words import clean, find_words, join_words

Kind = Literal["word", "bpe"]
Wish = Literal["auto", "word", "bpe"]

FEW_TYPES = 1500
"""So many word types must cover `ENOUGH` of a text for whole words to be the better choice."""

ENOUGH = 0.98


@dataclass(frozen=True)
class Encoding:
    """A text as ids; for each id the word it belongs to and its place in the text, in characters."""

    ids: list[int]
    word: list[int]
    offsets: list[tuple[int, int]]


@dataclass(frozen=True)
class Tokenizer:
    """A vocabulary (`words`, id -> string) and the way text is cut; special ids never come from text.

    A piece that continues a word is written with "##" in `words`, as in BERT's vocabulary (arXiv:1810.04805, sec. 3).
    """

    kind: Kind
    words: tuple[str, ...]
    lower: bool = False
    merges: tuple[tuple[str, str], ...] = ()

    def __len__(self) -> int:
        return len(self.words)

    @cached_property
    def specials(self) -> Specials:
        return specials(len(self))

    @cached_property
    def _number(self) -> dict[str, int]:
        return {word: i for i, word in enumerate(self.words) if i >= FIRST_WORD}

    @cached_property
    def _merger(self) -> models.BPE:
        return pieces.merger({**self._number, SPECIAL_TOKENS[UNKNOWN]: UNKNOWN}, self.merges)

    def encode(self, text: str) -> Encoding:
        """The ids of a text, with the word and the place in the text of each."""
        found = Encoding([], [], [])
        for index, match in enumerate(find_words(clean(text))):
            for number, (first, last) in self._cut(match.group()):
                found.ids.append(number)
                found.word.append(index)
                found.offsets.append((match.start() + first, match.start() + last))
        return found

    def encode_words(self, words: Iterable[str]) -> list[int]:
        """The ids of words that are cut already: one look-up a word at word level, else the pieces of each."""
        words = map(str.lower, words) if self.lower else words
        if self.kind == "word":
            return [self._number.get(word, UNKNOWN) for word in words]
        return [piece.id for word in words for piece in self._merger.tokenize(word)]

    def encode_word(self, word: str) -> list[int]:
        """The ids of one word: a single one at word level, one or more pieces else."""
        return self.encode_words([word])

    def _cut(self, word: str) -> list[tuple[int, tuple[int, int]]]:
        """The ids of one word with the letters that each covers."""
        if self.kind == "word":
            return [(number, (0, len(word))) for number in self.encode_words([word])]
        ids = self.encode_words([word])
        lengths = [1 if number == UNKNOWN else len(self._plain(number)) for number in ids]
        ends = [sum(lengths[: k + 1]) for k in range(len(ids))]
        return [(i, (min(e - n, len(word)), min(e, len(word)))) for i, n, e in zip(ids, lengths, ends, strict=True)]

    def continues(self, number: int) -> bool:
        """Whether this id is a piece that continues a word begun by the piece before it."""
        return self.kind == "bpe" and number >= FIRST_WORD and pieces.continues(self.words[number])

    def _plain(self, number: int) -> str:
        return pieces.plain(self.words[number]) if self.continues(number) else self.words[number]

    def decode(self, ids: Iterable[int]) -> list[str]:
        """One readable string for each id."""
        return [self._plain(int(number)) for number in ids]

    def join(self, ids: Iterable[int]) -> str:
        """The text of ids, with spaces where a reader expects them."""
        words: list[str] = []
        for number in map(int, ids):
            if words and self.continues(number):
                words[-1] += self._plain(number)
            else:
                words.append(self._plain(number))
        return join_words(words)

    def to_json(self) -> str:
        """Everything about this tokenizer as JSON, to be saved beside a run."""
        kept = {"kind": self.kind, "lower": self.lower, "words": self.words[FIRST_WORD:], "merges": self.merges}
        return json.dumps(kept, ensure_ascii=False)

    @staticmethod
    def from_json(text: str) -> "Tokenizer":
        """A tokenizer that was saved with `to_json`."""
        try:
            kept = json.loads(text)
            merges = tuple((str(left), str(right)) for left, right in kept["merges"])
            if kept["kind"] not in ("word", "bpe") or not all(isinstance(w, str) for w in kept["words"]):
                raise ValueError(kept["kind"])
            return Tokenizer(kept["kind"], SPECIAL_TOKENS + tuple(kept["words"]), bool(kept["lower"]), merges)
        except (ValueError, KeyError, TypeError) as error:
            raise Refusal(f"This is no saved tokenizer: {text[:40]!r}; it must be what to_json() wrote.") from error


def of_words(words: Iterable[str], lower: bool = False) -> Tokenizer:
    """Whole words, exactly these types: the most frequent first, among equals the one that came first."""
    return _whole(Counter(map(str.lower, words) if lower else words), None, lower)


def train(
    texts: Iterator[str] | Iterable[str],
    kind: Wish = "auto",
    size: int = 2000,
    lower: bool = False,
) -> Tokenizer:
    """A tokenizer of at most `size` entries for these texts, which are read once."""
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(match.group() for match in find_words(clean(text)))
    return of_counts(counts, kind, size, lower)


def of_counts(counts: Mapping[str, int], kind: Wish = "auto", size: int = 2000, lower: bool = False) -> Tokenizer:
    """The same from word types and how often each occurs; "auto" takes whole words where few types cover the text."""
    if kind not in ("auto", "word", "bpe"):
        raise Refusal(f"kind is {kind!r}; choose one of auto, word, bpe.")
    if size < FIRST_WORD + 1:
        raise Refusal(f"size is {size}; a vocabulary needs more than its {FIRST_WORD} special tokens.")
    counts = _lowered(counts) if lower else Counter(counts)
    if kind == "word" or (kind == "auto" and coverage(counts, FEW_TYPES) >= ENOUGH):
        return _whole(counts, size - FIRST_WORD, lower)
    words, merges = pieces.learn(counts, size - FIRST_WORD)
    return Tokenizer("bpe", SPECIAL_TOKENS + words, lower, merges)


def coverage(counts: Counter[str], types: int) -> float:
    """The share of all tokens that the most frequent types make up."""
    total = counts.total()
    return sum(n for _, n in counts.most_common(types)) / total if total else 1.0


def _whole(counts: Counter[str], types: int | None, lower: bool) -> Tokenizer:
    return Tokenizer("word", SPECIAL_TOKENS + tuple(word for word, _ in counts.most_common(types)), lower)


def _lowered(counts: Mapping[str, int]) -> Counter[str]:
    small: Counter[str] = Counter()
    for word, count in counts.items():
        small[word.lower()] += count
    return small


def unknown_words(tokenizer: Tokenizer, words: Sequence[str]) -> list[str]:
    """The words, each once, that this vocabulary cannot write."""
    return [word for word in dict.fromkeys(words) if UNKNOWN in tokenizer.encode_word(word)]
