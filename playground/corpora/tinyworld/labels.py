"""The labels of every token that TinyWorld generates."""

from collections.abc import Callable, Iterable, Mapping, Sequence

import torch
from torch import Tensor

from playground.corpora.tinyworld.facts import FACTS
from playground.corpora.tinyworld.grammar import Form
from playground.corpora.tinyworld.lexicon import AFFIXES, CLOSED, ENTITIES, ENTITY_TYPES, FIELD, STEMS, TOPICS
from playground.corpora.tinyworld.sentiment import WORD_POLARITIES
from playground.corpora.tinyworld.supersenses import SUPERSENSES, supersense
from playground.corpora.tinyworld.trees import PHRASES, RELATIONS, ROLES

GAPS = ("3", "8", "13", "18", "23", "28")
"""Numbers of words between a word and its repetition, in the corpus `gaps`."""

LABELS: Mapping[str, tuple[str, ...]] = {
    "pos": (*CLOSED, "PROPN"),
    "number": ("sg", "pl"),
    "tense": ("past", "present"),
    "sense": tuple(FIELD),
    "attractors": ("0", "1", "2", "3", "4"),
    "entity": tuple(ENTITIES),
    "entity_type": ENTITY_TYPES,
    "supersense": SUPERSENSES,
    "phrase_type": PHRASES,
    "role": ROLES,
    "relation": RELATIONS,
    "polarity": ("bad", "good"),
    "topic": tuple(topic.name for topic in TOPICS),
    "language": ("first",),
}
"""The values of each label; only nouns and verbs whose form shows it have a number, only verbs attractors."""

MARKS: Mapping[str, tuple[str, ...]] = {
    "chain": ("hero", "other"),
    "feeling": ("bad", "good"),
    "event": ("1", "2", "3", "4"),
    "cue": ("left", "right", "both", "xor"),
    "distance": ("near", "far"),
    "key": ("sentence", "summary"),
    "answer": ("passage", "reply"),
    "connective": ("addition", "contrast", "cause", "result"),
    "stem": tuple(STEMS.split()),
    "affix": AFFIXES,
    "modality": ("picture", "events", "sound", "text"),
    "shortcut": ("agrees", "misleads"),
    "slip": ("filler", "repeat", "repair", "gap"),
    "report": ("all", "the unusual"),
    "gap": GAPS,
    "fact": tuple(fact.name for fact in FACTS),
    "word_polarity": WORD_POLARITIES,
    "field": ("domain", "date", "authors", "title", "article"),
}
"""The values of each label that a preset gives, most by braces in its rules; a corpus has those it uses."""


def of_forms(forms: Sequence[Form], numbers: Tensor) -> dict[str, Tensor]:
    """The labels of each token that its form has by itself; the number after the last form is [SEP]."""
    own = ("pos", "number", "tense", "sense", "attractors", "entity")
    values = {
        **{name: [getattr(form, name) for form in forms] for name in own},
        "entity_type": [ENTITIES.get(form.entity, "") for form in forms],
        "supersense": [supersense(form) for form in forms],
    }
    return {name: _classes(LABELS[name], row)[numbers] for name, row in values.items()}


def of_preset(own: Mapping[str, Callable[[Form], str]], forms: Sequence[Form], numbers: Tensor) -> dict[str, Tensor]:
    """The labels of each token that one preset has, from its form."""
    return {name: _classes(MARKS[name], map(value, forms))[numbers] for name, value in own.items()}


def _classes(names: Sequence[str], values: Iterable[str]) -> Tensor:
    """The class of the value of each form, -1 for no value and for the number after the last form."""
    place = {name: k for k, name in enumerate(names)}
    return torch.tensor([*(place.get(value, -1) for value in values), -1], dtype=width(names))


def width(names: Sequence[str]) -> torch.dtype:
    """The narrowest type that can number these values."""
    return torch.int8 if len(names) < 128 else torch.int16


def mentions(forms: Sequence[Form], numbers: Tensor) -> Tensor:
    """The running number of the name that each token belongs to, -1 outside names."""
    begins = torch.tensor([*(form.begins for form in forms), False])[numbers]
    named = torch.tensor([*(bool(form.entity) for form in forms), False])[numbers]
    return (begins.int().cumsum(0, dtype=torch.int32) - 1).masked_fill(~named, -1)


def unbracket(forms: Sequence[Form], bracketed: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
    """The forms without the brackets, and the labels that the brackets give: phrases, their types and roles, marks."""
    words = [form.word for form in forms]
    openers = [word[:-1].partition(":") if word[-1] == "[" else ("", "", "") for word in words]
    number, opener = _between([bool(kind) for kind, _, _ in openers], [word == "]" for word in words], bracketed)
    labels = {
        "phrase": number,
        "phrase_type": _classes(PHRASES, (kind for kind, _, _ in openers))[opener],
        "role": _classes(ROLES, (role for _, _, role in openers))[opener],
    }
    for name in sorted({word.partition(":")[0] for word in words if word[-1] == "{"}):
        values = [word.removeprefix(name + ":")[:-1] if word[-1] == "{" else "" for word in words]
        opens, closes = ([word.startswith(name + ":") for word in words], [word == name + "}" for word in words])
        labels[name] = _classes(MARKS[name], values)[_between(opens, closes, bracketed)[1]]
    kept = torch.tensor([*(bool(form.pos) for form in forms), True])[bracketed]
    return bracketed[kept], {name: row[kept] for name, row in labels.items()}


def _between(opens: list[bool], closes: list[bool], bracketed: Tensor) -> tuple[Tensor, Tensor]:
    """The running number of the pair of brackets around each form (-1 outside), and the form that opens that pair."""
    opened, closed = (torch.tensor([*which, False])[bracketed] for which in (opens, closes))
    count = opened.cumsum(0, dtype=torch.int32)
    number = (count - 1).masked_fill(count == closed.cumsum(0, dtype=torch.int32), -1)
    openers = torch.cat([bracketed[opened], bracketed.new_tensor([len(opens)])])
    return number, openers[number.long()]
