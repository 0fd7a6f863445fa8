"""One line of the list of runs, as one light component: thirty of the widget library's take a browser many seconds."""

import param

from widgets.bundle import beside
from widgets.panel_compat import Component


class RunLine(Component):
    """A check box with the name of a run, and the button that opens it."""

    _esm = beside(__file__)
    label = param.String("", doc="What the list calls the run.")
    value = param.Boolean(False, doc="Whether the run is ticked.")
    disabled = param.Boolean(False, doc="Whether the run cannot be opened now.")
    opened = param.Integer(0, doc="How often the button was pressed.")
