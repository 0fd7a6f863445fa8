"""What a page sends and no widget takes, such as a name that is not offered: a line in the log, not a traceback."""

import logging
import traceback
from pathlib import Path

import panel as pn

import playground
from playground.errors import readable
from widgets.panel_compat import LOG_OF_EVENTS, LOGS, of_a_page_that_went_away

OURS = tuple(f"{Path(package).parent}/" for package in (__file__, playground.__file__))
"""Where our own code lies."""


def say_in_a_line() -> None:
    """Tell what no widget takes from faults of ours, from now on and for all visits."""
    pn.config.exception_handler = _pass_on
    events = logging.getLogger(LOG_OF_EVENTS)
    events.removeFilter(_without_traceback)  # another app of this process has asked for it too
    events.addFilter(_without_traceback)
    for name in LOGS:
        logging.getLogger(name).removeFilter(_of_a_page_that_is_there)
        logging.getLogger(name).addFilter(_of_a_page_that_is_there)


def not_taken(error: BaseException) -> bool:
    """Whether a widget itself refused a value, so that no line of ours has seen it."""
    places = (frame.filename for frame in traceback.extract_tb(error.__traceback__))
    return isinstance(error, ValueError) and not any(place.startswith(OURS) for place in places)


def _of_a_page_that_is_there(record: logging.LogRecord) -> bool:
    return not of_a_page_that_went_away(record.exc_info[1] if record.exc_info else None)


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
