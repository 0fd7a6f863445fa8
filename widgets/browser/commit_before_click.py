"""A press is heard by the control on which it began, whatever moves meanwhile, and after what was typed before it."""

from widgets.bundle import beside
from widgets.panel_compat import Component


class Press(Component):
    """An unseen helper on the page: it captures the pointer of a press, and sends a number as its field is left."""

    _esm = beside(__file__)
