"""Labelled sentences cut from TinyWorld, for fine-tuning."""

import hashlib
from random import Random
from typing import Literal

from playground.corpora.tinyworld.generate import spell
from playground.corpora.tinyworld.world import grammar
from playground.refusal import Refusal
from playground.seeds import derive

Split = Literal["train", "test"]

PATIENCE = 2000
"""Sentences in a row that bring nothing new, before we say that there are no more."""


def polarity_sentences(count: int, seed: int, split: Split = "train") -> tuple[list[list[str]], list[int]]:
    """Different single sentences of reviews and whether each is good (1) or bad (0), half of each.

    The adjectives carry the feeling, in a minority with "not". No sentence of one split is in the other.
    """
    if split not in ("train", "test"):
        raise Refusal(f"split is {split!r}; choose one of train, test.")
    random = Random(derive(seed, "polarity", split))
    labels = [k % 2 for k in range(count)]
    random.shuffle(labels)
    bad = _different(count - sum(labels), "Praise-bad", split, random)
    good = _different(sum(labels), "Praise-good", split, random)
    return [(good if label else bad).pop() for label in labels], labels


def _different(count: int, rule: str, split: Split, random: Random) -> list[list[str]]:
    rules = grammar("reviews")
    found: dict[tuple[str, ...], None] = {}
    idle = 0
    while len(found) < count and idle < PATIENCE:
        numbers: list[int] = []
        rules.write(rules.names[rule], random.random, numbers)
        words = tuple(spell(rules.forms, numbers))
        new = words not in found and _split_of(words) == split
        found |= {words: None} if new else {}
        idle = 0 if new else idle + 1
    if len(found) < count:
        raise Refusal(f"There are only about {2 * len(found)} such sentences, not {2 * count}; ask for fewer.")
    return [list(words) for words in found]


def _split_of(words: tuple[str, ...]) -> Split:
    """A sentence belongs to one split for ever, whatever the seed: a third of all sentences is for testing."""
    return "test" if hashlib.blake2b(" ".join(words).encode(), digest_size=2).digest()[0] % 3 == 0 else "train"
