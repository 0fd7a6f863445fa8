"""Strategies to choose several from, in families, with what each is for; drawn in `strategy_picker.js`."""

from collections.abc import Mapping
from typing import Any

import param

from playground.finetuning import Strategy, strategies
from playground.finetuning.strategy.strategy import FAMILIES
from widgets.bundle import beside
from widgets.charts.legend import shape, style
from widgets.lists.searched import Searched

BY_HAND = "made by hand"
SVG_DASHES = {"solid": "none", "dashed": "6 3", "dotted": "2 2"}


class Chooser(Searched):
    """Chips of the strategies that are chosen, and a list with a search to choose from."""

    _esm = beside(__file__)
    known = staticmethod(strategies)
    cards = param.List(default=[], doc="Name, family, purpose, source and published rate of each strategy.")
    value = param.List(default=[], doc="The names of those that are chosen.")
    marks = param.List(default=[], doc="Colour, dash and shape of the n-th chosen one, the same in every chart.")
    most = param.Integer(default=0, doc="How many can be chosen at once.")


def chooser(most: int, **parameters: Any) -> Chooser:
    """The list with a card for every strategy of the catalogue, of which `most` can be chosen, each with its mark."""
    looks = [(*style(k), shape(k)) for k in range(most)]
    marks = [{"colour": colour, "dash": SVG_DASHES[dash], "shape": form} for colour, dash, form in looks]
    return Chooser(**{"cards": cards({}), "marks": marks, "most": most, "sizing_mode": "stretch_width", **parameters})


def cards(own: Mapping[str, Strategy]) -> list[dict[str, Any]]:
    """A card for each strategy: those of this visit, then the catalogue's family by family."""
    made = [_card(strategy, BY_HAND, "put together or painted on this visit") for strategy in own.values()]
    known = [
        _card(strategy, family, shared)
        for family, shared in FAMILIES.items()
        for strategy in strategies().values()
        if strategy.family == family
    ]
    return made + known


def _card(strategy: Strategy, family: str, shared: str) -> dict[str, Any]:
    return {
        "name": strategy.name, "group": family, "shared": shared, "idea": strategy.idea, "source": strategy.source,
        "names": [strategy.name, "", *strategy.aliases], "rate": _rate(strategy),
    }  # fmt: skip


def _rate(strategy: Strategy) -> str:
    """The learning rate of a strategy in words: ours, and the published one with its source."""
    if strategy.prompt:
        return "Nothing is trained, so there is no learning rate."
    if strategy.published is None:
        return f"Learning rate {strategy.rate:g}, ours; no published rate is known."
    return f"Learning rate {strategy.rate:g}, ours; published {strategy.published.rate:g} ({strategy.published.where})."
