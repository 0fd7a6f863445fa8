"""Meetings of two people: which language does the second one speak? Only known facts about the people answer it."""

from collections import Counter
from functools import partial
from random import Random

from playground.corpora.tinyworld.facts import PERSONS, known_facts
from playground.corpora.tinyworld.inflection import past
from playground.corpora.tinyworld.lexicon import DEALINGS
from playground.corpora.tinyworld.tasks.draw import Split, different_by_class

WAYS = ("met", *map(past, DEALINGS.split()))
"""The verbs of the sentences."""

SPEAKERS = 3
"""Speakers of each language in question; each seed keeps another of them for testing."""


def language_of(person: str) -> str:
    """The language that a person speaks."""
    return known_facts()[person]["Language"].word


LANGUAGES = tuple(sorted(name for name, number in Counter(map(language_of, PERSONS)).items() if number == SPEAKERS))


def meetings(count: int, seed: int, split: Split = "train") -> tuple[list[list[str]], list[int]]:
    """Different sentences about two people, and which of `LANGUAGES` the second one speaks, about equally often.

    With one seed the second people of one split are not those of the other, so the names cannot be learnt by heart; as
    many seeds as there are speakers of a language test everybody.
    """
    make = partial(_meeting, split, seed)
    return different_by_class("meetings", count, seed, split, len(LANGUAGES), make, list)


def _meeting(split: Split, seed: int, label: int, random: Random) -> list[str]:
    speakers = [person for person in PERSONS if language_of(person) == LANGUAGES[label]]
    tested = speakers.pop(-1 - seed % SPEAKERS)
    one = tested if split == "test" else random.choice(speakers)
    other = random.choice([person for person in PERSONS if person != one])
    return [other, random.choice(WAYS), one, "."]
