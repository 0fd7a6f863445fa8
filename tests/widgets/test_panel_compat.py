"""The names that Panel and Bokeh do not promise are there and mean what `widgets/panel_compat.py` takes them for."""

import asyncio
import json
import re
from contextlib import nullcontext
from functools import partial
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace

import panel as pn
import panel_material_ui as pmui
import pytest
from bokeh.core.has_props import HasProps
from bokeh.document import Document
from bokeh.document.events import ModelChangedEvent
from bokeh.models import Button, ColumnDataSource, Div
from bokeh.plotting import figure
from bokeh.protocol import Protocol
from bokeh.server.connection import ServerConnection
from bokeh.server.session import ServerSession
from bokeh.server.views.ws import WSHandler
from bokeh.util.token import generate_jwt_token
from panel.io.document import schedule_write_events, write_events
from panel.io.resources import JS_RESOURCES, Resources, bundle_resources
from panel.io.state import set_curdoc
from panel.models.esm import AnyWidgetComponent
from tornado.locks import Lock

from tests.loops import run_apart
from widgets import panel_compat
from widgets.app.first_paint import TEMPLATE

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("library", panel_compat.WRITTEN_FOR)
def test_it_is_written_for_the_versions_that_are_installed_and_pinned(library):
    minor = panel_compat.WRITTEN_FOR[library]
    assert version(library.replace("_", "-")).startswith(f"{minor}.")
    pinned = re.search(rf'"{library.replace("_", "-")}>=([\d.]+),<([\d.]+)"', (ROOT / "pyproject.toml").read_text())
    assert pinned is not None and pinned[1].startswith(minor)
    assert pinned[2] == f"{minor.split('.')[0]}.{int(minor.split('.')[1]) + 1}"


@pytest.fixture
def visit():
    """A visit whose page has not said anything yet, and its session."""
    import_module("widgets.app.session")  # which notes messages
    visit = Document()
    session = ServerSession("name", visit, io_loop=SimpleNamespace(asyncio_loop=None))
    pn.state._loaded[visit] = False
    return visit, session


def test_a_page_that_has_taken_its_document_is_sent_what_changes_by_the_names_that_panel_reads(visit):
    visit, session = visit
    connection = SimpleNamespace(protocol=SimpleNamespace(create=lambda kind, *_: kind))
    message = SimpleNamespace(header={"msgid": "1"})
    assert run_apart(session._handle_pull(message, connection)) == "PULL-DOC-REPLY"
    assert pn.state._connected.get(visit)
    with set_curdoc(visit):
        assert pn.state.loaded
    assert panel_compat.last_message(visit) == 0, "it has not said anything of its own"


def test_when_a_page_has_sent_something_is_noted(visit):
    visit, session = visit
    message = SimpleNamespace(apply_to_document=lambda *_: None)
    connection = SimpleNamespace(ok=lambda message: "taken")
    assert run_apart(session._handle_patch(message, connection)) == "taken"
    assert panel_compat.last_message(visit) > 0


def test_defaults_that_are_found_once_are_those_of_bokeh():
    import_module("widgets.app.session")
    kept = HasProps._overridden_defaults.__func__
    for model in (figure, Button, ColumnDataSource, Div):
        assert kept(model) == kept.__wrapped__(model) and kept(model) is kept(model)
    themed, plain = Div(), Div()
    themed.apply_theme({"text": "themed"})
    assert (themed.text, plain.text, plain.themed_values()) == ("themed", "", None)
    themed.unapply_theme()
    assert themed.text == "" and themed.themed_values() is None


@pytest.mark.parametrize("below", ["", "lessons"])
def test_scripts_and_styles_that_are_found_once_are_those_of_panel(monkeypatch, below):
    import_module("widgets.app.main")
    resources, kept = Resources(mode="server"), Resources.extra_resources
    with set_curdoc(Document()):
        pn.state.rel_path = below
        pages = bundle_resources([], resources), bundle_resources([], resources)
        monkeypatch.setattr(Resources, "extra_resources", kept.__wrapped__)
        of_panel = bundle_resources([], resources)
    for page in pages:
        assert (page.css_files, page.js_files) == (of_panel.css_files, of_panel.js_files)
        assert page.js_modules == of_panel.js_modules and page.css_files


def test_what_a_click_does_holds_the_lock_of_its_page():
    import_module("widgets.app.session")
    visit, context, button = Document(), SimpleNamespace(request=None), pmui.Button()
    visit._session_context = lambda: context
    with set_curdoc(visit):
        pn.state.execute(partial(button._event_coroutine, visit, None), schedule=True)
    [waiting] = visit.session_callbacks
    assert not getattr(waiting.callback, "nolock", False)


