"""What nobody can see is not drawn: whether a part of the page is on screen."""

import param

from widgets.bundle import beside
from widgets.panel_compat import Component


class OnScreen(Component):
    """An unseen mark inside a column; it tells whether any of that column is within the window."""

    _esm = beside(__file__)
    seen = param.Boolean(default=True, doc="Whether the column is on screen; until the browser says so, it is.")

    def __init__(self) -> None:
        super().__init__(height=0, margin=0)
