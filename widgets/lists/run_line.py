"""A run in a list; drawn in `run_line.js`."""

import param

from widgets.bundle import beside
from widgets.panel_compat import Component


class RunLine(Component):
    """A run in a list, to be ticked or opened; thirty of the library's components take a browser many seconds."""

    _esm = beside(__file__)
    label = param.String("", doc="What the list calls the run.")
    value = param.Boolean(False, doc="Whether the run is ticked.")
    disabled = param.Boolean(False, doc="Whether the run cannot be opened now.")
    opened = param.Integer(0, doc="How often the button was pressed.")
