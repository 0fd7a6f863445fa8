"""What the widget library leaves unnamed gets its name, for people who hear the page; and no early click is lost."""

from typing import Any

import panel as pn
import param

from widgets.bundle import beside
from widgets.component import Component


class Care(Component):
    """An unseen helper on the page: it adds roles and names, and says when the page is `here`."""

    _esm = beside(__file__)
    here = param.Boolean(default=False, doc="Whether the browser has the page and can be told what changes.")

    def __init__(self, **parameters: Any) -> None:
        super().__init__(**parameters)
        self.param.watch(_listen, "here")


def _listen(_: Any) -> None:
    """From now on the browser is told what changes.

    Panel waits for the last part to be drawn and throws away what a click changes before, as if the page were still to
    be sent; on a busy machine this takes seconds, in which people click. It takes both words to be heard: a page that
    is connected and not loaded would be told without its lock, which is an error that swallows the click itself.
    """
    if pn.state.curdoc is not None:
        pn.state._connected[pn.state.curdoc] = pn.state._loaded[pn.state.curdoc] = True
