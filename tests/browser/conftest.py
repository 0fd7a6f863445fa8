"""The app, served in this very process, and the page that visits it."""

import logging
import time
from collections.abc import Iterator
from contextlib import closing

import pytest

from playground.training import Event, Run, session, train
from playground.training.train_state import TrainState
from tests.browsing import browser, context_size, page, profile
from widgets.app import server
from widgets.state.train.store import TrainStore

__all__ = ["browser", "context_size", "page", "profile"]


@pytest.fixture(scope="session")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a running app, which keeps its runs in a folder of its own."""
    port = server.free_port()
    thread = server.start(port, runs=tmp_path_factory.mktemp("runs"))
    while not server.answers(port):  # its thread may not have opened the door yet
        time.sleep(0.05)
    yield f"http://localhost:{port}"
    thread.stop()


@pytest.fixture(autouse=True)
def guarded(request: pytest.FixtureRequest) -> None:
    """Whoever opens a page gets the strict one: remote requests, console errors and page errors fail the test."""
    if "page" in request.fixturenames:
        request.getfixturevalue("page")


GONE = ("WebSocketClosedError", "StreamClosedError", "UnknownReferenceError")
"""What a server finds where a page, or a part of it, went away while it was speaking: no error of the app."""


@pytest.fixture(autouse=True)
def served_without_errors(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """An error inside the server fails the test, also one that nobody sees on the page: it may swallow a click."""
    yield
    said = [caplog.handler.format(each) for each in caplog.get_records("call") if each.levelno >= logging.ERROR]
    assert not [each for each in said if not any(gone in each for gone in GONE)]


PAUSE = 0.02
"""Seconds that a training which a test watches rests after each event, about twice what a step takes."""


@pytest.fixture
def endless(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run ends when the test ends it, and not because the browser was slow; it leaves the browser its processor."""
    monkeypatch.setattr(TrainStore.param.steps, "default", 20_000)
    monkeypatch.setattr(session, "train", rested)


def rested(run: Run, begin: TrainState | None = None) -> Iterator[Event]:
    """The events of a training, with a pause after each: most tests only wait for some more steps."""
    with closing(train(run, begin)) as events:
        for event in events:
            yield event
            time.sleep(PAUSE)
