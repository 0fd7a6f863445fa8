"""What may fail: a background job in a thread of its own, and an act whose refusal is shown as a sentence."""

import threading
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from playground.corpora.readers.decode import Progress
from playground.errors import UserError
from playground.training.system import threads

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


class Job:
    """One task in a thread of its own; a new one takes its place, and only the result of the newest counts.

    Pages poll it: `turn` counts what has begun and ended, `share` is how much is done (0 to 1, None where unknown).
    """

    def __init__(self, name: str) -> None:
        self.name, self.turn, self.busy, self.share = name, 0, False, None
        self.result: Any = None
        self.error: UserError | None = None
        self._halt = threading.Event()
        self._thread: threading.Thread | None = None

    def begin(self, make: Callable[[Progress], Any]) -> None:
        """Start the task, which reports its progress to the function that it is given."""
        self.end()
        halt = self._halt = threading.Event()
        self.busy, self.share, self.turn = True, None, self.turn + 1

        def report(done: int, total: int) -> None:
            if halt.is_set():
                raise UserError(f"The {self.name} was stopped.")
            if self._halt is halt:
                self.share = done / max(1, total)

        def run() -> None:
            result, error = None, None
            try:
                result = make(report)
            except UserError as refusal:
                error = refusal
            except Exception as fault:  # a thread that dies silently would leave a screen that waits for ever
                error = UserError(f"The {self.name} stopped: {fault}")
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
