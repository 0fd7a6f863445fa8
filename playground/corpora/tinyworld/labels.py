"""What TinyWorld knows about every token that it wrote."""

from collections.abc import Callable, Iterable, Mapping, Sequence

import torch
from torch import Tensor

from playground.corpora.tinyworld.entities import ENTITIES, TYPES
from playground.corpora.tinyworld.facts import FACTS
from playground.corpora.tinyworld.grammar import Form
from playground.corpora.tinyworld.lexicon import AFFIXES, CLOSED, SENSES, STEMS, TOPICS
from playground.corpora.tinyworld.supersenses import SUPERSENSES, supersense
from playground.corpora.tinyworld.trees import PHRASES, RELATIONS, ROLES

GAPS = ("3", "8", "13", "18", "23", "28")
"""Words between a word and the one that it must repeat, in the corpus `gaps`."""

LABELS: Mapping[str, tuple[str, ...]] = {
    "pos": (*CLOSED, "PROPN"),
    "number": ("sg", "pl"),
    "tense": ("past", "present"),
    "sense": tuple(f"{word}.{meaning}" for word, both in SENSES.items() for meaning, _ in both),
    "attractors": ("0", "1", "2", "3", "4"),
    "entity": tuple(ENTITIES),
    "entity_type": TYPES,
    "supersense": SUPERSENSES,
    "phrase_type": PHRASES,
    "role": ROLES,
    "relation": RELATIONS,
    "polarity": ("bad", "good"),
    "topic": tuple(topic.name for topic in TOPICS),
    "language": ("first",),
}
"""What the labels of a token can say; number and attractors are those of nouns and verbs that show them."""

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
    "told": ("all", "the unusual"),
    "gap": GAPS,
    "fact": tuple(fact.name for fact in FACTS),
}
"""What brackets in the rules can say of all that stands between them; only corpora that say it have the label."""

OF_FORMS: Mapping[str, Callable[[Form], str]] = {
    "pos": lambda form: form.pos,
    "number": lambda form: form.number,
    "tense": lambda form: form.tense,
    "sense": lambda form: form.sense,
    "attractors": lambda form: form.attractors,
    "entity": lambda form: form.entity,
    "entity_type": lambda form: ENTITIES.get(form.entity, ""),
    "supersense": supersense,
}
"""What a form says by itself, wherever it stands."""


def of_forms(forms: Sequence[Form], written: Tensor) -> dict[str, Tensor]:
    """What the grammar knew when it chose each word; the number after the last form is [SEP]."""
    return {name: _classes(LABELS[name], map(say, forms))[written] for name, say in OF_FORMS.items()}


def _classes(values: Sequence[str], said: Iterable[str]) -> Tensor:
    """The number of what is said of each form, -1 for nothing and for the number after the last form."""
    place = {value: k for k, value in enumerate(values)}
    return torch.tensor([*(place.get(value, -1) for value in said), -1], dtype=width(values))


def width(values: Sequence[str]) -> torch.dtype:
    """The narrowest kind of number that can count these values."""
    return torch.int8 if len(values) < 128 else torch.int16


def mentions(forms: Sequence[Form], written: Tensor) -> Tensor:
    """The running number of the name that each token belongs to, -1 outside names."""
    begins = torch.tensor([*(form.begins for form in forms), False])[written]
    named = torch.tensor([*(bool(form.entity) for form in forms), False])[written]
    return (begins.int().cumsum(0, dtype=torch.int32) - 1).masked_fill(~named, -1)


def unbracket(forms: Sequence[Form], bracketed: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
    """The written forms without the brackets, and what the brackets say: phrases, their kinds and roles, and marks."""
    words = [form.word for form in forms]
    openers = [word[:-1].partition(":") if word[-1] == "[" else ("", "", "") for word in words]
    number, opener = _between([bool(kind) for kind, _, _ in openers], [word == "]" for word in words], bracketed)
    labels = {
        "phrase": number,
        "phrase_type": _classes(PHRASES, (kind for kind, _, _ in openers))[opener],
        "role": _classes(ROLES, (role for _, _, role in openers))[opener],
    }
    for name in sorted({word.partition(":")[0] for word in words if word[-1] == "{"}):
        said = [word.removeprefix(name + ":")[:-1] if word[-1] == "{" else "" for word in words]
        opens, closes = ([word.startswith(name + ":") for word in words], [word == name + "}" for word in words])
        labels[name] = _classes(MARKS[name], said)[_between(opens, closes, bracketed)[1]]
    kept = torch.tensor([*(bool(form.pos) for form in forms), True])[bracketed]
    return bracketed[kept], {name: row[kept] for name, row in labels.items()}


def _between(opens: list[bool], closes: list[bool], bracketed: Tensor) -> tuple[Tensor, Tensor]:
    """The running number of the pair of brackets around each form (-1 outside), and the form that opens that pair."""
    opened, closed = (torch.tensor([*which, False])[bracketed] for which in (opens, closes))
    count = opened.cumsum(0, dtype=torch.int32)
    number = (count - 1).masked_fill(count == closed.cumsum(0, dtype=torch.int32), -1)
    openers = torch.cat([bracketed[opened], bracketed.new_tensor([len(opens)])])
    return number, openers[number.long()]
