"""A visit: the answer first, then the page; polled while it lasts, and kept for its browser until that says goodbye."""

import time
from collections import deque
from collections.abc import Callable
from weakref import WeakKeyDictionary

import panel as pn
from bokeh.document import Document
from tornado.ioloop import IOLoop
from tornado.web import RequestHandler

from widgets.app.memory import spare
from widgets.panel_compat import (
    PeriodicCallback,
    answer_head,
    defaults_once,
    end,
    every,
    held,
    lock_clicks,
    note_messages,
    on_page_left,
    open_at_ipv6,
    resources_once,
    send_in_order,
    serve_hosts_only,
    with_our_scripts,
)
from widgets.state.app import Tab

PERIOD = 300  # milliseconds between two polls: three a second look alive, and one that finds nothing costs half of 1 ms
PATIENCE = 60_000  # milliseconds that a browser has to open its connection; a visit that ends is given up much sooner

LONGEST_PAGE = 20.0  # seconds after which the next page is made, whatever became of the one before

ADDRESSES = [tab.name.lower().replace("_", "-") for tab in Tab]
"""How an address calls each page, as in `/train` or `?page=train`."""

FAREWELL = 5_000  # milliseconds from a goodbye to the end of the visit: whoever loads the page again finds the run


def poll(*acts: Callable[[], None]) -> PeriodicCallback:
    """Call every function several times a second as long as the visit lasts."""

    async def call() -> None:  # a plain function would run in a thread pool where Bokeh refuses to stream
        for act in acts:
            act()

    return every(PERIOD, call)


def after_the_answer(make: Callable[[], None]) -> None:
    """Make the page while the browser is busy with the scripts, not while it waits for its first byte."""
    visit = pn.state.curdoc
    if visit is None:
        make()
        return
    with_our_scripts(visit)
    loop = IOLoop.current()
    _builders.setdefault(loop, Builder(loop)).add(visit, lambda: (wait_for_the_browser(), make()))


class Builder:
    """Makes the pages of a server one after another: between two of them the clicks of others are answered.

    A page takes a second or two; twenty who open it at once would keep everybody else waiting for all of that.
    """

    def __init__(self, loop: IOLoop) -> None:
        self._loop, self._waiting, self._since = loop, deque[tuple[Document, Callable[[], object]]](), 0.0

    def add(self, visit: Document, make: Callable[[], object]) -> None:
        """Make a page as soon as those before it are made."""
        self._waiting.append((visit, make))
        if time.monotonic() > self._since + LONGEST_PAGE:
            self._next()

    def _next(self) -> None:
        self._since = time.monotonic() if self._waiting else 0.0
        if self._waiting:
            visit, make = self._waiting.popleft()
            visit.add_next_tick_callback(lambda: self._make(make))

    def _make(self, make: Callable[[], object]) -> None:
        try:
            make()
        finally:
            self._loop.add_callback(self._next)


_builders: WeakKeyDictionary[IOLoop, Builder] = WeakKeyDictionary()


def wait_for_the_browser() -> None:
    """Keep the visit until the browser has opened its connection; it is loading and running scripts meanwhile."""
    visit = pn.state.curdoc
    let_go = held(visit)  # whichever of the two closes first
    pn.state.onload(let_go)
    visit.add_timeout_callback(let_go, PATIENCE)


class Goodbye(RequestHandler):
    """Hears from a page that it is left for good; on its connection that might be lost with what is being sent."""

    def post(self) -> None:
        """The visit that is left is named by its number, which only its own page knows."""
        name = self.get_argument("visit", "")
        for context in getattr(self.application, "applications", {}).values():
            for visit in context.sessions:
                if visit.id == name:
                    goodbye(visit.document)


class Page(RequestHandler):
    """The address of a page as people type it, `/train`, brings to where the app keeps it, `/?page=train`."""

    def get(self, name: str) -> None:
        """The rest of the address stays; a place below a prefix or a proxy stays below it."""
        self.redirect(f"./?page={name}&{self.request.query}".rstrip("&"))

    head = get


class ForeignHost(RequestHandler):
    """Answers a request for a host under which this app is not served, also one for a connection."""

    def prepare(self) -> None:
        self.set_status(403)
        self.set_header("Content-Type", "text/plain; charset=utf-8")
        self.finish(
            f"The host {self.request.host_name!r} is not served here. Open this app at one of the addresses that it "
            "printed when it was started, or start it with --public and --origin for this host.\n"
        )


ROUTES = [("/goodbye", Goodbye), (f"/({'|'.join(ADDRESSES)})", Page)]
"""What the app answers beside its page."""


def goodbye(visit: Document) -> None:
    """The page was left for good, unlike one whose connection was lost: soon the visit ends, and with it its run."""
    visit.add_timeout_callback(lambda: end(visit), FAREWELL)


on_page_left(goodbye)
answer_head()
defaults_once()
resources_once()
spare()
note_messages()
open_at_ipv6()
lock_clicks()
send_in_order()
serve_hosts_only(ForeignHost)
