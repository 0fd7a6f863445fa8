"""Markup with parts that can be pressed, in `pressable.js`."""

import param

from widgets.bundle import beside
from widgets.panel_compat import Component


class Pressable(Component):
    """Markup of our own in which parts can be pressed: those with `data-act` and `data-name`, such as a table's names.

    Of the parts with `data-row` only those in `shown` are seen, and the `chosen` one is marked.
    """

    _esm = beside(__file__)
    markup = param.String("", doc="Our own markup; every text in it has gone through `escape`.")
    shown = param.List([], doc="The names of the rows that pass the filters.")
    chosen = param.String("", doc="The name of the row that is marked.")
    arrives = param.Boolean(False, doc="Whether new markup is scrolled into sight.")
    pressed = param.List([], doc="What was pressed last: its act, its name, and a number that makes it another press.")
