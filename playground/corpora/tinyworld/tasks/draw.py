"""Draw different examples for a task; every text belongs to one split, whatever the seed."""

import hashlib
from collections.abc import Callable, Sequence
from functools import partial
from random import Random
from typing import Literal, TypeVar

from playground.corpora.tinyworld.generate import spell
from playground.corpora.tinyworld.grammar import Form
from playground.corpora.tinyworld.world import grammar
from playground.errors import UserError
from playground.rng import derive

Split = Literal["train", "test"]
Pair = tuple[list[str], list[str]]
T = TypeVar("T")

MOST = 40_000
"""Examples that can be drawn at once; more would take minutes."""

PATIENCE = 2000
"""Examples in a row without a new one, after which there are taken to be no more."""


def task_random(seed: int, task: str, split: Split) -> Random:
    """The random numbers of one task, seed and split; a split with another name is refused."""
    if split not in ("train", "test"):
        raise UserError(f"split is {split!r}; choose one of train, test.")
    return Random(derive(seed, task, split))


def different(
    count: int, split: Split, make: Callable[[], T], key: Callable[[T], Sequence[str]], classes: int = 1
) -> list[T]:
    """So many examples of a split with different words; the limits hold for `classes` calls of this size together."""
    if classes * count > MOST:
        raise UserError(
            f"{classes * count} examples are more than the {MOST} that can be drawn at once; ask for fewer."
        )
    found: dict[tuple[str, ...], T] = {}
    idle = 0
    while len(found) < count and idle < PATIENCE:
        batch = make()
        words = tuple(key(batch))
        new = words not in found and split_of(words) == split
        found |= {words: batch} if new else {}
        idle = 0 if new else idle + 1
    if len(found) < count:
        raise UserError(
            f"There are only about {classes * len(found)} such examples in the split {split}, not {classes * count}; "
            "ask for fewer."
        )
    return list(found.values())


def different_by_class(
    task: str,
    count: int,
    seed: int,
    split: Split,
    classes: int,
    make: Callable[[int, Random], T],
    key: Callable[[T], Sequence[str]],
) -> tuple[list[T], list[int]]:
    """Different examples in random order and their classes, each about equally often; `make` draws one of a class."""
    random = task_random(seed, task, split)
    labels = balanced(count, classes, random)
    found = [different(labels.count(k), split, partial(make, k, random), key, classes) for k in range(classes)]
    return [found[label].pop() for label in labels], labels


def pair_words(pair: Pair) -> list[str]:
    """The words of both texts of a pair."""
    return [*pair[0], *pair[1]]


def split_of(words: Sequence[str]) -> Split:
    """The split of a text, which depends on its words alone: a third of all texts is for testing."""
    return "test" if hashlib.blake2b(" ".join(words).encode(), digest_size=2).digest()[0] % 3 == 0 else "train"


def balanced(count: int, classes: int, random: Random) -> list[int]:
    """Labels in random order, each class about equally often."""
    labels = [k % classes for k in range(count)]
    random.shuffle(labels)
    return labels


def write(preset: str, rule: str, random: Random) -> list[Form]:
    """A text that one rule of a preset writes, as forms, brackets included."""
    rules = grammar(preset)
    numbers: list[int] = []
    rules.write(rules.names[rule], random.random, numbers)
    return [rules.forms[number] for number in numbers]


def write_words(preset: str, rule: str, random: Random) -> list[str]:
    """A text that one rule of a preset writes, as words."""
    return spell(write(preset, rule, random))
