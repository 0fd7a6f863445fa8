"""Word classes for the rules: lists of word forms with their weights."""

from collections.abc import Callable, Iterable, Sequence

from playground.corpora.tinyworld.grammar import Form, Part, Way

STEEPNESS = 0.8
"""Exponent of the frequency over the rank in a list (Zipf's law has 1)."""


def even(forms: Iterable[Form]) -> list[Way]:
    """All forms equally frequent."""
    return [(1.0, (form,)) for form in forms]


def zipf(forms: Iterable[Form]) -> list[Way]:
    """Earlier forms more frequent than later ones."""
    return [(1 / rank**STEEPNESS, (form,)) for rank, form in enumerate(forms, start=1)]


def forms(
    words: str, pos: str, number: str = "", *, tense: str = "", inflect: Callable[[str], str] = str
) -> list[Form]:
    """The words of a text, inflected, as forms of one kind."""
    return [Form(inflect(word), pos, number, tense=tense) for word in words.split()]


def name_forms(name: str) -> tuple[Form, ...]:
    """The words of a name; the first of them begins a mention."""
    return tuple(Form(word, "PROPN", entity=name, begins=k == 0) for k, word in enumerate(name.split()))


def names(entities: Sequence[str]) -> list[Way]:
    """All names equally frequent, however many words they have."""
    return [(1.0, name_forms(name)) for name in entities]


def phrase(kind: str, *parts: Part) -> tuple[Part, ...]:
    """Parts in the brackets of a phrase."""
    return (kind + "[", *parts, "]")
