"""Words of a second and a third language: every letter stands for another one, and syllables are open."""

from collections.abc import Iterable, Sequence
from random import Random

from playground.corpora.tinyworld.entities import ENTITIES
from playground.corpora.tinyworld.everyday import NUMBERS
from playground.corpora.tinyworld.lexicon import CLOSED
from playground.rng import derive

FROM = "aeiou" + "bcdfghjklmnpqrstvwxyz"
INTO = {"second": "oaeiä" + "kmbzptdgvlrcsnjfhwqxy", "third": "eöüoa" + "vgtlnrkzmdjsbfpchqwyx"}
"""What each letter becomes in each of the other languages."""

FILLER = {"second": "u", "third": "i"}
"""The vowel after a consonant that has none; no letter stands for it, so that the way back is clear."""

STOPS = {".": "。", ",": "、"}
_THERE = {language: str.maketrans(FROM, into) for language, into in INTO.items()}
_BACK = {language: str.maketrans(into, FROM) for language, into in INTO.items()}


def encipher(word: str, language: str = "second") -> str:
    """A word as another language writes it: in the second, "film" becomes "zevulu"."""
    if word in STOPS:
        return STOPS[word]
    followers = [*word[1:], "."]
    return "".join(
        letter.translate(_THERE[language])
        + (FILLER[language] if letter not in "aeiou" and follower not in "aeiou" else "")
        for letter, follower in zip(word, followers, strict=True)
    )


def decipher(word: str, language: str = "second") -> str:
    """The word of the first language that `encipher` began with."""
    for stop, other in STOPS.items():
        if word == other:
            return stop
    return word.replace(FILLER[language], "").translate(_BACK[language])


def dictionary(words: Sequence[str], shared: float, language: str = "second") -> dict[str, str]:
    """Each word's translation; a share of the words, names and numbers first, is the same in both languages."""
    same = set(_alike(words)[: round(shared * len(words))])
    article = {"an": "a"}
    return {word: word if word in same else encipher(article.get(word, word), language) for word in words}


def _alike(words: Iterable[str]) -> list[str]:
    """Words in the order in which they become the same: stops, names, numbers, then any, in an order of its own."""
    early = [*STOPS, *(part for name in ENTITIES for part in name.split()), *CLOSED["NUM"].split(), *NUMBERS.split()]
    place = {word: k for k, word in reversed([*enumerate(early)])}
    rest = sorted(words)
    Random(derive(0, "cipher")).shuffle(rest)
    return sorted(rest, key=lambda word: place.get(word, len(early)))
