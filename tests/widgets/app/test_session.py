"""Who keeps a place: a visit without its page is kept while there is room, and given up where somebody else waits."""

import logging
from contextlib import contextmanager
from types import SimpleNamespace

import panel as pn
import panel_material_ui as pmui
import pytest
from bokeh.document import Document
from bokeh.model import Model
from bokeh.server.connection import ServerConnection
from panel.io.state import set_curdoc
from panel.util.parameters import edit_readonly

from widgets.app import main
from widgets.app.invalid_events import say_in_a_line
from widgets.app.public import Public
from widgets.browser.components import busy
from widgets.panel_compat import without_the_common_busy_sign


def visit(pages, blocked=False):
    """A visit to which so many pages are connected; a page that is still on its way blocks its end."""
    asked = []
    session = SimpleNamespace(
        connection_count=pages, expiration_blocked=blocked, request_expiration=lambda: asked.append(True), asked=asked
    )
    return SimpleNamespace(session_context=SimpleNamespace(session=session))


def given_up(visits):
    return [bool(each.session_context.session.asked) for each in visits]


def test_visits_without_a_page_make_room_once_all_places_are_taken(monkeypatch, tmp_path):
    visits = [visit(1), visit(0), visit(0, blocked=True)]
    monkeypatch.setattr(main, "_visits", dict(enumerate(visits)))
    monkeypatch.setattr(main.limits, "most_visits", lambda: 4)
    assert len(main.app(tmp_path).main) > 1, "there is a place left"
    assert given_up(visits) == [False, False, False]
    assert "The server is full" in main.app(tmp_path).main[0].object
    assert given_up(visits) == [False, True, False]


@pytest.mark.parametrize(
    "make", [lambda: main.app(), lambda: main.app(public=Public()), lambda: main.class_page(Public())]
)
def test_a_visit_whose_page_cannot_be_made_keeps_no_place(monkeypatch, make):
    visit = Document()
    monkeypatch.setattr(main, "_visits", {})
    monkeypatch.setattr(main, "poll", lambda *_: 1 / 0)
    monkeypatch.setattr(main.tidying, "soon", lambda: None)
    with set_curdoc(visit), pytest.raises(ZeroDivisionError):
        make()
    assert len(main._visits) == 1
    for forget in visit.session_destroyed_callbacks:
        forget(None)
    assert not main._visits


def test_the_name_of_a_class_in_an_address_is_never_markup(monkeypatch):
    for name, title in (("ten-A", "Class ten-A"), ('"><script>alert(1)</script>', "Class")):
        monkeypatch.setattr(main, "_visits", {})
        monkeypatch.setattr(type(pn.state), "route_params", {"name": name}, raising=False)
        assert main.class_page(Public()).title == title


@contextmanager
def served(visit):
    """What the library does while it serves one visit: it says so to everybody."""
    with set_curdoc(visit), edit_readonly(pn.state):
        pn.state.busy = True
        yield
        pn.state.busy = False


def test_a_sign_shines_while_its_own_visit_is_served_and_is_forgotten_with_it():
    one, other = Document(), Document()
    before = list(pn.state.param.watchers["busy"]["value"])
    with set_curdoc(one):
        page, sign = without_the_common_busy_sign(lambda: pmui.Page(title="one")), busy()
    with served(other):
        assert not sign.busy
    with served(one):
        assert sign.busy and not page.busy
    assert not sign.busy
    for forget in one.session_destroyed_callbacks:
        forget(None)
    assert pn.state.param.watchers["busy"]["value"] == before


def test_what_is_served_never_goes_through_all_models_of_a_page(monkeypatch, tmp_path):
    visit, walked = Document(), []
    with set_curdoc(visit):
        main.app(tmp_path).server_doc(visit)
        real = Model.select
        monkeypatch.setattr(Model, "select", lambda self, asked: walked.append(self) or real(self, asked))
        with served(visit):
            pass
    assert walked and max(len(model.references()) for model in walked) < 20 < len(visit.models)


@pytest.mark.parametrize("name", ["bokeh.server.protocol_handler", "tornado.application"])
def test_a_page_that_goes_away_while_it_speaks_leaves_no_traceback(name, caplog):
    """What it had sent until then finds no session any more; an assertion that fails elsewhere is still told."""
    say_in_a_line()
    log = logging.getLogger(name)
    try:
        ServerConnection.session.fget(SimpleNamespace(_session=None))
    except AssertionError:
        log.error("error handling message", exc_info=True)
    assert caplog.records == []
    try:
        raise AssertionError("ours")
    except AssertionError:
        log.error("error handling message", exc_info=True)
    assert len(caplog.records) == 1
