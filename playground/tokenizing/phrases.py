"""Guesses for text that is not annotated: what is a phrase, and what is a name. Both are for English only."""

import re
from collections.abc import Sequence

_SMALL = {
    "articles and the like": "a an the this that these those each every some any no all both either neither another",
    "pronouns": """i you he she it we they my your his her its our their mine yours hers ours theirs myself yourself
        himself herself itself ourselves themselves who whom whose which what whoever whatever there""",
    "prepositions": """about above across after against along amid among around as at before behind below beneath
        beside between beyond by despite down during except for from in inside into like near of off on onto out
        outside over past per since through throughout till to toward towards under until up upon via with within
        without""",
    "conjunctions": """and but or nor so yet if unless because although though while whereas whether than when where
        why how once not""",
}
_VERBS = """am is are was were be been being do does did done have has had having will would shall should can cannot
    could may might must ought don didn doesn isn aren wasn weren won wouldn shouldn couldn haven hasn hadn mustn"""

OPENERS = frozenset(word for words in _SMALL.values() for word in words.split())
"""Function words that are never a name by themselves, even where they open a sentence."""

FUNCTION_WORDS = OPENERS | frozenset(_VERBS.split())
"""Articles, pronouns, prepositions, conjunctions and auxiliary verbs; object pronouns (me, him, us, them) are not here:
they close a phrase."""

_ENDING = re.compile(r"(?:n['\u2019]t|['\u2019](?:s|t|m|re|ve|ll|d))$")


def guess_phrases(words: Sequence[str], sentence: Sequence[int] | None = None) -> list[int]:
    """The number of the phrase of each word: function words, then content words (chinks and chunks); marks have -1.

    From Liberman and Church 1992, Text analysis and word pronunciation in text-to-speech synthesis. Their rule also
    takes tensed verbs as chinks, which a list of words cannot know. With `sentence` no phrase crosses its sentence.
    """
    numbers: list[int] = []
    phrase, before = -1, "mark"
    for index, word in enumerate(words):
        kind = _kind(word)
        new_sentence = sentence is not None and index > 0 and sentence[index] != sentence[index - 1]
        if kind != "mark" and (before == "mark" or new_sentence or (before, kind) == ("chunk", "chink")):
            phrase += 1
        numbers.append(-1 if kind == "mark" else phrase)
        before = kind
    return numbers


def guess_mentions(words: Sequence[str], sentence: Sequence[int]) -> list[int]:
    """The number of the name that each word belongs to, -1 outside: runs of capitalised words, without "I".

    The first word of a sentence counts only if the next one is capitalised, too, or if the same word is capitalised
    within some sentence; a function word such as "The" never counts there.
    """
    opens = [index == 0 or sentence[index] != sentence[index - 1] for index in range(len(words))]
    spoken = [index for index in range(len(words)) if _kind(words[index]) != "mark"]
    first = set({sentence[index]: index for index in reversed(spoken)}.values())  # in its sentence, marks aside
    inside = {word for index, word in enumerate(words) if index not in first and _capital(word)}
    numbers: list[int] = []
    mention, before = -1, False
    for index, word in enumerate(words):
        named = _capital(word)
        if index in first:
            follower = words[index + 1] if index + 1 < len(words) and not opens[index + 1] else ""
            named = named and word.lower() not in OPENERS and (_capital(follower) or word in inside)
        mention += named and (opens[index] or not before)
        numbers.append(mention if named else -1)
        before = named
    return numbers


def _kind(word: str) -> str:
    if not any(c.isalnum() for c in word):
        return "mark"
    return "chink" if word.lower() in FUNCTION_WORDS or _ENDING.sub("", word.lower()) in FUNCTION_WORDS else "chunk"


def _capital(word: str) -> bool:
    return word[:1].isupper() and _ENDING.sub("", word) != "I"
