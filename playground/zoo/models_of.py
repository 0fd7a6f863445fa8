"""Which entries of the zoo train with an objective, alone or as a part of a sum."""

from contextlib import suppress
from functools import cache

from playground.errors import UserError
from playground.objectives import Objective, find_objective, objectives
from playground.zoo.entry import Entry, entries


@cache
def models_of() -> dict[str, tuple[str, ...]]:
    """The names of the entries that train with each objective of the catalogue, the oldest first."""
    trained = {entry.name: _trained_with(entry) for entry in entries().values()}
    return {name: tuple(entry for entry, names in trained.items() if name in names) for name in objectives()}


def _trained_with(entry: Entry) -> set[str]:
    asked = (entry.objective, *(phase.objective for phase in entry.phases if phase.objective))
    return {name for objective in asked for name in _names(objective)}


def _names(objective: Objective) -> set[str]:
    """Its name, those of its chains, and what stands between plus signs in its name."""
    parts = set[str]()
    for part in objective.name.split(" + "):
        with suppress(UserError):  # a phase may train what is in no list
            parts.add(find_objective(part).name)
    return parts | {chain.name for chain in objective.chains}
