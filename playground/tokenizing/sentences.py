"""Sentence ends: after . ! ? and closing quotes, but not after "Mr." or "e.g."."""

from collections.abc import Sequence

ENDS = frozenset(".!?…\u3002\uff01\uff1f\u0964\u061f")
"""Marks that end a sentence, also those of Chinese, Hindi and Arabic."""

AFTER = ENDS | frozenset("\"'\u201d\u2019)]}»")
"""Marks that still belong to the sentence that has just ended."""

STRAIGHT = '"'
"""A quote that is the same at both ends: every second one closes."""

TITLES = frozenset("mr mrs ms dr prof st sr rev hon gen col maj capt lt sgt vs cf mt mme".split())
"""A full stop between one of these and a name ends no sentence."""

NUMBERED = frozenset("no nr fig figs vol ch sec pp p art".split())
"""A full stop between one of these and a number ends no sentence."""

INSIDE = frozenset("etc inc ltd co corp jr approx dept est jan feb apr jun jul aug sep sept oct nov dec".split())
"""A full stop after these ends a sentence only where a capital letter follows."""

OPENERS = frozenset("the a an he she it they we you i in on at but and this that these those there".split())
"""After "U.S." and the like only a word that often opens a sentence opens one."""


def number_sentences(words: Sequence[str]) -> list[int]:
    """The running number of the sentence of each word, from 0."""
    numbers: list[int] = []
    sentence, ended, quoted = 0, False, False
    for index, word in enumerate(words):
        if ended and (word not in AFTER or (word == STRAIGHT and not quoted)):
            sentence, ended = sentence + 1, False
        numbers.append(sentence)
        quoted = quoted != (word == STRAIGHT)
        ended = ended or _ends(words, index)
    return numbers


def _ends(words: Sequence[str], index: int) -> bool:
    word = words[index]
    follower = words[index + 1] if index + 1 < len(words) else ""
    if len(word) > 1 and word.endswith("."):
        return follower[:1].isupper() and follower.lower() in OPENERS
    if word != ".":
        return word in ENDS
    return not _abbreviates(words[index - 1] if index else "", follower)


def _abbreviates(before: str, follower: str) -> bool:
    """Whether a full stop only abbreviates the word before it: a title, an initial, or "etc." within a sentence."""
    if before.lower() in NUMBERED:
        return follower[:1].isdigit()
    if before.lower() in TITLES or (len(before) == 1 and before.isupper() and before != "I"):
        return follower[:1].isupper()
    return before.lower() in INSIDE and bool(follower) and not follower[:1].isupper()
