"""The list of objectives: the survey's rows first, the others in groups, searched by word and walked by key."""

from functools import cache
from typing import Any

import param

from playground.nearest import Nearest
from playground.objectives import GROUPS, objectives
from playground.zoo import find_entry
from playground.zoo.models_of import models_of
from widgets.bundle import beside
from widgets.lists.searched import Searched

SURVEY = "The survey's table"


class Picker(Searched):
    """A list to choose one objective from, or with the checks several to be shown beside it."""

    _esm = beside(__file__)
    known = staticmethod(objectives)
    cards = param.List(default=[], doc="Name, all names, models, group and idea of each objective.")
    value = param.String(default="", doc="The objective that is chosen.")
    compared = param.List(default=[], doc="Objectives that are compared with it.")

    def names_of(self, near: Nearest) -> list[str]:
        """A model stands for the objective that it is trained with."""
        return [find_entry(near.name).objective.name] if near.kind == "entry" else super().names_of(near)


def picker(**parameters: Any) -> Picker:
    """The list with a card for every objective of the catalogue."""
    return Picker(**{"cards": cards(), "sizing_mode": "stretch_width", **parameters})


@cache
def cards() -> list[dict[str, Any]]:
    """A card for each objective, the survey's rows first, then group by group."""
    models = models_of()
    found = [
        {
            "name": o.name, "group": SURVEY if o.row else o.group, "names": [o.name, o.row, *o.aliases],
            "models": list(models[o.name]), "idea": o.idea,
        }
        for o in objectives().values()
    ]  # fmt: skip
    return sorted(found, key=lambda card: (SURVEY, *GROUPS).index(card["group"]))