@pytest.mark.parametrize("busy", [True, False])
def test_changes_of_panel_and_of_bokeh_are_sent_in_the_order_in_which_they_were_made(busy):
    import_module("widgets.app.session")  # which lets them be
    sent, visit, model = [], Document(), Div()
    visit.add_root(model)
    socket = WSHandler.__new__(WSHandler)
    socket.write_lock = Lock()
    socket.ws_connection = SimpleNamespace(is_closing=lambda: False, write_message=lambda text, **_: write(text))
    connection = ServerConnection.__new__(ServerConnection)
    connection._socket, connection._protocol = socket, Protocol()

    async def write(text: str) -> None:
        sent.extend(event["new"] for event in json.loads(text).get("events", []))

    def change(text: str) -> ModelChangedEvent:
        return ModelChangedEvent(visit, model, "text", text)

    async def a_callback() -> None:
        with set_curdoc(visit), await socket.write_lock.acquire() if busy else nullcontext():
            pending = [connection.send_patch_document(change("first, of Bokeh"))]
            (schedule_write_events if busy else write_events)(visit, [connection], [change("second, of Panel")])
            pending.append(connection.send_patch_document(change("third, of Bokeh")))
        for each in pending:
            await each
        while len(sent) < 3:
            await asyncio.sleep(0.01)

    run_apart(a_callback())
    assert sent == ["first, of Bokeh", "second, of Panel", "third, of Bokeh"]


def test_the_common_busy_sign_is_a_watcher_of_the_library():
    before = list(pn.state.param.watchers.get("busy", {}).get("value", []))
    pmui.Page(title="follows")
    after = list(pn.state.param.watchers["busy"]["value"])
    assert len(after) == len(before) + 1, "else there is nothing to take away, and a page follows in another way"
    pn.state.param.unwatch(after[-1])
    panel_compat.without_the_common_busy_sign(lambda: pmui.Page(title="does not"))
    assert list(pn.state.param.watchers.get("busy", {}).get("value", [])) == before


def test_a_session_has_what_we_ask_it_for():
    session = ServerSession("name", Document(), io_loop=SimpleNamespace(asyncio_loop=None))
    visit = SimpleNamespace(session_context=SimpleNamespace(session=session))
    let_go = panel_compat.held(visit)
    assert panel_compat.is_held(visit)
    let_go()
    let_go()
    assert not panel_compat.is_held(visit)
    panel_compat.end(visit)
    assert session.expiration_requested


@pytest.mark.parametrize("let_go", [False, True], ids=["at once", "after Bokeh let its connection go"])
@pytest.mark.parametrize("code", [panel_compat.GOING_AWAY, 1006, None])
def test_a_page_that_was_left_is_noticed(monkeypatch, code, let_go):
    monkeypatch.setattr(WSHandler, "on_close", WSHandler.on_close)  # put back afterwards
    session = ServerSession("name", Document(), io_loop=SimpleNamespace(asyncio_loop=None))
    left, gone = [], []
    panel_compat.on_page_left(left.append)
    panel_compat.on_page_left(left.append)  # once more does not say it twice
    socket = WSHandler.__new__(WSHandler)
    socket.application = SimpleNamespace(client_lost=gone.append)
    socket.application_context = SimpleNamespace(sessions=[session])
    socket.close_code, socket.close_reason, socket._token = code, None, generate_jwt_token("name")
    socket.connection = ServerConnection.__new__(ServerConnection)
    socket.connection._session = None if let_go else session
    socket.on_close()
    assert left == ([session.document] if code == panel_compat.GOING_AWAY else [])
    assert gone == [socket.connection]


def test_the_scripts_of_a_page_do_not_keep_it_empty():
    assert panel_compat.DEFERRED in TEMPLATE
    page = JS_RESOURCES.render(js_files=["a.js"], js_raw=["x"], hashes={}, js_modules=[], js_module_exports={})
    assert '<script type="text/javascript" src=' in page
    assert '<script type="text/javascript">' in page


def test_what_the_library_calls_a_bundle_is_part_of_a_component():
    assert {"esm", "bundle"} <= set(AnyWidgetComponent.properties())


def test_private_names_stand_in_one_file():
    told = [
        str(path.relative_to(ROOT))
        for path in (ROOT / "widgets").rglob("*.py")
        if re.search(r"(?:panel\.(?:io|models|util)|bokeh\.server)\b", path.read_text(encoding="utf-8"))
    ]
    assert told == ["widgets/panel_compat.py"]


def test_a_row_that_wraps_may_be_narrower_than_all_its_parts_beside_each_other():
    def parts():
        return [pn.pane.HTML("a part", min_width=300, sizing_mode="stretch_width") for _ in range(3)]

    assert pn.Row(*parts(), sizing_mode="stretch_width").get_root().min_width >= 900, "else our class is not needed"
    assert not panel_compat.WrappingRow(*parts(), sizing_mode="stretch_width").get_root().min_width
