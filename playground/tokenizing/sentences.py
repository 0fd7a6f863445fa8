"""Where sentences end: after . ! ? and closing quotes, but not after "Mr." or "e.g."."""

import re
from collections.abc import Sequence

from playground.tokenizing.words import find_words

ENDS = frozenset(".!?…\u3002\uff01\uff1f\u0964\u061f")
"""Marks that end a sentence, also those of Chinese, Hindi and Arabic."""

AFTER = ENDS | frozenset("\"'\u201d\u2019)]}»")
"""Marks that still belong to the sentence that has just ended."""

STRAIGHT = '"'
"""A quote that looks the same at both ends: every second one closes."""

TITLES = frozenset(re.findall(r"\w+", "mr mrs ms dr prof st sr rev hon gen col maj capt lt sgt vs cf mt mme"))
"""A full stop between one of these and a name ends no sentence."""

NUMBERED = frozenset(re.findall(r"\w+", "no nr fig figs vol ch sec pp p art"))
"""A full stop between one of these and a number ends no sentence."""

INSIDE = frozenset(
    re.findall(r"\w+", "etc inc ltd co corp jr approx dept est jan feb apr jun jul aug sep sept oct nov dec")
)
"""A full stop after these ends a sentence only where a capital letter follows."""

OPENERS = frozenset(re.findall(r"\w+", "the a an he she it they we you i in on at but and this that these those there"))
"""After "U.S." and its like only a word that often opens a sentence opens one."""


def number_sentences(words: Sequence[str]) -> list[int]:
    """The running number of the sentence that each word belongs to, from 0."""
    numbers: list[int] = []
    sentence, over, quoted = 0, False, False
    for index, word in enumerate(words):
        if over and (word not in AFTER or (word == STRAIGHT and not quoted)):
            sentence, over = sentence + 1, False
        numbers.append(sentence)
        quoted = quoted != (word == STRAIGHT)
        over = over or _ends(words, index)
    return numbers


def split_sentences(text: str) -> list[str]:
    """The sentences of a text: "Mr. Smith went. He left!" has two."""
    found = list(find_words(text))
    numbers = number_sentences([match.group() for match in found])
    first: dict[int, int] = {}
    last: dict[int, int] = {}
    for number, match in zip(numbers, found, strict=True):
        first.setdefault(number, match.start())
        last[number] = match.end()
    return [text[first[number] : last[number]] for number in first]


def _ends(words: Sequence[str], index: int) -> bool:
    word = words[index]
    follower = words[index + 1] if index + 1 < len(words) else ""
    if len(word) > 1 and word.endswith("."):
        return follower[:1].isupper() and follower.lower() in OPENERS
    if word != ".":
        return word in ENDS
    return not _abbreviated(words[index - 1] if index else "", follower)


def _abbreviated(before: str, follower: str) -> bool:
    """Whether a full stop only shortens the word before it: a title, an initial, or "etc." within a sentence."""
    if before.lower() in TITLES:
        return follower[:1].isupper()
    if before.lower() in NUMBERED:
        return follower[:1].isdigit()
    if len(before) == 1 and before.isupper() and before != "I":
        return follower[:1].isupper()
    return before.lower() in INSIDE and bool(follower) and not follower[:1].isupper()
