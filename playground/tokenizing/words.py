"""Split text into words and punctuation marks, and join words to readable text again."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from itertools import groupby

LONGEST = 100
"""Letters of one word; a longer one (a web address, a line of data) is cut."""

CLOSING = frozenset(".,!?;:)]}%…”")
OPENING = frozenset("([{“")
QUOTE = '"'


def _ranges(codes: Iterable[int]) -> str:
    """Codes that ascend as the ranges of a pattern: "a-cx-x"."""
    runs = groupby(enumerate(codes), lambda each: each[1] - each[0])
    ends = ((run[0][1], run[-1][1]) for run in (list(group) for _, group in runs))
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in ends)


_COMBINING = [code for code in range(0x300, 0x10000) if unicodedata.category(chr(code)) in ("Mn", "Mc")]
_MARKS = _ranges(_COMBINING) + "\u00ad\u200c\u200d"
"""The accents, vowel signs, joiners and soft hyphens that belong to the letter before them."""

_HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
"""Chinese characters, each of which is a word, as BERT's released code has it; there are no spaces between them."""

_LETTER = rf"(?:(?![{_HAN}])[\w{_MARKS}])"
_GAP = "\\s\\x00-\\x1f\\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff"
"""White space, control characters, and the invisible marks that change the direction of writing."""

_EMOJI = "\u2190-\u2bff\U0001f000-\U0001faff"
_JOINED = f"[{_EMOJI}](?:[{_MARKS}\U0001f3fb-\U0001f3ff]|(?<=\u200d)[{_EMOJI}]){{0,16}}"
"""One pictogram that is encoded as several, such as a family or a hand with its colour."""

WORD = re.compile(
    r"(?:[A-Za-z]\.){2,}"
    r"|\d+(?:[.,]\d+)+"
    f"|{_LETTER}{{1,{LONGEST}}}(?:['\u2019\\-\u2010\u2011]{_LETTER}{{1,{LONGEST}}}){{0,4}}"
    "|[\U0001f1e6-\U0001f1ff]{2}"
    f"|{_JOINED}"
    f"|[^{_GAP}][{_MARKS}]*"
)
"""A word, a number, an abbreviation with dots ("U.S.") or a punctuation mark."""

CHUNK = re.compile(f"[^{_GAP}]+")
"""Everything between two spaces, punctuation included."""

_HANS = re.compile(f"[{_HAN}]{{2}}")


def split_words(text: str) -> list[str]:
    """The words and punctuation marks of a text: "Don't go!" is "Don't", "go", "!"."""
    return WORD.findall(text)


def glued(words: Sequence[str]) -> list[bool]:
    """Which words stand without a space behind the one before: full stops, what is in brackets or quoted, Chinese."""
    found, quoted = list[bool](), False
    for left, right in zip(["", *words], words, strict=False):
        opened = left in OPENING or (left == QUOTE and quoted)
        close = right in CLOSING or (opened and right[:1].isalnum()) or bool(_HANS.fullmatch(left[-1:] + right[:1]))
        found.append(close or not left or (right == QUOTE and quoted))
        quoted ^= right == QUOTE
    return found


def join_words(words: Iterable[str]) -> str:
    """Words with spaces between them where a reader expects these; `split_words` inverts it."""
    words = list(words)
    return "".join(word if close else f" {word}" for close, word in zip(glued(words), words, strict=True))


def clean(text: str) -> str:
    """The text without lone surrogates, which no file can contain; every other character keeps its place."""
    return text.encode("utf-8", "replace").decode("utf-8")
