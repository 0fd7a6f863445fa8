"""Analogy questions, "king is to queen as uncle is to what?", about the corpus `families`."""

from dataclasses import dataclass
from itertools import permutations

from playground.corpora.tinyworld.inflection import plural
from playground.corpora.tinyworld.lexicon import COUNTRIES
from playground.corpora.tinyworld.presets.families import KIN


@dataclass(frozen=True)
class Analogy:
    """A is to b as c is to d (arXiv:1301.3781, sec. 4), with the kind of the relation."""

    relation: str
    a: str
    b: str
    c: str
    d: str


def analogy_grids() -> dict[str, tuple[tuple[str, str], ...]]:
    """Pairs of words that differ in one thing, by relation."""
    kin = [tuple(pair.split()) for pair in KIN]
    return {
        "gender": tuple((man, woman) for man, woman in kin),
        "capital": tuple((land, city) for land, city, _ in map(str.split, COUNTRIES)),
        "plural": tuple((word, plural(word)) for pair in kin for word in pair),
    }


def analogy_questions() -> tuple[Analogy, ...]:
    """Every question that two pairs of one relation make."""
    return tuple(
        Analogy(relation, *one, *other)
        for relation, grid in analogy_grids().items()
        for one, other in permutations(grid, 2)
    )
