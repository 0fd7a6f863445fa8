"""What the widget library leaves unnamed gets its name, for people who hear the page; and no early click is lost."""

from typing import Any

import param

from widgets.bundle import beside
from widgets.panel_compat import Component, page_is_here


class Care(Component):
    """An unseen helper on the page: it adds roles and names, and says when the page is `here`."""

    _esm = beside(__file__)
    here = param.Boolean(default=False, doc="Whether the browser has the page and can be told what changes.")

    def __init__(self, **parameters: Any) -> None:
        super().__init__(**parameters)
        self.param.watch(lambda _: page_is_here(), "here")
