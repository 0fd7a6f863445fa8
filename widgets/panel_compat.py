"""All that the app uses of Panel, Bokeh and panel-material-ui beyond their public interface.

Written for the versions below, to which `pyproject.toml` is pinned; `tests/widgets/test_panel_compat.py` fails as soon
as one of these names is gone or means something else.
"""

import asyncio
import atexit
import time
import traceback
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from functools import cache, wraps
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import panel as pn
from bokeh.core.has_props import HasProps
from bokeh.document import Document
from bokeh.document.events import DocumentPatchedEvent
from bokeh.embed.bundle import extension_dirs
from bokeh.server import auth_provider
from bokeh.server.connection import ServerConnection
from bokeh.server.session import ServerSession
from bokeh.server.tornado import BokehTornado
from bokeh.server.views.ws import WSHandler
from bokeh.util.token import get_session_id
from panel.custom import AnyWidgetComponent
from panel.io import location
from panel.io.callbacks import PeriodicCallback
from panel.io.document import _WRITE_BLOCK, _WRITE_MSGS, schedule_write_events, write_events
from panel.io.resources import Resources, get_dist_path
from panel.io.server import DocHandler
from panel.models.markup import HTML
from panel.reactive import Syncable
from tornado.httputil import HTTPServerRequest
from tornado.web import RequestHandler
from tornado.websocket import WebSocketClosedError

if TYPE_CHECKING:
    from panel_material_ui import Page

WRITTEN_FOR = {"panel": "1.9", "bokeh": "3.9", "panel_material_ui": "0.16"}

GOING_AWAY = 1001
"""Why a browser closes a connection whose page is left (RFC 6455, sec. 7.4.1)."""

LOGS, LOG_OF_EVENTS = ("bokeh.server.protocol_handler", "tornado.application", "asyncio"), "panel.reactive"
"""Loggers of the server, for errors in handling or sending a message of a page, and of a widget."""

AuthProvider = auth_provider.AuthProvider
"""What Bokeh's server asks who may open a page."""

LiveText = HTML
"""Markup that changes several times a second; Bokeh's `Div` would measure every figure of the page at each change."""

DEFERRED = """{{ (bokeh_js or "") | replace('<script type="text/javascript" src', '<script defer src')
   | replace('<script type="text/javascript">', '<script type="module">') }}"""
"""The scripts of Panel's template, which otherwise keep a page empty until they are loaded."""


class Component(AnyWidgetComponent):
    """A component whose module is JavaScript as browsers read it, so that Panel does not compile it on every page.

    Panel takes a module for TypeScript or JSX unless it is a "bundle".
    """

    def _get_properties(self, doc: Any) -> dict[str, Any]:
        properties = super()._get_properties(doc)
        esm, session = properties["esm"], doc and doc.session_context
        if len(esm) > LARGE and session and session.server_context:
            return properties | {"esm": f"{pn.state.rel_path or '.'}/{address_of(esm)}", "bundle": "url"}
        return properties | {"bundle": sha256(esm.encode()).hexdigest()}


class WrappingRow(pn.Row):
    """A row that may wrap: Panel would not let it be narrower than all its parts beside each other.

    Unlike `FlexBox`, whose parts Bokeh does not measure: a figure in it stays empty if nothing else is drawn later.
    """

    def _compute_sizing_mode(self, children: Any, props: dict[str, Any]) -> dict[str, Any]:
        return {
            name: value for name, value in super()._compute_sizing_mode(children, props).items() if name != "min_width"
        }


LARGE = 50_000
"""Letters of a module from which on a served page loads it by its address, once for all components that have it."""


@cache
def address_of(module: str) -> str:
    """Where Bokeh's server finds a module, which is kept as a file; a browser that has it does not ask again."""
    name = f"{sha256(module.encode()).hexdigest()[:16]}.js"
    (_folder() / name).write_text(module, encoding="utf-8")
    return f"static/extensions/playground/{name}?v=1"


@cache
def _folder() -> Path:
    """A folder of this process, which Bokeh's server takes for that of an extension."""
    folder = TemporaryDirectory(prefix="playground-")
    atexit.register(folder.cleanup)
    return extension_dirs.setdefault("playground", Path(folder.name))


def without_the_common_busy_sign(make: "Callable[[], Page]") -> "Page":
    """A page without the library's busy sign, which is written to every page whichever one is busy, and for ever."""
    known, page = _busy_watchers(), make()
    for watcher in _busy_watchers():
        if watcher not in known:
            pn.state.param.unwatch(watcher)
    return page


def _busy_watchers() -> list[Any]:
    return list(pn.state.param.watchers.get("busy", {}).get("value", []))


def with_our_scripts(visit: Document) -> None:
    """Let a page of this visit load its scripts from us, also where the first answer, which sets this, was not sent."""
    visit.template_variables.setdefault("dist_url", get_dist_path(cdn=False))


def held(visit: Document) -> Callable[[], None]:
    """Keep a visit to which no page is connected yet; the result ends that, once however often it is called."""
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


_last_messages: WeakKeyDictionary[Document, float] = WeakKeyDictionary()


