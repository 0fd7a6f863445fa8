"""Sentences that praise or blame two things, asked about one of them."""

from dataclasses import dataclass
from random import Random

from playground.corpora.tinyworld.lexicon import ASPECTS_PLURAL, BAD, GOOD
from playground.corpora.tinyworld.tasks.draw import Split, balanced, dice, different

ASPECTS = tuple(ASPECTS_PLURAL.split())


SAID = ("none", "bad", "good")
"""What a sentence may say of a thing."""


@dataclass(frozen=True)
class Opinion:
    """A sentence about two things, which of `ASPECTS` is asked about, and which of `SAID` is true of it."""

    words: list[str]
    aspect: int
    said: int


def opinions(count: int, seed: int, split: Split = "train") -> list[Opinion]:
    """Different sentences; each thing is about equally often not spoken of, bad and good.

    What else a sentence speaks of is good or bad by chance: whoever feels only its mood errs in a quarter of what is
    good or bad.
    """
    random = dice(seed, "aspects", split)
    labels = balanced(count, len(SAID) * len(ASPECTS), random)
    classes = [
        different(labels.count(k), split, lambda k=k: _opinion(*divmod(k, len(SAID)), random), lambda one: one.words, 3)
        for k in range(len(SAID) * len(ASPECTS))
    ]
    return [classes[label].pop() for label in labels]


def _opinion(aspect: int, said: int, random: Random) -> Opinion:
    others = random.sample([name for name in ASPECTS if name != ASPECTS[aspect]], 2)
    clauses = [_clause(name, random.choice((BAD, GOOD)), random) for name in others]
    if said:
        clauses[random.randrange(2)] = _clause(ASPECTS[aspect], (BAD, GOOD)[said - 1], random)
    first, second = clauses
    return Opinion([*first, ",", *second, "."], aspect, said)


def _clause(name: str, words: str, random: Random) -> list[str]:
    return ["the", name, "were", random.choice(words.split())]
