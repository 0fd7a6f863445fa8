"""The list of objectives: the survey's rows first, the others in groups, searched by word and walked by key."""

from functools import cache
from typing import Any

import param

from playground.errors import UserError
from playground.objectives import GROUPS, Objective, objectives
from playground.trace.rebuild import rebuild
from widgets.bundle import beside
from widgets.lists import Searched

SURVEY = "The survey's table"
TEXT = "Rosa baked a round loaf of bread this morning . Then her brother sold it in the market ."
PAIR = "Rosa a cuit un pain rond ce matin ."


class Picker(Searched):
    """A list to choose one objective from, or with the checks several to be shown beside it."""

    _esm = beside(__file__)
    known = staticmethod(objectives)
    cards = param.List(default=[], doc="Name, group, row, idea, aliases and signal of each objective.")
    value = param.String(default="", doc="The objective that is chosen.")
    beside = param.List(default=[], doc="Objectives that are shown beside it.")


def picker(**parameters: Any) -> Picker:
    """The list with a card for every objective of the catalogue."""
    return Picker(**{"cards": cards(), "sizing_mode": "stretch_width", **parameters})


@cache
def cards() -> list[dict[str, Any]]:
    """A card for each objective, the survey's rows first, then group by group."""
    found = [
        {
            "name": o.name, "group": SURVEY if o.row else o.group, "row": o.row, "idea": o.idea,
            "also": ", ".join(o.aliases), "signal": _signal(o),
        }
        for o in objectives().values()
    ]  # fmt: skip
    return sorted(found, key=lambda card: (SURVEY, *GROUPS).index(card["group"]))


def _signal(objective: Objective) -> str:
    """The share of tokens that get a loss, in our text or the objective's own example; empty where neither can be."""
    own = objective.printed
    text, pair, plan = TEXT, PAIR if "translation" in objective.needs else "", {}
    if own.text and not objective.row:
        text, pair, plan = own.text, own.pair, own.plan
    try:
        signal = rebuild(objective, text, pair=pair, wanted=plan).signal
    except UserError:
        return ""
    share = signal["graded"] / max(1, signal["tokens"])
    return "1 label" if signal["graded"] == 1 else f"{min(1.0, share):.0%}"
