"""One face over the `tokenizers` library: text to ids and back, by what was learnt here or elsewhere."""

import json
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import tokenizers

from playground.batch import Specials
from playground.errors import UserError
from playground.pickling import declared_fields
from playground.tokenizing import bytelevel, pieces
from playground.tokenizing.bytelevel import TO_SPACE
from playground.tokenizing.kinds import KINDS
from playground.tokenizing.library import SPACE, continuing, library_of
from playground.tokenizing.pieces import MARK, Learnt
from playground.tokenizing.vocabulary import FIRST_WORD, specials
from playground.tokenizing.words import CHUNK, CLOSING, WORD, clean, glued, join_words

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
    """A tokenizer.json of the `tokenizers` library, and the roles of its special tokens; text never gives these.

    What is a word is what its pre-tokenizer says, and what a space parts.
    """

    text: str
    specials: Specials

    __getstate__ = declared_fields

    def __len__(self) -> int:
        return self.specials.size

    @cached_property
    def settings(self) -> dict[str, Any]:
        """The content of the tokenizer.json."""
        return json.loads(self.text)

    @cached_property
    def library(self) -> tokenizers.Tokenizer:
        try:
            library = tokenizers.Tokenizer.from_str(self.text)
        except Exception as error:  # the library raises bare exceptions
            raise UserError(f"tokenizer.json cannot be used: {error}.") from error
        library.no_truncation()
        library.no_padding()
        library.encode_special_tokens = True
        return library

    @cached_property
    def kind(self) -> Kind:
        """The method of its model."""
        form = self.settings["model"].get("type")
        if form == "BPE":
            byte_level = '"ByteLevel"' in json.dumps(self.settings["pre_tokenizer"])
            return "bytes" if byte_level else "bpe" if self.settings["model"]["merges"] else "character"
        return "word" if form == "WordLevel" else "wordpiece" if form == "WordPiece" else "unigram"

    @cached_property
    def lower(self) -> bool:
        """Whether text is read in lower case."""
        return self.letters("A") == "a"

    @cached_property
    def own(self) -> bool:
        """Whether it was learnt here and reads each word by itself, which byte-level BPE does not."""
        return self.specials == specials(len(self)) and self.kind != "bytes"

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The string of each id.

        What continues a word is written with "##", as in BERT's vocabulary; the pieces of a byte-level or SentencePiece
        vocabulary from elsewhere have "Ġ" or "▁" for the space before a word, as their own.
        """
        names = [""] * len(self)
        for name, number in self.library.get_vocab(with_added_tokens=True).items():
            names[number] = name
        added = {*self.specials.ids, *(token["id"] for token in self.settings.get("added_tokens") or ())}
        shown = [name if k in added else self.shown(name) for k, name in enumerate(names)]
        return tuple(name or f"<row {k}>" for k, name in enumerate(shown))

    def shown(self, name: str) -> str:
        """A piece as the model has it in the form of `words`."""
        if self.kind == "bytes":
            return TO_SPACE * name.startswith(TO_SPACE) + bytelevel.show(name.removeprefix(TO_SPACE))
        if self.kind == "unigram" and self.own:
            return name[1:] if name.startswith(SPACE) else MARK + name
        return name.removesuffix(self.suffix)

    @cached_property
    def mark(self) -> str:
        """How the model marks what continues a word."""
        return self.settings["model"].get("continuing_subword_prefix") or ""

    @cached_property
    def suffix(self) -> str:
        """How the model marks the end of a word."""
        return self.settings["model"].get("end_of_word_suffix") or ""

    def letters(self, text: str) -> str:
        """Text as the model reads it before any merge: its bytes at byte level."""
        normalizer = self.library.normalizer
        normal = text if normalizer is None else normalizer.normalize_str(text)
        return bytelevel.write(normal) if self.kind == "bytes" else normal

    def encode(self, text: str) -> Encoding:
        """The ids of a text, with the word and the span in the (clean) text of each.

        A piece of a few bytes of a character has the span of the whole character.
        """
        text = clean(text)
        try:
            found = self.library.encode(text, add_special_tokens=False)
        except Exception as error:  # the library raises bare exceptions
            raise UserError(f"The vocabulary cannot write {text[:40]!r} ({error}).") from error
        made, before = Encoding([], [], []), None
        for number, word, (begin, last) in zip(found.ids, found.word_ids, found.offsets, strict=True):
            first, _ = visible(text, begin, last)
            parted = first > begin or text[first - 1 : first].isspace()
            at, end = made.offsets[-1] if made.ids else (first, first)
            parted = parted and at != first and not text[at:end].isspace()
            made.word.append(made.word[-1] + (word is None or word != before or parted) if made.ids else 0)
            typed = number in self._special  # the text has the name of a special token
            made.ids.append(self.specials.id_of("unknown") if typed else number)
            made.offsets.append((first, last))
            before = word
        return made

    @cached_property
    def _special(self) -> frozenset[int]:
        return frozenset(self.specials.ids)

    def spell(self, words: Sequence[str]) -> list[list[int]]:
        """The ids of each of some words, as they are in the text that the words make; none has none."""
        words = [clean(word) for word in words]
        if self.own:
            return [self.encode_word(word) for word in words]
        pieces = spell_text(self, words)
        return [
            [number for number, _ in some] or self.encode_word(word) for some, word in zip(pieces, words, strict=True)
        ]

    def encode_words(self, words: Iterable[str]) -> list[int]:
        """The ids of words: one for each at word level, else the pieces of each."""
        return [number for ids in self.spell([*words]) for number in ids]

    def encode_word(self, word: str) -> list[int]:
        """The ids of one word: a single one at word level, one or more pieces else."""
        word = clean(word)
        if not self.own:
            return self.encode(word if word in CLOSING else f" {word}").ids
        letters = self.letters(word)
        found = self.library.model.tokenize(SPACE + letters if self.kind == "unigram" else letters) if letters else []
        return [self.specials.unknown if token.id in self._special else token.id for token in found]

    @cached_property
    def continues(self) -> list[bool]:
        """Whether each id is a piece that continues the word of the piece before it."""
        return [False] * len(self) if self.kind == "word" else continuing(self.words, self._special)

    def _plain(self, number: int) -> str:
        word = self.words[number]
        if self.own or self.mark == MARK:
            return pieces.plain(word) if self.continues[number] else word
        return word[1:] if word[:1] in (TO_SPACE, SPACE) and len(word) > 1 else word

    def decode(self, ids: Iterable[int]) -> list[str]:
        """One readable string for each id."""
        return [self._plain(int(number)) for number in ids]

    def join(self, ids: Iterable[int]) -> str:
        """The text of ids; of a tokenizer that was learnt here with spaces but before punctuation marks."""
        if not self.own:
            return self.library.decode([int(number) for number in ids], skip_special_tokens=False).strip()
        words: list[str] = []
        for number in map(int, ids):
            if words and self.continues[number]:
                words[-1] += self._plain(number)
            else:
                words.append(self._plain(number))
        return join_words(words)


def spell_text(tokenizer: Tokenizer, words: Sequence[str]) -> list[list[tuple[int, bool]]]:
    """The pieces of the text that the words make, for each of these, and whether a word of its own begins there.

    A piece that reaches into the next word belongs to the first of both.
    """
    found: list[list[tuple[int, bool]]] = [[] for _ in words]
    close, text, starts = glued(words), "", list[int]()
    for word, without in zip(words, close, strict=True):
        text += word if without else f" {word}"
        starts.append(len(text) - len(word))
    encoding, before = tokenizer.encode(text), -1
    for number, word, (first, _) in zip(encoding.ids, encoding.word, encoding.offsets, strict=True):
        found[max(0, bisect_right(starts, first) - 1)].append((number, word != before))
        before = word
    return found


def visible(text: str, first: int, last: int) -> tuple[int, int]:
    """The span of a piece without the space before its word."""
    while first < last - 1 and text[first].isspace():
        first += 1
    return first, last


def of_learnt(kind: Kind, learnt: Learnt, lower: bool = False, across: bool = False) -> Tokenizer:
    """A tokenizer of pieces that were learnt, in our layout."""
    settings = json.loads(library_of(kind, learnt, lower, across).to_str())
    return Tokenizer(json.dumps(settings, ensure_ascii=False), specials(FIRST_WORD + len(learnt.pieces)))


def of_words(words: Iterable[str], lower: bool = False) -> Tokenizer:
    """Whole words, exactly these types: the most frequent first, among equally frequent ones the first to occur."""
    counts = Counter(word.lower() for word in words) if lower else Counter(words)
    return of_learnt("word", KINDS["word"].learn(counts, None), lower)


def train(
    texts: Iterable[str], kind: KindOrAuto = "auto", size: int = 2000, lower: bool = False, across: bool = False
) -> Tokenizer:
    """A tokenizer of at most `size` entries for these texts, which are read once."""
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(match.group() for match in (CHUNK if across else WORD).finditer(clean(text)))
    return of_counts(counts, kind, size, lower, across)


def of_counts(
    counts: Mapping[str, int], kind: KindOrAuto = "auto", size: int = 2000, lower: bool = False, across: bool = False
) -> Tokenizer:
    """The same from the counts of word types; "auto" takes whole words where few types cover the text, else BPE.

    With `across`, which only byte-level BPE has, a word type is everything between two spaces, "dog." for example.
    """
    types: Counter[str] = Counter()
    for word, count in counts.items():
        types[word.lower() if lower else word] += count
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
    return of_learnt(kind, KINDS[kind].learn(types, size - FIRST_WORD, **options), lower, across)


def unknown_words(tokenizer: Tokenizer, words: Sequence[str]) -> list[str]:
    """The words, each once, that this vocabulary cannot encode."""
    return [word for word in dict.fromkeys(words) if tokenizer.specials.unknown in tokenizer.encode_word(word)]
