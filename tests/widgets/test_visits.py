"""Who keeps a place: a visit without its page is kept while there is room, and given up where somebody else waits."""

from types import SimpleNamespace

from widgets import app


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
    monkeypatch.setattr(app, "_visits", dict(enumerate(visits)))
    monkeypatch.setattr(app, "MOST_VISITS", 4)
    assert len(app.app(tmp_path).main) > 1, "there is a place left"
    assert given_up(visits) == [False, False, False]
    assert "All places are taken" in app.app(tmp_path).main[0].object
    assert given_up(visits) == [False, True, False]
