"""What a page sends and no widget takes, such as a name that is not offered: a line in the log, not a traceback."""

import logging
import traceback
from pathlib import Path

import panel as pn

import playground
from playground.errors import readable
from widgets.panel_compat import LOG_OF_EVENTS, LOGS, of_a_page_that_went_away

OURS = tuple(f"{Path(package).parent}/" for package in (__file__, playground.__file__))  # where our code lies


def say_in_a_line() -> None:
    """Tell what no widget takes from faults of ours, from now on and for all visits."""
    pn.config.exception_handler = _pass_on
    filters = {LOG_OF_EVENTS: _without_traceback, **dict.fromkeys(LOGS, _of_a_page_that_is_there)}
    for name, keep in filters.items():
        logging.getLogger(name).removeFilter(keep)  # another app of this process has asked for it too
        logging.getLogger(name).addFilter(keep)


def not_taken(error: BaseException) -> bool:
    """Whether a widget itself refused a value, so that no line of ours has seen it."""
    positions = (frame.filename for frame in traceback.extract_tb(error.__traceback__))
    return isinstance(error, ValueError) and not any(position.startswith(OURS) for position in positions)


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
