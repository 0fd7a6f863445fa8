"""Lists to choose from, as light components."""

from collections.abc import Callable, Mapping

import param

from playground.catalog import Named, in_post_training, nearest, nearest_by_meaning, three_nearest
from playground.nearest import Nearest
from widgets.bundle import beside
from widgets.panel_compat import Component


class Searched(Component):
    """A list with a search: what is not here is looked up by meaning, else the three nearest by spelling are shown."""

    known: Callable[[], Mapping[str, Named]]
    """What the list is of, by name."""

    sought = param.String(default="", doc="What is searched for.")
    nearest = param.List(
        default=["", "", []], doc="The same; where it is a name that is not here, why what is nearest; its names."
    )

    @param.depends("sought", watch=True)
    def _look_up(self) -> None:
        meant = nearest_by_meaning(self.sought)
        names = self.names_of(meant[1]) if meant else three_nearest(self.sought, self.known().values())
        self.nearest = [self.sought, nearest(self.sought) or in_post_training(self.sought), names]

    def names_of(self, near: Nearest) -> list[str]:
        """What of the list is meant by what is nearest."""
        return [near.name] if near.name in self.known() else []


class RunLine(Component):
    """A run in a list, to be ticked or opened; thirty of the library's components take a browser many seconds."""

    _esm = beside(__file__, "run_line.js")
    label = param.String("", doc="What the list calls the run.")
    value = param.Boolean(False, doc="Whether the run is ticked.")
    disabled = param.Boolean(False, doc="Whether the run cannot be opened now.")
    opened = param.Integer(0, doc="How often the button was pressed.")


class Pressable(Component):
    """Markup of our own in which parts can be pressed: those with `data-act` and `data-name`, such as a table's names.

    Of the parts with `data-row` only those in `shown` are seen, and the `chosen` one is marked.
    """

    _esm = beside(__file__, "pressable.js")
    markup = param.String("", doc="Our own markup; every text in it has gone through `escape`.")
    shown = param.List([], doc="The names of the rows that pass the filters.")
    chosen = param.String("", doc="The name of the row that is marked.")
    arrives = param.Boolean(False, doc="Whether new markup is scrolled into sight.")
    pressed = param.List([], doc="What was pressed last: its act, its name, and a number that makes it another press.")
