"""The Back and Forward of the browser turn the page, and not only its address."""

from widgets.bundle import beside
from widgets.panel_compat import Component


class Turned(Component):
    """An unseen helper on the page; it tells the app which address Back or Forward have brought."""

    _esm = beside(__file__)
