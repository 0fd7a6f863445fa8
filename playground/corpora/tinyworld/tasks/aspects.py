"""Sentences with opinions on two aspects, and the question which one they express on a given aspect."""

from dataclasses import dataclass
from random import Random

from playground.corpora.tinyworld.lexicon import ASPECTS_PLURAL, BAD, GOOD
from playground.corpora.tinyworld.tasks.draw import Split, different_by_class

ASPECTS = tuple(ASPECTS_PLURAL.split())

OPINIONS = ("none", "bad", "good")
"""The opinions that a sentence can express on an aspect."""


@dataclass(frozen=True)
class Opinion:
    """A sentence, the aspect of `ASPECTS` in question, and the sentence's opinion of `OPINIONS` on it."""

    words: list[str]
    aspect: int
    opinion: int


def opinions(count: int, seed: int, split: Split = "train") -> list[Opinion]:
    """Different sentences; on each aspect about equally often none, a bad and a good opinion.

    The opinion on the other aspect is random, so the polarity of the whole sentence is wrong for a quarter of the bad
    and good ones.
    """
    classes = len(OPINIONS) * len(ASPECTS)
    return different_by_class("aspects", count, seed, split, classes, _opinion, lambda one: one.words)[0]


def _opinion(label: int, random: Random) -> Opinion:
    aspect, opinion = divmod(label, len(OPINIONS))
    others = random.sample([name for name in ASPECTS if name != ASPECTS[aspect]], 2)
    clauses = [_clause(name, random.choice((BAD, GOOD)), random) for name in others]
    if opinion:
        clauses[random.randrange(2)] = _clause(ASPECTS[aspect], (BAD, GOOD)[opinion - 1], random)
    first, second = clauses
    return Opinion([*first, ",", *second, "."], aspect, opinion)


def _clause(name: str, words: str, random: Random) -> list[str]:
    return ["the", name, "were", random.choice(words.split())]
