"""Classes of words for the rules: lists of words with their chances."""

from collections.abc import Iterable, Sequence

from playground.corpora.tinyworld.entities import name_forms
from playground.corpora.tinyworld.grammar import Form, Part, Way

STEEPNESS = 0.8
"""How fast words get rarer from the first of a list to the last (Zipf's law has 1)."""


def even(forms: Iterable[Form]) -> list[Way]:
    """Every word as likely as the next."""
    return [(1.0, (form,)) for form in forms]


def zipf(forms: Iterable[Form], steepness: float = STEEPNESS) -> list[Way]:
    """Earlier words more likely than later ones."""
    return [(1 / rank**steepness, (form,)) for rank, form in enumerate(forms, start=1)]


def forms(words: str, pos: str, number: str = "") -> list[Form]:
    """Words of one kind, written with spaces between them."""
    return [Form(word, pos, number) for word in words.split()]


def names(known: Sequence[str]) -> list[Way]:
    """Every name as likely as the next, however many words it has."""
    return [(1.0, name_forms(name)) for name in known]


def phrase(kind: str, *parts: Part) -> tuple[Part, ...]:
    """Parts in the brackets of a phrase."""
    return (kind + "[", *parts, "]")
