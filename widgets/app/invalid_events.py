"""What a page sends and no widget takes, such as a name that is not offered: a line in the log, not a traceback."""

import logging
import traceback
from pathlib import Path

import panel as pn

import playground
from playground.errors import readable

OURS = tuple(f"{Path(package).parent}/" for package in (__file__, playground.__file__))
"""Where our own code lies."""


def say_in_a_line() -> None:
    """Tell what no widget takes from faults of ours, from now on and for all visits."""
    pn.config.exception_handler = _pass_on
    events = logging.getLogger("panel.reactive")
    events.removeFilter(_without_traceback)  # another app of this process has asked for it too
    events.addFilter(_without_traceback)
    for name in ("bokeh.server.protocol_handler", "tornado.application"):
        logging.getLogger(name).removeFilter(_of_a_page_that_is_there)
        logging.getLogger(name).addFilter(_of_a_page_that_is_there)


def not_taken(error: BaseException) -> bool:
    """Whether a widget itself refused a value, so that no line of ours has seen it."""
    places = (frame.filename for frame in traceback.extract_tb(error.__traceback__))
    return isinstance(error, ValueError) and not any(place.startswith(OURS) for place in places)


def _of_a_page_that_is_there(record: logging.LogRecord) -> bool:
    """Whether an error is one, and not the end of a page whose last messages came after its connection was let go.

    Bokeh 3.9 detaches a connection as soon as it cannot write to it; what the page had sent until then, and the closing
    itself, find no session any more (`bokeh/server/connection.py`, the property `session`).
    """
    error = record.exc_info[1] if record.exc_info else None
    if not isinstance(error, AssertionError):
        return True
    last = traceback.extract_tb(error.__traceback__)[-1]
    return not (last.name == "session" and Path(last.filename).parts[-3:] == ("bokeh", "server", "connection.py"))


def _pass_on(error: BaseException) -> None:
    if not not_taken(error):
        raise error


def _without_traceback(record: logging.LogRecord) -> bool:
    error = record.exc_info[1] if record.exc_info else None
    if error is not None and not_taken(error):
        record.msg, record.args = "A page sent what no widget takes: %s", (readable(str(error)),)
        record.exc_info, record.exc_text = None, None
        record.levelno, record.levelname = logging.WARNING, logging.getLevelName(logging.WARNING)
    return True
