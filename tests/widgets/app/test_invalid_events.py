"""What a changed page sends and no widget takes is a line in the log; a fault of ours keeps its traceback."""

import asyncio
import gc
import logging
from pathlib import Path

import panel as pn
import pytest
from tornado.websocket import WebSocketClosedError

from playground.errors import UserError
from tests.loops import run_apart
from widgets.app.invalid_events import say_in_a_line
from widgets.pages.train.page import TrainPage
from widgets.panel_compat import LOG_OF_EVENTS
from widgets.state.train.choice import load_corpus
from widgets.state.train.store import TrainStore

PATH = "/etc/passwd"


def handled(error: BaseException) -> None:
    """What Panel does with an error in an event: it logs it and hands it on."""
    say_in_a_line()
    logging.getLogger(LOG_OF_EVENTS).error("Callback failed", exc_info=error)
    pn.state._handle_exception(error)


def test_a_corpus_that_is_not_offered_is_a_line_in_the_log(tmp_path: Path, caplog, monkeypatch) -> None:
    monkeypatch.setattr(pn.config, "exception_handler", None)
    (text,) = (w for w in TrainPage(TrainStore(tmp_path)).layout.select() if getattr(w, "label", "") == "corpus")
    with pytest.raises(ValueError, match="not in list") as theirs:
        text._process_events({"value": PATH})
    caplog.clear()
    handled(theirs.value)
    assert [(each.levelno, each.getMessage(), each.exc_info) for each in caplog.records] == [
        (logging.WARNING, f"A page sent what no widget takes: {PATH} not in list", None)
    ]
    assert text.value == "world"


def test_a_fault_of_ours_keeps_its_traceback(tmp_path: Path, caplog, monkeypatch) -> None:
    monkeypatch.setattr(pn.config, "exception_handler", None)
    with pytest.raises(UserError) as ours:
        load_corpus(TrainStore(tmp_path, corpus="nope"))
    with pytest.raises(UserError, match="nope"):
        handled(ours.value)
    assert [each.exc_info is None for each in caplog.records] == [False]


async def send(error: Exception) -> None:
    """A message to a page whose task nobody awaits, as Bokeh sends them."""

    async def write() -> None:
        raise error

    task = asyncio.ensure_future(write())
    await asyncio.wait([task])
    del task
    gc.collect()


def test_a_message_to_a_page_that_was_left_is_not_reported(caplog) -> None:
    say_in_a_line()
    gc.collect()  # what other tests have left
    caplog.clear()
    run_apart(send(WebSocketClosedError()))
    assert reported(caplog) == []
    run_apart(send(OSError("disk full")))
    assert reported(caplog) == ["Task exception was never retrieved"]


def reported(caplog) -> list[str]:
    return [each.getMessage().partition("\n")[0] for each in caplog.records if each.name == "asyncio"]
