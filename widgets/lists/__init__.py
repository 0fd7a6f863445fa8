"""Lists to choose from, as light components."""

from collections.abc import Callable, Mapping

import param

from playground.catalog import Named, nearest, three_nearest
from widgets.bundle import beside
from widgets.panel_compat import Component


class Searched(Component):
    """A list with a search: what it does not find is looked up by meaning, else the three nearest are named."""

    known: Callable[[], Mapping[str, Named]]
    """What the list is of, by name."""

    missed = param.String(default="", doc="What was searched for and stands nowhere in the list.")
    nearest = param.List(default=["", "", ""], doc="The same, what is nearest by meaning in a sentence, and the three.")

    @param.depends("missed", watch=True)
    def _look_up(self) -> None:
        self.nearest = [self.missed, nearest(self.missed), three_nearest(self.missed, self.known().values())]


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
