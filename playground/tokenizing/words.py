"""Split text into words and punctuation marks, and join words to readable text again."""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from itertools import pairwise

LONGEST = 100
"""Letters of one word; a longer one (a web address, a line of data) is cut."""

CLOSING = frozenset(".,!?;:)]}%…")
OPENING = frozenset("([{")

_COMBINING = [c for c in map(chr, range(0x300, 0x10000)) if unicodedata.category(c) in ("Mn", "Mc")]
_MARKS = "".join(map(re.escape, _COMBINING)) + "\u00ad\u200c\u200d"
"""The accents, vowel signs, joiners and soft hyphens that belong to the letter before them."""

_LETTER = rf"[\w{_MARKS}]"
_GAP = r"\s\x00-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff"
"""White space, control characters, and the invisible marks that change the direction of writing."""

_EMOJI = "\u2190-\u2bff\U0001f000-\U0001faff"
_JOINED = rf"[{_EMOJI}](?:[{_MARKS}\U0001f3fb-\U0001f3ff]|(?<=\u200d)[{_EMOJI}]){{0,16}}"
"""One pictogram that is encoded as several, such as a family or a hand with its colour."""

_WORD = re.compile(
    r"(?:[A-Za-z]\.){2,}"
    r"|\d+(?:[.,]\d+)+"
    rf"|{_LETTER}{{1,{LONGEST}}}(?:['\u2019\-\u2010\u2011]{_LETTER}{{1,{LONGEST}}}){{0,4}}"
    r"|[\U0001f1e6-\U0001f1ff]{2}"
    rf"|{_JOINED}"
    rf"|[^{_GAP}][{_MARKS}]*"
)
_CHUNK = re.compile(rf"[^{_GAP}]+")


def find_words(text: str) -> Iterator[re.Match[str]]:
    """Every word, number, abbreviation with dots ("U.S.") and punctuation mark, with its place in the text."""
    return _WORD.finditer(text)


def find_chunks(text: str) -> Iterator[re.Match[str]]:
    """Everything between two spaces, punctuation included, with its place in the text."""
    return _CHUNK.finditer(text)


def split_words(text: str) -> list[str]:
    """The words and punctuation marks of a text: "Don't go!" is "Don't", "go", "!"."""
    return _WORD.findall(text)


def join_words(words: Iterable[str]) -> str:
    """Words with spaces between them, but none before a full stop or inside brackets; `split_words` inverts it."""
    words = list(words)
    close = [right in CLOSING or (left in OPENING and right[:1].isalnum()) for left, right in pairwise(words)]
    return "".join(word if joined else f" {word}" for joined, word in zip([True, *close], words, strict=bool(words)))


def clean(text: str) -> str:
    """The text without lone surrogates, which no file can contain; every other character keeps its place."""
    return text.encode("utf-8", "replace").decode("utf-8")


def lowered(word: str) -> str:
    """The word in lower case; a letter whose lower case is longer stays, so that every letter keeps its place."""
    small = word.lower()
    return small if len(small) == len(word) else "".join(c.lower() if len(c.lower()) == 1 else c for c in word)
