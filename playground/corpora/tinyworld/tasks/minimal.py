"""Pairs of sentences that differ in one place, of which only the first is right."""

from collections.abc import Callable
from random import Random

from playground.corpora.tinyworld.generate import spell
from playground.corpora.tinyworld.grammar import Form
from playground.corpora.tinyworld.inflection import takes_an
from playground.corpora.tinyworld.lexicon import TOPICS, table
from playground.corpora.tinyworld.tasks.draw import Pair, Split, different, task_random, write
from playground.errors import UserError

OTHER_NUMBER = table("is:are was:were stands:stand waits:wait falls:fall rests:rest a:two an:two this:these")
OTHER_NUMBER |= {many: one for one, many in OTHER_NUMBER.items() if one not in ("a", "an")}
"""Verbs and determiners in the other number."""


def minimal_pairs(kind: str, count: int, seed: int, split: Split = "train") -> list[Pair]:
    """Different pairs (right, wrong) of one kind of `KINDS`; a good language model gives the first more probability.

    Agreement after 0 to 4 attractors (arXiv:1611.01368), determiners, a and an, and the order of two neighbouring
    words (bigram shift, arXiv:1805.01070, sec. 2).
    """
    if kind not in KINDS:
        raise UserError(f"There is no kind of minimal pairs named {kind!r}; choose one of: {', '.join(KINDS)}.")
    random = task_random(seed, f"minimal {kind}", split)
    return different(count, split, lambda: KINDS[kind](random), lambda pair: pair[0])


def _row(random: Random, attractors: int = 1) -> list[Form]:
    """A sentence with so many attractors between its subject and its verb."""
    forms = write("agreement", f"Row-{random.choice(TOPICS).name}-{attractors}", random)
    return [form for form in forms if form.pos]


def _agreement(attractors: int, random: Random) -> Pair:
    """The verb in the wrong number."""
    forms = _row(random, attractors)
    position = next(k for k, form in enumerate(forms) if form.attractors)
    words = spell(forms)
    return words, [*words[:position], OTHER_NUMBER[words[position]], *words[position + 1 :]]


def _determiner(random: Random) -> Pair:
    """The determiner of the subject in the wrong number."""
    while True:
        words = spell(_row(random))
        if words[0] in OTHER_NUMBER:
            return words, [OTHER_NUMBER[words[0]], *words[1:]]


def _article(random: Random) -> Pair:
    """A instead of an, or an instead of a."""
    while True:
        words = spell(_row(random))
        if words[0] in ("a", "an"):
            return words, ["a" if takes_an(words[1]) else "an", *words[1:]]


def _order(random: Random) -> Pair:
    """Two neighbouring words swapped, but not the full stop."""
    words = spell(_row(random))
    position = random.randrange(len(words) - 2)
    return words, [*words[:position], words[position + 1], words[position], *words[position + 2 :]]


KINDS: dict[str, Callable[[Random], Pair]] = {
    **{f"agreement-{n}": lambda random, n=n: _agreement(n, random) for n in range(5)},
    "determiner": _determiner,
    "article": _article,
    "order": _order,
}