def note_messages() -> None:
    """Note from now on when a page has sent anything, and send it whatever changes once it has taken its document.

    Until the last part is drawn, which takes seconds on a busy machine, Panel discards what changes: what a click does,
    and a page that is made meanwhile. Both marks are needed: a page that is connected and not loaded is sent changes
    without its lock, an error that loses the click.
    """
    patch, pull = ServerSession._handle_patch, ServerSession._handle_pull

    @wraps(patch)
    def noted(self: ServerSession, *given: Any) -> Any:
        _last_messages[self.document] = time.monotonic()
        return patch(self, *given)

    @wraps(pull)
    def taken(self: ServerSession, *given: Any) -> Any:
        pn.state._connected[self.document] = pn.state._loaded[self.document] = True
        return pull(self, *given)

    ServerSession._handle_patch, ServerSession._handle_pull = noted, taken


def lock_clicks() -> None:
    """Let what a click does hold the lock of its page from now on, as what a choice does.

    Where a choice made less than 50 ms before is still to be taken, Panel takes both at the click, without the lock;
    whatever changes a model of Bokeh itself then fails, and both are lost.
    """
    Syncable._event_coroutine.lock = True


def send_in_order() -> None:
    """Let what changes on a page be sent in the order in which it was changed, from now on.

    Panel writes a change at once, or puts it off while the connection is busy; Bokeh writes its own when the lock of
    the page is let go. One that is about a new model may so come before the model itself ("reference isn't known").
    """

    def send(self: ServerConnection, event: DocumentPatchedEvent) -> Awaitable[None]:
        visit = event.document
        busy = visit in _WRITE_MSGS or visit in _WRITE_BLOCK or not self._socket.write_lock._block._value
        (schedule_write_events if busy else write_events)(visit, [self], [event])
        return asyncio.sleep(0)

    ServerConnection.send_patch_document = send


def answer_head() -> None:
    """Let HEAD, with which a health check asks for a page, say that it is there; no visit begins."""

    def head(self: DocHandler, **_: str) -> None:
        self.set_header("Content-Type", "text/html")

    DocHandler.head = head


def serve_hosts_only(refused: type[RequestHandler]) -> None:
    """Let `refused` answer whatever is asked of a host that is not in the server's setting `hosts`, from now on.

    Bokeh admits a connection whose origin is the host that it asks for, whatever name that is, so a page whose name is
    made to point here (DNS rebinding) could read and do what the visitor can. Without the setting all hosts are served.
    """
    found = getattr(BokehTornado.find_handler, "__wrapped__", BokehTornado.find_handler)

    @wraps(found)
    def find_handler(self: BokehTornado, request: HTTPServerRequest, **given: Any) -> Any:
        hosts = self.settings.get("hosts")
        if hosts is not None and request.host_name not in hosts:
            return self.get_handler_delegate(request, refused)
        return found(self, request, **given)

    BokehTornado.find_handler = find_handler


def open_at_ipv6() -> None:
    """Let a page be made for the host `[::1]` too, whose colons Panel takes for that before the port."""
    params = location._get_location_params

    def of_localhost(protocol: str | None, host: str | None, uri: str | None) -> dict[str, str]:
        return params(protocol, host and host.replace("[::1]", "localhost"), uri)

    location._get_location_params = of_localhost


def defaults_once() -> None:
    """Let Bokeh find the defaults of a class of models once, not at each of the thousand values of a page.

    A fifth of the time in which a page is made went there: what a class overrides was gathered again along its bases,
    and whether a theme is set was asked for in a way that fails first.
    """
    HasProps._overridden_defaults = classmethod(cache(getattr(HasProps._overridden_defaults, "__func__")))  # noqa: B009
    HasProps.themed_values = lambda self: self.__dict__.get("__themed_values__")


def resources_once() -> None:
    """Let Panel look once for the scripts and styles of its components, not for each document that is served.

    It walks all its classes and asks the disk for each: a quarter of the time until the first byte of a page.
    """
    look, known = Resources.extra_resources, dict[tuple[str, str, str], list[str]]()

    @wraps(look)
    def extra_resources(self: Resources, resources: list[str], kind: str) -> None:
        key = self.mode, pn.state.rel_path or "", kind
        if key not in known:
            found: list[str] = []
            look(self, found, kind)
            known[key] = found
        resources.extend(resource for resource in known[key] if resource not in resources)

    Resources.extra_resources = extra_resources


def last_message(visit: Document) -> float:
    """When the page of a visit has sent something last, on the clock `time.monotonic`; 0 where it has not."""
    return _last_messages.get(visit, 0.0)


def of_a_page_that_went_away(error: BaseException | None) -> bool:
    """Whether an error only means that a page was left while its last messages were being read or sent.

    Their handlers find no session any more (`bokeh/server/connection.py`, the property `session`), or the socket closed
    while Tornado wrote to it (`write_message`, whose task nobody awaits).
    """
    if not isinstance(error, AssertionError):
        return isinstance(error, WebSocketClosedError)
    last = traceback.extract_tb(error.__traceback__)[-1]
    return last.name == "session" and Path(last.filename).parts[-3:] == ("bokeh", "server", "connection.py")


def every(milliseconds: int, work: Callable[[], Any]) -> PeriodicCallback:
    """Call a coroutine periodically from when the page is loaded, before which no change arrives, to the visit's end.

    In the background, else Panel would redraw the busy sign of the page twenty times a second.
    """
    callback = PeriodicCallback(callback=work, period=milliseconds, background=True, log=False)
    pn.state.onload(callback.start)
    return callback


def upload_event(event: Any) -> tuple[str, str]:
    """The state of an upload, "upload_event" for a piece of a file or "finished", and the file's name."""
    return event.data["status"], event.data.get("name", "")
