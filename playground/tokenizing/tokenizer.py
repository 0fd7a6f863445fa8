"""One face over all ways to number text: words, characters, or pieces of words that are learnt in four ways."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from re import Match
from typing import Literal

from playground.batch import Specials
from playground.errors import Refusal
from playground.parsing import parse_json
from playground.tokenizing import bytelevel, pieces
from playground.tokenizing.kinds import KINDS, check
from playground.tokenizing.pieces import Cut, Learnt
from playground.tokenizing.vocabulary import FIRST_WORD, SPECIAL_TOKENS, UNKNOWN, specials
from playground.tokenizing.words import clean, find_chunks, find_words, join_words, lowered

Kind = Literal["word", "character", "wordpiece", "bpe", "bytes", "unigram"]
Wish = Literal["auto", "word", "character", "wordpiece", "bpe", "bytes", "unigram"]

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
    `scores` are the log-probabilities of Unigram's pieces. `across` lets byte-level BPE merge letters, digits and
    punctuation with each other, which GPT-2 forbids; then a word is all that stands between two spaces.
    """

    kind: Kind
    words: tuple[str, ...]
    lower: bool = False
    merges: tuple[tuple[str, str], ...] = ()
    scores: tuple[float, ...] = ()
    across: bool = False

    def __len__(self) -> int:
        return len(self.words)

    def __getstate__(self) -> dict[str, object]:
        """The fields alone: what was derived from them can be derived again."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}

    @cached_property
    def specials(self) -> Specials:
        return specials(len(self))

    @cached_property
    def learnt(self) -> Learnt:
        """What the way of cutting needs, without the special tokens."""
        return Learnt(self.words[FIRST_WORD:], self.merges, self.scores, self.across)

    @cached_property
    def cut(self) -> Cut:
        """The pieces of one word (small letters where `lower` says so): their ids and the letters they cover."""
        return KINDS[self.kind].cutter(self.learnt)

    def find(self, text: str) -> Iterator[Match[str]]:
        """The words of a clean text, as this tokenizer sees them, with their places."""
        return find_chunks(text) if self.across else find_words(text)

    def encode(self, text: str) -> Encoding:
        """The ids of a text, with the word and the place in the (clean) text of each.

        A piece of a few bytes of a character has the place of the whole character.
        """
        found = Encoding([], [], [])
        for index, match in enumerate(self.find(clean(text))):
            for number, first, last in self.cut(self.small(match.group())):
                found.ids.append(number)
                found.word.append(index)
                found.offsets.append((match.start() + first, match.start() + last))
        return found

    def encode_words(self, words: Iterable[str]) -> list[int]:
        """The ids of words that are cut already: one for each at word level, else the pieces of each."""
        return [piece[0] for word in words for piece in self.cut(self.small(clean(word)))]

    def encode_word(self, word: str) -> list[int]:
        """The ids of one word: a single one at word level, one or more pieces else."""
        return self.encode_words([word])

    def small(self, word: str) -> str:
        """The word in small letters where this tokenizer has only those."""
        return lowered(word) if self.lower else word

    def continues(self, number: int) -> bool:
        """Whether this id is a piece that continues a word begun by the piece before it."""
        return self.kind != "word" and number >= FIRST_WORD and pieces.continues(self.words[number])

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
        return join_words(map(bytelevel.text_of, words) if self.kind == "bytes" else words)

    def to_json(self) -> str:
        """Everything about this tokenizer as JSON, to be saved beside a run."""
        kept = {"kind": self.kind, "lower": self.lower, "words": self.words[FIRST_WORD:], "merges": self.merges}
        more = {"scores": self.scores} if self.scores else {}
        return json.dumps(kept | more | ({"across": True} if self.across else {}), ensure_ascii=False)

    @staticmethod
    def from_json(text: str) -> "Tokenizer":
        """A tokenizer that was saved with `to_json`."""
        try:
            kept = parse_json(text)
            merges = tuple((str(left), str(right)) for left, right in kept["merges"])
            scores = tuple(map(float, kept.get("scores", ())))
            learnt = Learnt(tuple(map(_string, kept["words"])), merges, scores, bool(kept.get("across", False)))
            check(kept["kind"], learnt)
            return _named(kept["kind"], learnt, bool(kept["lower"]))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise Refusal(f"This is no saved tokenizer: {text[:40]!r}; it must be what to_json() wrote.") from error


def _string(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(value)
    return value


def _named(kind: Kind, learnt: Learnt, lower: bool) -> Tokenizer:
    return Tokenizer(kind, SPECIAL_TOKENS + learnt.pieces, lower, learnt.merges, learnt.scores, learnt.across)


def of_words(words: Iterable[str], lower: bool = False) -> Tokenizer:
    """Whole words, exactly these types: the most frequent first, among equals the one that came first."""
    counts = Counter(map(lowered, words) if lower else words)
    return _named("word", KINDS["word"].learn(counts, None), lower)


def train(
    texts: Iterator[str] | Iterable[str],
    kind: Wish = "auto",
    size: int = 2000,
    lower: bool = False,
    across: bool = False,
) -> Tokenizer:
    """A tokenizer of at most `size` entries for these texts, which are read once."""
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(match.group() for match in (find_chunks if across else find_words)(clean(text)))
    return of_counts(counts, kind, size, lower, across)


def of_counts(
    counts: Mapping[str, int], kind: Wish = "auto", size: int = 2000, lower: bool = False, across: bool = False
) -> Tokenizer:
    """The same from word types and how often each occurs; "auto" takes whole words where few types cover the text.

    With `across`, which only byte-level BPE has, a word type is what stands between two spaces, "dog." for example.
    """
    counts = _lowered(counts) if lower else Counter(counts)
    chosen = _choose(counts) if kind == "auto" else kind
    _refuse_mistakes(chosen, size, across)
    options = {"across": True} if across else {}
    return _named(chosen, KINDS[chosen].learn(counts, size - FIRST_WORD, **options), lower)


def _choose(counts: Counter[str]) -> Kind:
    return "word" if coverage(counts, FEW_TYPES) >= ENOUGH else "bpe"


def _refuse_mistakes(kind: str, size: int, across: bool) -> None:
    if kind not in KINDS:
        raise Refusal(f"kind is {kind!r}; choose one of {', '.join(('auto', *KINDS))}.")
    if size < FIRST_WORD + KINDS[kind].fewest:
        needed = FIRST_WORD + KINDS[kind].fewest
        raise Refusal(f"size is {size}; {KINDS[kind].title} needs at least {needed}, {FIRST_WORD} for special tokens.")
    if across and kind != "bytes":
        raise Refusal(
            f"across is on and kind is {kind!r}; only the kind 'bytes' can merge across character categories."
        )


def coverage(counts: Counter[str], types: int) -> float:
    """The share of all tokens that the most frequent types make up."""
    total = counts.total()
    return sum(n for _, n in counts.most_common(types)) / total if total else 1.0


def _lowered(counts: Mapping[str, int]) -> Counter[str]:
    small: Counter[str] = Counter()
    for word, count in counts.items():
        small[lowered(word)] += count
    return small


def unknown_words(tokenizer: Tokenizer, words: Sequence[str]) -> list[str]:
    """The words, each once, that this vocabulary cannot write."""
    return [word for word in dict.fromkeys(words) if UNKNOWN in tokenizer.encode_word(word)]
