"""Byte-level BPE: 256 bytes instead of an alphabet, so nothing is unknown (Radford et al. 2019, GPT-2, sec. 2.2).

GPT-2 keeps the space before a word as a part of it, and English endings such as 's in one piece; here neither is done:
spaces separate words, and "##" marks what continues one, as in every other kind.
"""

import re
import unicodedata
from collections.abc import Callable
from itertools import groupby

from playground.tokenizing.merging import Learnt, train_merges, within_room
from playground.tokenizing.pieces import MARK, Code, Counts, both, continues, plain

BYTES = tuple(map(chr, range(256)))
"""Every byte as one letter."""

BASE = 2 * len(BYTES)
"""Entries of every vocabulary: each byte as the first of a word and as a later one."""

_NUMBERED = re.compile("⟨([0-9A-F]{2})⟩")


def learn(counts: Counts, room: int, across: bool = False) -> Learnt:
    """All bytes and the most frequent merges; unless `across`, letters, digits and punctuation are not merged."""
    code = Code(BYTES)

    def write(word: str) -> str:
        return " ".join(code.write(letters, first=k == 0) for k, letters in enumerate(runs(word, across)))

    return _renamed(within_room(both(BYTES), train_merges(counts, write, code, room), room), show, across)


def raw(learnt: Learnt) -> Learnt:
    """The same pieces and merges with one letter for each byte."""
    return _renamed(learnt, hide, learnt.across)


def _renamed(learnt: Learnt, change: Callable[[str], str], across: bool) -> Learnt:
    """The same pieces and merges with other letters."""

    def rename(piece: str) -> str:
        return (MARK if continues(piece) else "") + change(plain(piece))

    merges = tuple((rename(left), rename(right)) for left, right in learnt.merges)
    return Learnt(tuple(map(rename, learnt.pieces)), merges, across=across)


def runs(word: str, across: bool = False) -> list[str]:
    """The bytes of a word, separated where the category of the characters changes."""
    parted = groupby(zip(word, categories(word), strict=True), lambda each: None if across else each[1])
    return ["".join(c for c, _ in group).encode("utf-8").decode("latin-1") for _, group in parted]


def categories(word: str) -> list[str]:
    """Letter, digit or other for each character; an accent belongs to the character before it."""
    found: list[str] = []
    for character in word:
        general = unicodedata.category(character)[0]
        if general == "M" and found:
            found.append(found[-1])
        else:
            found.append({"L": "letter", "M": "letter", "N": "digit"}.get(general, "other"))
    return found


def show(letters: str) -> str:
    """Bytes as text; a byte that is no whole visible character by its number: ⟨E2⟩."""
    text = letters.encode("latin-1").decode("utf-8", "surrogateescape")
    numbered = ("".join(f"⟨{byte:02X}⟩" for byte in c.encode("utf-8", "surrogateescape")) for c in text)
    return "".join(c if c.isprintable() and c not in " ⟨" else number for c, number in zip(text, numbered, strict=True))


def hide(shown: str) -> str:
    """The inverse of `show`: the bytes of a shown text."""
    parts = _NUMBERED.split(shown)
    whole = (chr(int(part, 16)) if k % 2 else part.encode("utf-8").decode("latin-1") for k, part in enumerate(parts))
    return "".join(whole)


def text_of(shown: str) -> str:
    """The text of joined pieces; bytes that make no character become �."""
    return hide(shown).encode("latin-1").decode("utf-8", "replace")
