"""What the browser does beside Panel, a component with a module of JavaScript for each; most of them are unseen."""

from typing import Any
from urllib.parse import unquote

import panel as pn
import param

from widgets.bundle import beside
from widgets.panel_compat import Component
from widgets.state.app import Store

UNSEEN = {"height": 0, "margin": 0}


class Accessibility(Component):
    """Adds the roles and names that the widget library lacks."""

    _esm = beside(__file__, "accessibility.js")


class Busy(Component):
    """A moving line while the app is `busy`; the library's own goes through every model of the page at each click."""

    _esm = beside(__file__, "busy.js")
    busy = param.Boolean(default=False, doc="Whether the app is at work.")


def busy() -> Busy:
    """The sign of the visit that begins; it follows what is done for this visit and no other."""
    sign, visit = Busy(**UNSEEN), pn.state.curdoc

    def shine(event: Any) -> None:
        if pn.state.curdoc is visit and pn.state.loaded:
            sign.busy = event.new

    if visit is not None:
        watcher = pn.state.param.watch(shine, "busy")
        pn.state.on_session_destroyed(lambda _: pn.state.param.unwatch(watcher))
    return sign


class ColorScheme(Component):
    """Follows the system's choice of light or dark, and keeps in a cookie what is shown."""

    _esm = beside(__file__, "color_scheme.js")


def scheme() -> str:
    """What was shown last ("light" or "dark"), also by the system's choice; empty on a first visit."""
    shown = unquote(pn.state.cookies.get("night", "")).removeprefix("system ")
    return shown if shown in ("light", "dark") else ""


class CommitBeforeClick(Component):
    """Captures the pointer of a press, and sends a number as its field is left, before the click that follows."""

    _esm = beside(__file__, "commit_before_click.js")


class BrowserHistory(Component):
    """Tells the app which address Back or Forward of the browser have brought."""

    _esm = beside(__file__, "history.js")


class ReactRoots(Component):
    """Keeps Panel from an error where a part of a page is drawn twice at once."""

    _esm = beside(__file__, "react_roots.js")


class Reconnect(Component):
    """Says when the connection is lost, and comes back to the same visit; the tab remembers the run for a new one."""

    _esm = beside(__file__, "reconnect.js")
    run = param.String("", doc="The name of the run on screen.")
    earlier = param.String("", doc="The name of the run that was in this tab before.")
    visit = param.String("", doc="The visit, which the page names when it is left for good or comes back.")
    minutes = param.Integer(0, doc="How long a visit is kept without its page.")
    base = param.String(".", doc="Where the app is from here, as the start of an address.")
    ended = param.Boolean(False, doc="Whether the visit was idle for too long and has ended.")


def leaving(**values: Any) -> Reconnect:
    """The helper for a visit that has no run of its own to come back to."""
    context = pn.state.curdoc.session_context if pn.state.curdoc else None
    return Reconnect(visit=context.id if context else "", base=pn.state.rel_path or ".", **values, **UNSEEN)


def reconnect(store: Store, minutes: int) -> Reconnect:
    """The helper for a visit that is kept for so many minutes without its page."""
    made = leaving(run=store.train.name_of_run, minutes=minutes)
    store.train.param.watch(lambda event: setattr(made, "run", event.new), "name_of_run")
    made.param.watch(lambda event: setattr(store.train, "earlier", event.new), "earlier")
    return made


class Shortcuts(Component):
    """Presses the buttons of the Train page by key without a focus, and says when a fork is asked for."""

    _esm = beside(__file__, "shortcuts.js")
    page = param.Integer(default=0, doc="The page that is open.")
    asked = param.Integer(default=0, doc="How often a fork was asked for.")
    said = param.Dict(default={}, doc="What the last fork has done, with its number, so that the same is said again.")


def shortcuts(store: Store) -> Shortcuts:
    """The helper for a visit."""
    made = Shortcuts(page=store.page, **UNSEEN)
    store.param.watch(lambda event: setattr(made, "page", event.new), "page")

    def report(text: str) -> None:
        if text:
            made.said = {"text": text, "number": made.said.get("number", 0) + 1}

    store.param.watch(lambda event: report(event.new), "message")
    made.param.watch(lambda _: report(store.fork()), "asked")
    return made


class OnScreen(Component):
    """A mark inside a column; it says whether any of that column is within the window."""

    _esm = beside(__file__, "visibility.js")
    seen = param.Boolean(default=True, doc="Whether the column is on screen; until the browser says so, it is.")

    def __init__(self) -> None:
        super().__init__(**UNSEEN)
