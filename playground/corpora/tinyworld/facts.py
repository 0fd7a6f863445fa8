"""What is true in TinyWorld, and how often the corpus `facts` tells it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from random import Random

from playground.corpora.tinyworld import lexicon as lex
from playground.corpora.tinyworld.entities import name_forms
from playground.corpora.tinyworld.grammar import Form
from playground.rng import derive

SEED = 0
"""The seed of the facts: who was born where is the same in every corpus."""

PERSONS = tuple(name for names in lex.NAMES.values() for name in names.split())
PRONOUN = {"f": "she", "m": "he"}

MENTIONS = (0, 1, 2, 4, 8, 16)
"""How often a fact is told in each round of the corpus `facts`; one told 0 times is held out."""


@dataclass(frozen=True)
class Fact:
    """Somebody or something, a relation, what it leads to, and how often it is told."""

    subject: str
    relation: str
    object: str
    mentions: int

    @property
    def revealing(self) -> bool:
        """Whether the subject's own name gives the object away (arXiv:1911.03681, sec. 3, removes such facts)."""
        return self.object in self.subject.split()

    @property
    def name(self) -> str:
        return f"{self.subject} {self.relation} {self.object}"


@cache
def known_facts() -> Mapping[str, Mapping[str, Form]]:
    """For every person: name, pronoun, birthplace, job, language and what they like."""
    random = Random(derive(SEED, "facts"))
    cities = _dealt(random, [country.split()[1] for country in lex.COUNTRIES])
    tongues = _dealt(random, [country.split()[2] for country in lex.COUNTRIES])
    jobs = _dealt(random, lex.JOBS.split())
    likes = _dealt(random, lex.LIKES.split())
    pronouns = [PRONOUN[g] for g, names in lex.NAMES.items() for _ in names.split()]
    return {
        name: {
            "Name": name_forms(name)[0],
            "He": Form(pronoun, "PRON"),
            "Birthplace": name_forms(city)[0],
            "Job": Form(job, "NOUN", "sg"),
            "Like": Form(like, "NOUN", "sg"),
            "Language": name_forms(tongue)[0],
        }
        for name, pronoun, city, tongue, job, like in zip(PERSONS, pronouns, cities, tongues, jobs, likes, strict=True)
    }


def _dealt(random: Random, values: Sequence[str]) -> list[str]:
    """One value for each person, every value about equally often, in no order."""
    dealt = [values[k % len(values)] for k in range(len(PERSONS))]
    random.shuffle(dealt)
    return dealt


RELATIONS = {"born": "Birthplace", "job": "Job", "likes": "Like", "speaks": "Language"}
"""What is known of every person, and under which name in the rules."""


def _all() -> tuple[Fact, ...]:
    """Four facts about each person, one about each town and one about each country; the last are never held out."""
    of_people = [
        (name, what, known[of].word) for what, of in RELATIONS.items() for name, known in known_facts().items()
    ]
    of_lands = [(land, "capital", city) for land, city, _ in map(str.split, lex.COUNTRIES)]
    return (*_mentioned([*of_people, *_sights()], MENTIONS), *_mentioned(of_lands, MENTIONS[1:]))


def _sights() -> list[tuple[str, str, str]]:
    """What there is in each town: in every other one what its name says, else what the name of another one says."""
    said = [town.split()[1] for town in lex.TOWNS]
    return [(town, "has", said[k] if k % 2 else said[k - 3]) for k, town in enumerate(lex.TOWNS)]


def _mentioned(told: list[tuple[str, str, str]], mentions: tuple[int, ...]) -> list[Fact]:
    """Facts with their numbers of mentions, dealt along their objects, so that no object has only held-out facts."""
    along = sorted(told, key=lambda fact: (fact[1], fact[2]))
    return [Fact(*fact, mentions[k % len(mentions)]) for k, fact in enumerate(along)]


FACTS = _all()
