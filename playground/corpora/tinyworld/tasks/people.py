"""Two people who met: what does the second one speak? The sentence does not say; who knows the people does."""

from collections import Counter
from random import Random

from playground.corpora.tinyworld.facts import PERSONS, known_facts
from playground.corpora.tinyworld.inflection import past
from playground.corpora.tinyworld.lexicon import DEALINGS
from playground.corpora.tinyworld.tasks.draw import Split, balanced, dice, different

WAYS = ("met", *map(past, DEALINGS.split()))
"""What one of them did to the other."""

SPEAKERS = 3
"""Speakers of each language that is asked about; each seed keeps another of them for testing."""


def language_of(person: str) -> str:
    """What somebody speaks."""
    return known_facts()[person]["Language"].word


LANGUAGES = tuple(sorted(name for name, number in Counter(map(language_of, PERSONS)).items() if number == SPEAKERS))


def meetings(count: int, seed: int, split: Split = "train") -> tuple[list[list[str]], list[int]]:
    """Different sentences about two people, and which of `LANGUAGES` the second one speaks, about equally often.

    With one seed nobody who is asked about in one split is asked about in the other, so the names cannot be learnt by
    heart; so many seeds as there are speakers ask about everybody.
    """
    random = dice(seed, "meetings", split)
    labels = balanced(count, len(LANGUAGES), random)
    classes = [
        different(labels.count(k), split, lambda k=k: _meeting(LANGUAGES[k], split, seed, random), list, len(LANGUAGES))
        for k in range(len(LANGUAGES))
    ]
    return [classes[label].pop() for label in labels], labels


def _meeting(language: str, split: Split, seed: int, random: Random) -> list[str]:
    speakers = [person for person in PERSONS if language_of(person) == language]
    tested = speakers.pop(-1 - seed % SPEAKERS)
    one = tested if split == "test" else random.choice(speakers)
    other = random.choice([person for person in PERSONS if person != one])
    return [other, random.choice(WAYS), one, "."]
