"""One interface to all kinds of tokenizers: words, characters, and four kinds of learnt pieces of words."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from re import Match
from typing import Literal

from playground.batch import Specials
from playground.errors import UserError
from playground.parsing import parse_json
from playground.pickling import declared_fields
from playground.tokenizing import bytelevel, pieces
from playground.tokenizing.kinds import KINDS, check
from playground.tokenizing.pieces import Cut, Learnt
from playground.tokenizing.vocabulary import FIRST_WORD, SPECIAL_TOKENS, UNKNOWN, specials
from playground.tokenizing.words import clean, find_chunks, find_words, join_words, lowered

Kind = Literal["word", "character", "wordpiece", "bpe", "bytes", "unigram"]
KindOrAuto = Literal["auto", "word", "character", "wordpiece", "bpe", "bytes", "unigram"]

FEW_TYPES = 1500
"""Whole words are chosen where so many word types cover the fraction `ENOUGH` of a text."""

ENOUGH = 0.98


@dataclass(frozen=True)
class Encoding:
    """A text as ids; for each id the number of its word and its span in the text, in characters."""

    ids: list[int]
    word: list[int]
    offsets: list[tuple[int, int]]


@dataclass(frozen=True)
class Tokenizer:
    """A vocabulary (`words`, id -> string) and the way text is split; text never gives special tokens.

    A piece that continues a word is written with "##" in `words`, as in BERT's vocabulary (arXiv:1810.04805, sec. 3).
    `scores` are the log-probabilities of Unigram's pieces. With `across` byte-level BPE merges letters, digits and
    punctuation with each other, which GPT-2 forbids; then a word is everything between two spaces.
    """

    kind: Kind
    words: tuple[str, ...]
    lower: bool = False
    merges: tuple[tuple[str, str], ...] = ()
    scores: tuple[float, ...] = ()
    across: bool = False

    def __len__(self) -> int:
        return len(self.words)

    __getstate__ = declared_fields

    @cached_property
    def specials(self) -> Specials:
        return specials(len(self))

    @cached_property
    def learnt(self) -> Learnt:
        """What the splitter needs, without the special tokens."""
        return Learnt(self.words[FIRST_WORD:], self.merges, self.scores, self.across)

    @cached_property
    def cut(self) -> Cut:
        """Splits one word, in lower case where `lower` is on, into pieces: their ids and the letters they cover."""
        return KINDS[self.kind].cutter(self.learnt)

    def find(self, text: str) -> Iterator[Match[str]]:
        """The words of a clean text, as this tokenizer separates them, with their spans."""
        return find_chunks(text) if self.across else find_words(text)

    def encode(self, text: str) -> Encoding:
        """The ids of a text, with the word and the span in the (clean) text of each.

        A piece of a few bytes of a character has the span of the whole character.
        """
        found = Encoding([], [], [])
        for index, match in enumerate(self.find(clean(text))):
            for number, first, last in self.cut(self.small(match.group())):
                found.ids.append(number)
                found.word.append(index)
                found.offsets.append((match.start() + first, match.start() + last))
        return found

    def encode_words(self, words: Iterable[str]) -> list[int]:
        """The ids of separated words: one for each at word level, else the pieces of each."""
        return [piece[0] for word in words for piece in self.cut(self.small(clean(word)))]

    def encode_word(self, word: str) -> list[int]:
        """The ids of one word: a single one at word level, one or more pieces else."""
        return self.encode_words([word])

    def small(self, word: str) -> str:
        """The word in lower case where this tokenizer has only that."""
        return lowered(word) if self.lower else word

    def continues(self, number: int) -> bool:
        """Whether this id is a piece that continues the word of the piece before it."""
        return self.kind != "word" and number >= FIRST_WORD and pieces.continues(self.words[number])

    def _plain(self, number: int) -> str:
        return pieces.plain(self.words[number]) if self.continues(number) else self.words[number]

    def decode(self, ids: Iterable[int]) -> list[str]:
        """One readable string for each id."""
        return [self._plain(int(number)) for number in ids]

    def join(self, ids: Iterable[int]) -> str:
        """The text of ids, with spaces between words but not before punctuation marks."""
        words: list[str] = []
        for number in map(int, ids):
            if words and self.continues(number):
                words[-1] += self._plain(number)
            else:
                words.append(self._plain(number))
        return join_words(map(bytelevel.text_of, words) if self.kind == "bytes" else words)

    def to_json(self) -> str:
        """The tokenizer as JSON, to be saved beside a run."""
        saved = {"kind": self.kind, "lower": self.lower, "words": self.words[FIRST_WORD:], "merges": self.merges}
        optional = {"scores": self.scores} if self.scores else {}
        return json.dumps(saved | optional | ({"across": True} if self.across else {}), ensure_ascii=False)

    @staticmethod
    def from_json(text: str) -> "Tokenizer":
        """A tokenizer that was saved with `to_json`."""
        try:
            saved = parse_json(text)
            if not all(isinstance(word, str) for word in saved["words"]):
                raise TypeError(saved["words"])
            merges = tuple((str(left), str(right)) for left, right in saved["merges"])
            scores = tuple(map(float, saved.get("scores", ())))
            learnt = Learnt(tuple(saved["words"]), merges, scores, bool(saved.get("across", False)))
            check(saved["kind"], learnt)
            return _from_learnt(saved["kind"], learnt, bool(saved["lower"]))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise UserError(f"This is no saved tokenizer: {text[:40]!r}; it must be what to_json() wrote.") from error


def _from_learnt(kind: Kind, learnt: Learnt, lower: bool) -> Tokenizer:
    return Tokenizer(kind, SPECIAL_TOKENS + learnt.pieces, lower, learnt.merges, learnt.scores, learnt.across)


def of_words(words: Iterable[str], lower: bool = False) -> Tokenizer:
    """Whole words, exactly these types: the most frequent first, among equally frequent ones the first to occur."""
    counts = Counter(map(lowered, words) if lower else words)
    return _from_learnt("word", KINDS["word"].learn(counts, None), lower)


def train(
    texts: Iterable[str], kind: KindOrAuto = "auto", size: int = 2000, lower: bool = False, across: bool = False
) -> Tokenizer:
    """A tokenizer of at most `size` entries for these texts, which are read once."""
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(match.group() for match in (find_chunks if across else find_words)(clean(text)))
    return of_counts(counts, kind, size, lower, across)


def of_counts(
    counts: Mapping[str, int], kind: KindOrAuto = "auto", size: int = 2000, lower: bool = False, across: bool = False
) -> Tokenizer:
    """The same from the counts of word types; "auto" takes whole words where few types cover the text, else BPE.

    With `across`, which only byte-level BPE has, a word type is everything between two spaces, "dog." for example.
    """
    types: Counter[str] = Counter()
    for word, count in counts.items():
        types[lowered(word) if lower else word] += count
    if kind == "auto":
        covered, total = sum(count for _, count in types.most_common(FEW_TYPES)), types.total()
        kind = "word" if not total or covered / total >= ENOUGH else "bpe"
    if kind not in KINDS:
        raise UserError(f"kind is {kind!r}; choose one of {', '.join(('auto', *KINDS))}.")
    needed = FIRST_WORD + KINDS[kind].fewest
    if size < needed:
        raise UserError(
            f"size is {size}; {KINDS[kind].title} needs at least {needed}, {FIRST_WORD} for special tokens."
        )
    if across and kind != "bytes":
        raise UserError(
            f"across is on and kind is {kind!r}; only the kind 'bytes' can merge across character categories."
        )
    options = {"across": True} if across else {}
    return _from_learnt(kind, KINDS[kind].learn(types, size - FIRST_WORD, **options), lower)


def unknown_words(tokenizer: Tokenizer, words: Sequence[str]) -> list[str]:
    """The words, each once, that this vocabulary cannot encode."""
    return [word for word in dict.fromkeys(words) if UNKNOWN in tokenizer.encode_word(word)]
