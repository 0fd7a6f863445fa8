"""Three visits at once, as clients of the protocol: clicks are answered, all train in turns, all is given back."""

import asyncio
import json
import urllib.error
import urllib.request
from importlib import import_module

import panel as pn
import psutil
import pytest

from playground.training.system.turns import Turns
from tests.loops import run_apart
from tests.runs import becomes
from widgets.app import main, server, session
from widgets.app.public import Public
from widgets.state.quota import Quota

load = import_module("benchmarks.class")
SESSIONS = 3


@pytest.fixture
def served(monkeypatch, tmp_path):
    """An app for others on which one trains at a time, each for a moment, and its server."""
    monkeypatch.setattr(session, "FAREWELL", 200)
    monkeypatch.setattr(main, "TemporaryDirectory", lambda **_: _Folder(tmp_path))
    port, turns = server.free_port(), Turns(1, 0.3)
    thread = server.start(port, public=Public(quota=Quota(turns, checkpoints=2)))
    mine = lambda: [s for s, *_ in pn.state._servers.values() if s.port == port]  # noqa: E731
    try:
        assert becomes(mine)
        yield f"http://localhost:{port}", turns, mine()[0]
    finally:
        thread.stop()


class _Folder:
    """A folder that stays to be looked at."""

    def __init__(self, root):
        self.path = root / str(len(list(root.iterdir())))

    def __enter__(self):
        self.path.mkdir()
        return str(self.path)

    def __exit__(self, *_):
        return


@pytest.mark.slow
def test_nothing_is_lost_and_everything_is_given_back(served, tmp_path):
    address, turns, app = served
    before = set(main._visits)
    visits = load.measure(address, SESSIONS, 4.0, psutil.Process(), rest=0.0)
    found = run_apart(visits)
    assert not found.lost and len(found.answers) >= 2 * SESSIONS and "lost: none" in found.report
    assert found.positions >= 1, "somebody waited in line"
    assert becomes(lambda: not app.get_sessions("/"))
    assert becomes(lambda: (turns.training, turns.waiting) == (0, 0))
    assert set(main._visits) <= before
    folders = sorted(tmp_path.iterdir())
    assert len(folders) == SESSIONS and all((folder / "runs.sqlite").exists() for folder in folders), "each on its own"


async def reached(address):
    """Open a page that says nothing of its own, as one that is still being drawn; whether its last part comes."""
    visit = await load.Visit.open(f"{address}/?page=train")
    listening = asyncio.create_task(visit.listen())
    for _ in range(200):
        if "Train" in visit.ids:
            break
        await asyncio.sleep(0.1)
    listening.cancel()
    visit.socket.close(load.AWAY)
    return "Train" in visit.ids


def test_a_page_that_is_made_before_the_browser_has_drawn_the_first_parts_is_sent_all_the_same(served, monkeypatch):
    address, *_ = served

    def add(self, visit, make):
        self._loop.call_later(2.0, lambda: visit.add_next_tick_callback(make))

    monkeypatch.setattr(session.Builder, "add", add)

    async def several():
        return await asyncio.gather(*(reached(address) for _ in range(SESSIONS)))

    assert run_apart(several()) == [True] * SESSIONS


@pytest.fixture
def alone(tmp_path):
    """An app for one machine."""
    port = server.free_port()
    thread = server.start(port, runs=tmp_path)
    assert becomes(lambda: server.answers(port))
    yield port
    thread.stop()


def asked(port, host, path="/", **headers):
    """The status and the text of an answer to a request for a host."""
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", headers={"Host": host, **headers})
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as refused:
        return refused.code, refused.read().decode()


UPGRADE = {
    "Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Protocol": "bokeh, x",
}  # fmt: skip


@pytest.mark.parametrize("host", ["evil.example:{}", "evil.example", "localhost.evil.example:{}", "127.0.0.1.nip.io"])
def test_a_name_that_points_to_this_machine_opens_no_page_and_no_connection(alone, host):
    host = host.format(alone)
    for path in ("/", "/train", "/goodbye", "/static/js/bokeh.min.js", "/nothing"):
        status, said = asked(alone, host, path)
        assert status == 403 and json.dumps(host.split(":")[0])[1:-1] in said and "--origin" in said
    status, _ = asked(alone, host, "/ws", Origin=f"http://{host}", **UPGRADE)
    assert status == 403


@pytest.mark.parametrize("host", ["localhost:{}", "127.0.0.1:{}", "[::1]:{}", "LOCALHOST:{}", "localhost:8888"])
def test_this_machine_itself_is_served_through_a_tunnel_too(alone, host):
    status, page = asked(alone, host.format(alone), "/train")
    assert status == 200 and "bokeh" in page


def test_others_are_served_at_the_hosts_that_are_named():
    named = server._for_others(5006, Public(origins=("play.example.org", "other.example:8080")))
    assert named["hosts"] == server.HOSTS | {"play.example.org", "other.example"}
    own = server._for_others(5006, Public())["hosts"]
    assert own > server.HOSTS and not any(":" in name for name in own - server.HOSTS)
