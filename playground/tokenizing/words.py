"""Cut text into words and punctuation marks, and set words as readable text again."""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from itertools import pairwise

LONGEST = 100
"""Letters of one word; what is longer (a web address, a line of data) is cut."""

CLOSING = frozenset(".,!?;:)]}%…")
OPENING = frozenset("([{")


def _marks() -> str:
    """The accents and vowel signs that belong to the letter before them, as ranges of a character class."""
    codes = [c for c in range(0x300, 0x10000) if unicodedata.category(chr(c)) in ("Mn", "Mc")]
    return "".join(map(re.escape, map(chr, codes))) + "\u200c\u200d"


_MARKS = _marks()
_LETTER = rf"[\w{_MARKS}]"
_GAP = r"\s\x00-\x1f\x7f-\x9f\u200b\ufeff"
_WORD = re.compile(
    r"(?:[A-Za-z]\.){2,}"
    r"|\d+(?:[.,]\d+)+"
    rf"|{_LETTER}{{1,{LONGEST}}}(?:['\u2019\-]{_LETTER}{{1,{LONGEST}}}){{0,4}}"
    rf"|[^{_GAP}][{_MARKS}]*"
)


def find_words(text: str) -> Iterator[re.Match[str]]:
    """Every word, number, abbreviation with dots ("U.S.") and punctuation mark, with its place in the text."""
    return _WORD.finditer(text)


def split_words(text: str) -> list[str]:
    """The words and punctuation marks of a text: "Don't go!" is "Don't", "go", "!"."""
    return _WORD.findall(text)


def join_words(words: Iterable[str]) -> str:
    """Words with spaces between them, but none before a full stop or inside brackets; cutting gives them back."""
    words = list(words)
    gaps = ["" if _close(left, right) else " " for left, right in pairwise(words)]
    return "".join(gap + word for gap, word in zip(["", *gaps], words, strict=bool(words)))


def _close(left: str, right: str) -> bool:
    return right in CLOSING or (left in OPENING and right[:1].isalnum())


def clean(text: str) -> str:
    """The text without half characters, which no file can hold; every other character keeps its place."""
    return text.encode("utf-8", "replace").decode("utf-8")
