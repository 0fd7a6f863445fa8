"""The facts of TinyWorld, and how often the corpus `facts` states each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from random import Random

from playground.corpora.tinyworld import lexicon as lex
from playground.corpora.tinyworld.grammar import Form
from playground.corpora.tinyworld.ways import name_forms
from playground.rng import derive

PERSONS = tuple(name for names in lex.NAMES.values() for name in names.split())
PRONOUN = {"f": "she", "m": "he"}

MENTIONS = (0, 1, 2, 4, 8, 16)
"""How often a fact is stated in each round of the corpus `facts`; a fact with 0 mentions is held out."""


@dataclass(frozen=True)
class Fact:
    """A relation between a subject and an object, and how often it is stated."""

    subject: str
    relation: str
    object: str
    mentions: int

    @property
    def revealing(self) -> bool:
        """Whether the subject's own name contains the object (arXiv:1911.03681, sec. 3, removes such facts)."""
        return self.object in self.subject.split()

    @property
    def name(self) -> str:
        return f"{self.subject} {self.relation} {self.object}"


@cache
def known_facts() -> Mapping[str, Mapping[str, Form]]:
    """Name, pronoun, birthplace, job, language and a favourite thing of every person, the same in every corpus."""
    random = Random(derive(0, "facts"))
    cities = _deal(random, [country.split()[1] for country in lex.COUNTRIES])
    languages = _deal(random, [country.split()[2] for country in lex.COUNTRIES])
    jobs = _deal(random, lex.JOBS.split())
    likes = _deal(random, lex.LIKES.split())
    pronouns = [PRONOUN[gender] for gender, names in lex.NAMES.items() for _ in names.split()]
    rows = zip(PERSONS, pronouns, cities, languages, jobs, likes, strict=True)
    return {
        name: {
            "Name": name_forms(name)[0],
            "He": Form(pronoun, "PRON"),
            "Birthplace": name_forms(city)[0],
            "Job": Form(job, "NOUN", "sg"),
            "Like": Form(like, "NOUN", "sg"),
            "Language": name_forms(language)[0],
        }
        for name, pronoun, city, language, job, like in rows
    }


def _deal(random: Random, values: Sequence[str]) -> list[str]:
    """One value for each person in random order, every value about equally often."""
    dealt = [values[k % len(values)] for k in range(len(PERSONS))]
    random.shuffle(dealt)
    return dealt


RELATIONS = {"born": "Birthplace", "job": "Job", "likes": "Like", "speaks": "Language"}
"""The relations of every person, and their names in the rules."""


def _all_facts() -> tuple[Fact, ...]:
    """Four facts about each person, one about each town and one about each country; the last are never held out.

    Every other town has a sight that its own name contains, the others one from the name of another town.
    """
    people = [(name, what, facts[of].word) for what, of in RELATIONS.items() for name, facts in known_facts().items()]
    sights = [town.split()[1] for town in lex.TOWNS]
    towns = [(town, "has", sights[k] if k % 2 else sights[k - 3]) for k, town in enumerate(lex.TOWNS)]
    countries = [(land, "capital", city) for land, city, _ in map(str.split, lex.COUNTRIES)]
    return (*_with_mentions([*people, *towns], MENTIONS), *_with_mentions(countries, MENTIONS[1:]))


def _with_mentions(triples: list[tuple[str, str, str]], mentions: tuple[int, ...]) -> list[Fact]:
    """Facts with their numbers of mentions, dealt in the order of the objects: no object has held-out facts only."""
    ordered = sorted(triples, key=lambda fact: (fact[1], fact[2]))
    return [Fact(*fact, mentions[k % len(mentions)]) for k, fact in enumerate(ordered)]


FACTS = _all_facts()
