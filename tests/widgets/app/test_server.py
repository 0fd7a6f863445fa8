"""Three visits at once, as clients of the protocol: clicks are answered, all train in turns, all is given back."""

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor

import panel as pn
import psutil
import pytest

from benchmarks import load
from playground.training.system.turns import Turns
from tests.runs import becomes
from widgets.app import main, server, session
from widgets.app.public import Public
from widgets.panel_compat import last_message
from widgets.state.quota import Quota

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
    seen = []

    def clock():
        seen.extend(bool(last_message(each.document)) for each in app.get_sessions("/"))
        return time.perf_counter()

    visits = load.measure(address, SESSIONS, 4.0, psutil.Process(), rest=0.0, clock=clock)
    with ThreadPoolExecutor(1) as apart:  # a browser test of this worker has left a loop in its own thread
        found = apart.submit(asyncio.run, visits).result()
    assert not found.lost and len(found.answers) >= 2 * SESSIONS and "lost: none" in found.report
    assert found.positions >= 1 and any(seen), "somebody waited in line, and clicks are noted"
    assert becomes(lambda: not app.get_sessions("/"))
    assert becomes(lambda: (turns.training, turns.waiting) == (0, 0))
    assert not main._visits
    folders = sorted(tmp_path.iterdir())
    assert len(folders) == SESSIONS and all((folder / "runs.sqlite").exists() for folder in folders), "each on its own"
