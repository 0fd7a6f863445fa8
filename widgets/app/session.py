"""How a visit begins and ends: the answer first, then the page; patience with a browser, until it says goodbye."""

from collections.abc import Callable
from contextlib import ExitStack

import panel as pn
from bokeh.document import Document
from bokeh.events import ConnectionLost
from panel.io.resources import get_dist_path
from panel_material_ui import Page
from tornado.web import RequestHandler

PATIENCE = 60_000
"""Milliseconds that a browser has to open its connection; a visit that ends is given up much sooner."""

GOING_AWAY = 1001
"""Why a browser closes a connection whose page is left (RFC 6455, sec. 7.4.1)."""

FAREWELL = 5_000
"""Milliseconds from a goodbye to the end of the visit: whoever loads the page again finds the run still going on."""


def after_the_answer(make: Callable[[], None]) -> None:
    """Make the page while the browser is busy with the scripts, not while it waits for its first byte."""
    visit = pn.state.curdoc
    if visit is None:
        make()
        return
    # A slow browser comes back to a visit that was begun anew without an answer, which would have noted this.
    visit.template_variables.setdefault("dist_url", get_dist_path(cdn=False))
    visit.add_next_tick_callback(lambda: (wait_for_the_browser(), make()))


def wait_for_the_browser() -> None:
    """Keep the visit until the browser has opened its connection; it is loading and running scripts meanwhile."""
    visit, hold = pn.state.curdoc, ExitStack()
    session = visit.session_context.session
    session.block_expiration()
    hold.callback(session.unblock_expiration)  # once, whichever of the two closes first
    pn.state.onload(hold.close)
    visit.add_timeout_callback(hold.close, PATIENCE)


def without_the_common_sign(make: Callable[[], Page]) -> Page:
    """A page that does not follow what is done for every visit; the library would write to all pages, for ever."""
    known = list(pn.state.param.watchers.get("busy", {}).get("value", []))
    page = make()
    for link in [each for each in pn.state.param.watchers.get("busy", {}).get("value", []) if each not in known]:
        pn.state.param.unwatch(link)
    return page


class Goodbye(RequestHandler):
    """Hears from a page that it is left for good.

    The word has a way of its own: on the connection it may be lost with what the app was still sending to the page.
    """

    def post(self) -> None:
        """The visit that is left is named by its number, which only its own page knows."""
        name = self.get_argument("visit", "")
        for context in getattr(self.application, "applications", {}).values():
            for visit in context.sessions:
                if visit.id == name:
                    goodbye(visit.document)


ROUTES = [("/goodbye", Goodbye)]
"""What the app answers beside its page."""


def hear_goodbyes() -> None:
    """A browser that is closed has no time for a word, but its connection is closed with a reason."""
    visit = pn.state.curdoc
    if visit is None:
        return

    def hear(_: object) -> None:
        connections = getattr(visit.session_context.session, "_subscribed_connections", ())
        if any(getattr(getattr(c, "_socket", None), "close_code", None) == GOING_AWAY for c in connections):
            goodbye(visit)

    visit.on_event(ConnectionLost, hear)


def goodbye(visit: Document) -> None:
    """The page was left for good, unlike one whose connection was lost: soon the visit ends, and with it its run."""
    visit.add_timeout_callback(lambda: give_up(visit), FAREWELL)


def give_up(visit: Document) -> None:
    """End a visit to which no page is connected."""
    context = visit.session_context
    if context is not None and context.session is not None and not context.session.connection_count:
        context.session.request_expiration()
