"""What the app uses of Panel, Bokeh and panel-material-ui although they do not promise it, and nothing else does.

Written for the versions below, to which `pyproject.toml` is pinned; `tests/widgets/test_panel_compat.py` fails as soon
as one of these names is gone or means something else.
"""

import traceback
from collections.abc import Callable
from contextlib import ExitStack
from functools import wraps
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import panel as pn
from bokeh.document import Document
from bokeh.server.views.ws import WSHandler
from bokeh.util.token import get_session_id
from panel.custom import AnyWidgetComponent
from panel.io.callbacks import PeriodicCallback
from panel.io.resources import get_dist_path
from panel.models.markup import HTML

if TYPE_CHECKING:
    from panel_material_ui import Page

WRITTEN_FOR = {"panel": "1.9", "bokeh": "3.9", "panel_material_ui": "0.16"}

GOING_AWAY = 1001
"""Why a browser closes a connection whose page is left (RFC 6455, sec. 7.4.1)."""

LOGS, LOG_OF_EVENTS = ("bokeh.server.protocol_handler", "tornado.application"), "panel.reactive"
"""Where the server tells what failed while it heard a page, and where a widget tells it."""

LiveText = HTML
"""Markup that changes several times a second; Bokeh's `Div` would measure every figure of the page at each change."""

DEFERRED = """{{ (bokeh_js or "") | replace('<script type="text/javascript" src', '<script defer src')
   | replace('<script type="text/javascript">', '<script type="module">') }}"""
"""The scripts of Panel's template, which otherwise keep a page empty until they are loaded."""


class Component(AnyWidgetComponent):
    """A component whose module is JavaScript as browsers read it.

    Panel sends every module through a compiler for TypeScript and JSX, in the browser, once for each component on the
    page; nothing of ours is written in either. What Panel calls a bundle is taken as it is.
    """

    def _get_properties(self, doc: Any) -> dict[str, Any]:
        properties = super()._get_properties(doc)
        return properties | {"bundle": sha256(properties["esm"].encode()).hexdigest()}


def page_is_here() -> None:
    """From now on the browser is told what changes.

    Panel waits for the last part to be drawn and throws away what a click changes before, as if the page were still to
    be sent; on a busy machine this takes seconds, in which people click. It takes both words to be heard: a page that
    is connected and not loaded would be told without its lock, which is an error that swallows the click itself.
    """
    if pn.state.curdoc is not None:
        pn.state._connected[pn.state.curdoc] = pn.state._loaded[pn.state.curdoc] = True


def without_the_common_busy_sign(make: "Callable[[], Page]") -> "Page":
    """A page that does not follow what is done for every visit; the library would write to all pages, for ever."""
    known = list(pn.state.param.watchers.get("busy", {}).get("value", []))
    page = make()
    for link in [each for each in pn.state.param.watchers.get("busy", {}).get("value", []) if each not in known]:
        pn.state.param.unwatch(link)
    return page


def with_our_scripts(visit: Document) -> None:
    """A page of this visit loads its scripts from us.

    A slow browser comes back to a visit that was begun anew without an answer, which would have noted this.
    """
    visit.template_variables.setdefault("dist_url", get_dist_path(cdn=False))


def held(visit: Document) -> Callable[[], None]:
    """Keep a visit to which no page is connected yet; what comes back lets it go, once however often it is called."""
    session, hold = visit.session_context.session, ExitStack()
    session.block_expiration()
    hold.callback(session.unblock_expiration)
    return hold.close


def is_held(visit: Document) -> bool:
    """Whether a visit waits for its page."""
    return visit.session_context.session.expiration_blocked


def end(visit: Document) -> None:
    """End a visit to which no page is connected."""
    context = visit.session_context
    if context is not None and context.session is not None and not context.session.connection_count:
        context.session.request_expiration()


def on_page_left(left: Callable[[Document], None]) -> None:
    """Call `left` with the document of a page whose browser closes its connection because the page is left for good.

    Bokeh's own event `ConnectionLost` is not enough: Bokeh detaches a connection as soon as it cannot write to it, and
    its `on_close` then fails before the event.
    """
    closed = getattr(WSHandler.on_close, "__wrapped__", WSHandler.on_close)

    @wraps(closed)
    def on_close(self: WSHandler) -> None:
        if self.close_code == GOING_AWAY and self._token:
            name = get_session_id(self._token)
            for session in [session for session in self.application_context.sessions if session.id == name]:
                left(session.document)
        if self.connection is not None and self.connection._session is None:
            self.application.client_lost(self.connection)
        else:
            closed(self)

    WSHandler.on_close = on_close


def of_a_page_that_went_away(error: BaseException | None) -> bool:
    """Whether an error is only the end of a page whose last messages came after its connection was let go.

    Bokeh detaches a connection as soon as it cannot write to it; what the page had sent until then, and the closing
    itself, find no session any more (`bokeh/server/connection.py`, the property `session`).
    """
    if not isinstance(error, AssertionError):
        return False
    last = traceback.extract_tb(error.__traceback__)[-1]
    return last.name == "session" and Path(last.filename).parts[-3:] == ("bokeh", "server", "connection.py")


def every(milliseconds: int, work: Callable[[], Any]) -> PeriodicCallback:
    """Call a coroutine again and again from when the page stands in the browser, as long as the visit lasts.

    What is changed while the page is on its way there never arrives. In the background, else Panel would redraw the
    busy sign of the page twenty times a second.
    """
    callback = PeriodicCallback(callback=work, period=milliseconds, background=True, log=False)
    pn.state.onload(callback.start)
    return callback


def upload_event(event: Any) -> tuple[str, str]:
    """What the page says of an upload: "upload_event" for a piece of a file or "finished", and the file's name."""
    return event.data["status"], event.data.get("name", "")
