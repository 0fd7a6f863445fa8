"""What may fail: a background job in a thread of its own, and an act whose refusal is shown as a sentence."""

import logging
import threading
import time
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from playground.corpora.readers.decode import Progress
from playground.errors import UserError
from playground.training.session import ASKED_EVERY
from playground.training.system import threads
from playground.training.system.turns import NO_LINE, Turn

log = logging.getLogger(__name__)

P = ParamSpec("P")
T = TypeVar("T")


def as_trouble(act: Callable[P, T]) -> Callable[P, T | None]:
    """A method of a state whose refusal becomes the state's `trouble`; where it succeeds, there is none any more."""

    @wraps(act)
    def tried(*given: P.args, **named: P.kwargs) -> T | None:
        state: Any = given[0]
        try:
            result = act(*given, **named)
        except UserError as refusal:
            state.trouble = str(refusal)
            return None
        if state.trouble:
            state.trouble = ""
        return result

    return tried


def wait_for_turn(in_line: Turn, halt: threading.Event) -> None:
    """Wait until this work may go on, or shall end."""
    while not (halt.is_set() or in_line.take()):
        time.sleep(ASKED_EVERY)


class Job:
    """One task in a thread of its own; a new one takes its place, and only the result of the newest counts.

    The error of one is gone when the next begins; its result stays until that of the next is there.

    Pages poll it: `turn` counts what has begun and ended, `share` is how much is done (0 to 1, None where unknown).
    Where others train too it waits `in_line` before it begins, and again where it tells its progress.
    """

    def __init__(self, name: str, in_line: Turn = NO_LINE) -> None:
        self.name, self.turn, self.busy, self.share, self.in_line = name, 0, False, None, in_line
        self.result: Any = None
        self.error: UserError | None = None
        self._halt = threading.Event()
        self._thread: threading.Thread | None = None

    def begin(self, make: Callable[[Progress], Any]) -> None:
        """Start the task, which reports its progress to the function that it is given."""
        self.end()
        halt = self._halt = threading.Event()
        self.busy, self.error, self.share, self.turn = True, None, None, self.turn + 1

        def report(done: int, total: int) -> None:
            wait_for_turn(self.in_line, halt)
            if halt.is_set():
                raise UserError(f"The {self.name} was stopped.")
            if self._halt is halt:
                self.share = done / max(1, total)

        def run() -> None:
            result, error = None, None
            try:
                wait_for_turn(self.in_line, halt)
                result = None if halt.is_set() else make(report)
            except UserError as refusal:
                error = refusal
            except Exception as fault:  # a thread that dies silently would leave a screen that waits for ever
                log.exception("The %s stopped.", self.name)
                error = UserError(f"The {self.name} stopped: {fault}")
            finally:
                if self._halt is halt:  # a newer task stands there now
                    self.in_line.leave()
            if not halt.is_set():
                self.result, self.error, self.busy = result, error, False
                self.turn += 1

        self._thread = threads.thread(run, halt, self.name)
        self._thread.start()

    def forget(self, error: UserError | None = None) -> None:
        """Drop the result, perhaps for a reason."""
        self.end()
        self.result, self.error, self.turn = None, error, self.turn + 1

    def end(self) -> None:
        """Stop the task; its result is thrown away."""
        self._halt.set()
        self.busy = False

    def wait(self, seconds: float = 60.0) -> None:
        """Wait until the task is done (for scripts and tests)."""
        if self._thread is not None:
            self._thread.join(seconds)
