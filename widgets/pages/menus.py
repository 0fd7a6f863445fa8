"""Menus in groups: the models, searched by name or objective, and texts and tasks, one's own first."""

from collections.abc import Iterable
from typing import Any

import panel as pn
import panel_material_ui as pmui
import param

from playground.zoo import Entry, entries
from playground.zoo.surveys import family

FAMILIES = {
    "encoder": "Encoders, the oldest first", "decoder": "Decoders", "encoder and decoder": "Encoders with a decoder",
    "recurrent": "Recurrent networks", "static": "Word vectors",
}  # fmt: skip
"""The headings of the menu, by what `family` says of an entry."""

FROM_STAGE = "From the Stage"


def model_choice(parameter: param.Parameter, **looks: Any) -> pmui.Select:
    """A menu for a parameter that holds the name of an entry, or of an objective that came from the Stage."""
    menu = pmui.Select.from_param(parameter, groups=pn.bind(model_groups, parameter), searchable=True, **looks)
    menu.param.watch(lambda _: menu.param.update(filter_str="", dropdown_open=False), "value")
    return menu


def model_groups(chosen: str) -> dict[str, dict[str, str]]:
    """The names of the entries by what the menu shows of them, under their headings."""
    own = {} if chosen in entries() else {FROM_STAGE: {chosen: chosen}}
    every = entries().values()
    return own | {
        heading: {_label(e): e.name for e in every if family(e) == name} for name, heading in FAMILIES.items()
    }


def _label(entry: Entry) -> str:
    return entry.name if entry.objective.name == entry.name else f"{entry.name}: {entry.objective.name}"


def own_first(own: Iterable[str], known: Iterable[str]) -> dict[str, list[str]]:
    """The groups of a menu: what the visitor brings stands apart, before what is here."""
    return {"Your own": [*own], "Ready to use": [*known]}
