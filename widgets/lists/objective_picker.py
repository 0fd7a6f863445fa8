"""The list of objectives: the survey's rows first, the others in groups, searched by word and walked by key."""

from functools import cache
from typing import Any

import param

from playground.errors import Refusal
from playground.objectives import GROUPS, Objective, objectives
from playground.trace.rebuild import rebuild
from widgets.bundle import beside
from widgets.panel_compat import Component

SURVEY = "The survey's table"
HEADINGS = (SURVEY, *GROUPS)
TEXT = "Rosa baked a round loaf of bread this morning . Then her brother sold it in the market ."
PAIR = "Rosa a cuit un pain rond ce matin ."


class Picker(Component):
    """A list to choose one objective from, or with the checks several to be shown beside it."""

    _esm = beside(__file__)
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
            "name": o.name,
            "group": group_of(o),
            "row": o.row,
            "idea": o.idea,
            "also": ", ".join(o.aliases),
            "signal": signal_of(o),
        }
        for o in objectives().values()
    ]
    return sorted(found, key=lambda card: HEADINGS.index(card["group"]))


def group_of(objective: Objective) -> str:
    """The heading under which an objective stands: the survey's table, else its own group."""
    return SURVEY if objective.row else objective.group


def signal_of(objective: Objective) -> str:
    """How much of a text of two sentences teaches, as a share of its tokens; empty where a typed text cannot say.

    An objective with an example of its own is measured on that.
    """
    own = objective.printed
    text, pair, plan = TEXT, PAIR if "translation" in objective.needs else "", {}
    if own.text and not objective.row:
        text, pair, plan = own.text, own.pair, own.plan
    try:
        signal = rebuild(objective, text, pair=pair, wanted=plan).signal
    except Refusal:
        return ""
    share = signal["graded"] / max(1, signal["tokens"])
    return "1 label" if signal["graded"] == 1 else f"{min(1.0, share):.0%}"
