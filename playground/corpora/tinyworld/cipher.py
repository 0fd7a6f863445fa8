"""Words of a second language: every letter stands for another one, and syllables are open."""

from collections.abc import Iterable, Sequence
from random import Random

from playground.corpora.tinyworld.entities import ENTITIES
from playground.corpora.tinyworld.lexicon import CLOSED
from playground.seeds import derive

FROM = "aeiou" + "bcdfghjklmnpqrstvwxyz"
INTO = "oaeiä" + "kmbzptdgvlrcsnjfhwqxy"
FILLER = "u"
"""The vowel after a consonant that has none; no letter stands for it, so that the way back is clear."""

STOPS = {".": "。", ",": "、"}
_THERE, _BACK = str.maketrans(FROM, INTO), str.maketrans(INTO, FROM)


def encipher(word: str) -> str:
    """A word as the second language writes it: "film" becomes "tiluvu"."""
    if word in STOPS:
        return STOPS[word]
    followers = [*word[1:], "."]
    return "".join(
        letter.translate(_THERE) + (FILLER if letter not in "aeiou" and follower not in "aeiou" else "")
        for letter, follower in zip(word, followers, strict=True)
    )


def decipher(word: str) -> str:
    """The word of the first language that `encipher` began with."""
    for stop, other in STOPS.items():
        if word == other:
            return stop
    return word.replace(FILLER, "").translate(_BACK)


def dictionary(words: Sequence[str], shared: float) -> dict[str, str]:
    """Each word's translation; a share of the words, names and numbers first, is the same in both languages."""
    same = set(_alike(words)[: round(shared * len(words))])
    article = {"an": "a"}
    return {word: word if word in same else encipher(article.get(word, word)) for word in words}


def _alike(words: Iterable[str]) -> list[str]:
    """Words in the order in which they become the same: stops, names, numbers, then any, in an order of its own."""
    early = [*STOPS, *(part for name in ENTITIES for part in name.split()), *CLOSED["NUM"].split()]
    place = {word: k for k, word in reversed([*enumerate(early)])}
    rest = sorted(words)
    Random(derive(0, "cipher")).shuffle(rest)
    return sorted(rest, key=lambda word: place.get(word, len(early)))
