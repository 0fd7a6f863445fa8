"""The sign that the app is at work for one visit."""

from typing import Any

import panel as pn
import param

from widgets.bundle import beside
from widgets.panel_compat import Component


class Busy(Component):
    """A moving line while the app is `busy`.

    The page of the widget library has one of its own, but whatever is set on the page goes through every model of it,
    which before and after every click kept a person waiting for a second on a busy machine.
    """

    _esm = beside(__file__)
    busy = param.Boolean(default=False, doc="Whether the app is at work.")


def busy() -> Busy:
    """The sign of the visit that begins; it follows what is done for this visit and no other."""
    sign, visit = Busy(height=0, margin=0), pn.state.curdoc

    def shine(event: Any) -> None:
        if pn.state.curdoc is visit and pn.state.loaded:
            sign.busy = event.new

    if visit is not None:
        watcher = pn.state.param.watch(shine, "busy")
        pn.state.on_session_destroyed(lambda _: pn.state.param.unwatch(watcher))
    return sign
