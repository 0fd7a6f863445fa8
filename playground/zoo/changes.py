"""What an entry changed over its parent, from their two declarations."""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

from playground.knob import as_written, knobs
from playground.objectives import find_objective
from playground.zoo.entry import Entry, entries
from playground.zoo.surveys import shortened

PUBLISHED, HERE, OBJECTIVE, RECIPE, PHASES, DATA = (
    "architecture as published", "architecture here", "objective", "recipe", "phases", "data",
)  # fmt: skip


@dataclass(frozen=True)
class FieldChange:
    """One part of a declaration that differs: its group and name, how the parent and the entry have it, and why."""

    group: str
    part: str
    before: str
    after: str
    why: str = ""


def turned(entry: Entry) -> dict[str, Any]:
    """The knobs of the objective that an entry has turned, with its values."""
    published = find_objective(entry.objective.name).knobs
    now = {name: k.default for name, k in entry.objective.knobs.items()}
    return {name: value for name, value in now.items() if value != published[name].default}


def changes(entry: Entry) -> tuple[FieldChange, ...]:
    """All that differs between an entry and its parent; nothing where it has none."""
    if not entry.parent:
        return ()
    parent = entries()[entry.parent]
    return (*_published(parent, entry), *trained_changes(parent, entry), *_data(parent, entry))


def trained_changes(parent: Entry, entry: Entry) -> Iterator[FieldChange]:
    """What differs in what is trained here: network, objective, recipe and phases."""
    yield from _parts(HERE, parent.model, entry.model)
    yield from _objective(parent, entry)
    yield from _parts(RECIPE, parent.recipe, entry.recipe)
    if parent.phases != entry.phases:
        before, after = (", then ".join(phase.name for phase in one.phases) or "one" for one in (parent, entry))
        yield FieldChange(PHASES, "one after another", before, after)


def _data(parent: Entry, entry: Entry) -> Iterator[FieldChange]:
    for part in ("corpus", "data"):
        if (before := getattr(parent, part)) != (after := getattr(entry, part)):
            yield FieldChange(DATA, "text here" if part == "corpus" else "texts of the authors", before, after)


def _published(parent: Entry, entry: Entry) -> Iterator[FieldChange]:
    """Between the two published sizes that differ in the fewest parts, where both papers name sizes."""
    pairs = [
        (old, new, [*_parts(PUBLISHED, old.model, new.model)]) for old in parent.published for new in entry.published
    ]
    for old, new, parts in sorted(pairs, key=lambda pair: len(pair[2]))[:1]:
        yield FieldChange(PUBLISHED, "size", old.name, new.name)
        counted = shortened(old.parameters), shortened(new.parameters)
        if counted[0] != counted[1]:
            yield FieldChange(PUBLISHED, "parameters", *counted)
        yield from parts


def _parts(group: str, old: Any, new: Any) -> Iterator[FieldChange]:
    """The fields of two values of one type that differ, what kind of network it is and how it reads first."""
    why = {k.name: k.why for k in knobs(new)}
    for part in sorted(fields(new), key=lambda part: part.name not in ("kind", "attention")):
        before, after = getattr(old, part.name), getattr(new, part.name)
        if before != after:
            name = part.name.replace("_", " ")
            yield FieldChange(
                group, name, _written(before), _written(after), why.get(part.name, LABELS.get(part.name, ""))
            )


LABELS = {
    "labels": "Heads that choose one of several classes.",
    "paired": "Heads that read two texts separately.",
    "label_embeddings": "Labels that are read with the words; each has an embedding of its own.",
}
"""What the parts of an architecture mean that are no knobs."""


def _written(value: Any) -> str:
    """A value of a field; a tuple of labels with their classes as a list."""
    if not isinstance(value, tuple):
        return as_written(value)
    return ", ".join(f"{one[0]} ({one[1]} classes)" if isinstance(one, tuple) else str(one) for one in value) or "none"


def _objective(parent: Entry, entry: Entry) -> Iterator[FieldChange]:
    """Another objective, or the same one with other knobs."""
    old, new = parent.objective, entry.objective
    if old.name != new.name:
        yield FieldChange(OBJECTIVE, "name", old.name, new.name, new.idea)
        if old.loss != new.loss:
            yield FieldChange(OBJECTIVE, "loss", old.loss, new.loss)
        return
    for name, k in new.knobs.items():
        if (before := old.knobs[name].default) != k.default:
            yield FieldChange(OBJECTIVE, name.replace("_", " "), as_written(before), as_written(k.default), k.why)
