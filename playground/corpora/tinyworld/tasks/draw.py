"""Different examples drawn one by one, each of one split for ever."""

import hashlib
from collections.abc import Callable, Sequence
from random import Random
from typing import Literal, TypeVar

from playground.corpora.tinyworld.generate import spell
from playground.corpora.tinyworld.world import grammar
from playground.errors import Refusal
from playground.rng import derive

Split = Literal["train", "test"]
T = TypeVar("T")

MOST = 40_000
"""Examples that are drawn at once; more would take minutes."""

PATIENCE = 2000
"""Examples in a row that bring nothing new, before we say that there are no more."""


def dice(seed: int, task: str, split: Split) -> Random:
    """The chances of one task, seed and split; a split with another name is refused."""
    if split not in ("train", "test"):
        raise Refusal(f"split is {split!r}; choose one of train, test.")
    return Random(derive(seed, task, split))


def different(
    count: int, split: Split, make: Callable[[], T], key: Callable[[T], Sequence[str]], classes: int = 1
) -> list[T]:
    """So many examples of a split, no two with the same words; `classes` as large as this one are wanted in all."""
    if classes * count > MOST:
        raise Refusal(f"{classes * count} examples are more than the {MOST} that can be drawn at once; ask for fewer.")
    found: dict[tuple[str, ...], T] = {}
    idle = 0
    while len(found) < count and idle < PATIENCE:
        example = make()
        words = tuple(key(example))
        new = words not in found and split_of(words) == split
        found |= {words: example} if new else {}
        idle = 0 if new else idle + 1
    if len(found) < count:
        raise Refusal(
            f"There are only about {classes * len(found)} such examples in the split {split}, not {classes * count}; "
            "ask for fewer."
        )
    return list(found.values())


def split_of(words: Sequence[str]) -> Split:
    """A text belongs to one split for ever, whatever the seed: a third of all texts is for testing."""
    return "test" if hashlib.blake2b(" ".join(words).encode(), digest_size=2).digest()[0] % 3 == 0 else "train"


def balanced(count: int, classes: int, random: Random) -> list[int]:
    """Labels in no order, each class about equally often."""
    labels = [k % classes for k in range(count)]
    random.shuffle(labels)
    return labels


def write(preset: str, rule: str, random: Random) -> list[int]:
    """What one rule of a preset writes, as numbers of forms, brackets included."""
    rules = grammar(preset)
    numbers: list[int] = []
    rules.write(rules.names[rule], random.random, numbers)
    return numbers


def write_words(preset: str, rule: str, random: Random) -> list[str]:
    """What one rule of a preset writes, as words."""
    return spell(grammar(preset).forms, write(preset, rule, random))
