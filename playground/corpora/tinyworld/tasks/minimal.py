"""Pairs of sentences of which only the first is right, and in which everything else is the same."""

from collections.abc import Callable
from random import Random

from playground.corpora.tinyworld.generate import spell
from playground.corpora.tinyworld.inflection import takes_an
from playground.corpora.tinyworld.lexicon import TOPICS
from playground.corpora.tinyworld.tasks.draw import Split, dice, different, write
from playground.corpora.tinyworld.world import grammar
from playground.errors import Refusal

Pair = tuple[list[str], list[str]]

OTHER_NUMBER = {
    "is": "are",
    "was": "were",
    "stands": "stand",
    "waits": "wait",
    "falls": "fall",
    "rests": "rest",
    "a": "two",
    "an": "two",
    "this": "these",
}
OTHER_NUMBER |= {many: one for one, many in OTHER_NUMBER.items() if one not in ("a", "an")}
"""Verbs and determiners that the other number demands."""


def minimal_pairs(kind: str, count: int, seed: int, split: Split = "train") -> list[Pair]:
    """Different pairs (right, wrong) of one kind of `KINDS`, for a model that should find the first more likely.

    Agreement after 0 to 4 attractors (arXiv:1611.01368), determiners, a and an, and the order of two neighbouring
    words (arXiv:1805.01070, sec. 2, calls that bigram shift).
    """
    if kind not in KINDS:
        raise Refusal(f"There is no kind of minimal pairs named {kind!r}; choose one of: {', '.join(KINDS)}.")
    random = dice(seed, f"minimal {kind}", split)
    return different(count, split, lambda: KINDS[kind](random), lambda pair: pair[0])


def _agreement(attractors: int, random: Random) -> Pair:
    """The verb in the wrong number."""
    topic = random.choice(TOPICS).name
    rules, numbers = grammar("agreement"), write("agreement", f"Row-{topic}-{attractors}", random)
    place = next(
        k for k, form in enumerate(f for f in map(rules.forms.__getitem__, numbers) if f.pos) if form.attractors
    )
    words = spell(rules.forms, numbers)
    return words, [*words[:place], OTHER_NUMBER[words[place]], *words[place + 1 :]]


def _determiner(random: Random) -> Pair:
    """The determiner of the subject in the wrong number."""
    while True:
        words = _row(random)
        if words[0] in OTHER_NUMBER:
            return words, [OTHER_NUMBER[words[0]], *words[1:]]


def _article(random: Random) -> Pair:
    """A and an changed about."""
    while True:
        words = _row(random)
        if words[0] in ("a", "an"):
            return words, ["a" if takes_an(words[1]) else "an", *words[1:]]


def _order(random: Random) -> Pair:
    """Two neighbouring words changed about, but not the full stop."""
    words = _row(random)
    place = random.randrange(len(words) - 2)
    return words, [*words[:place], words[place + 1], words[place], *words[place + 2 :]]


def _row(random: Random) -> list[str]:
    topic = random.choice(TOPICS).name
    return spell(grammar("agreement").forms, write("agreement", f"Row-{topic}-1", random))


KINDS: dict[str, Callable[[Random], Pair]] = {
    **{f"agreement-{n}": lambda random, n=n: _agreement(n, random) for n in range(5)},
    "determiner": _determiner,
    "article": _article,
    "order": _order,
}
