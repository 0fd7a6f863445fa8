"""Work that a page waits for: one thing in a thread of its own, looked at several times a second."""

import threading
from collections.abc import Callable
from functools import partial
from typing import Any

from playground.corpora.readers.decode import Progress
from playground.errors import Refusal
from playground.training.system import threads


class Work:
    """One piece of work in a thread of its own; a new one takes its place, and only the newest one's result counts.

    Pages look at it again and again: `turn` counts what has begun and ended, `share` is how much is done (0 to 1;
    None: nobody knows).
    """

    def __init__(self, name: str) -> None:
        self.name, self.turn, self.busy, self.share = name, 0, False, None
        self.result: Any = None
        self.error: Refusal | None = None
        self._halt = threading.Event()
        self._thread: threading.Thread | None = None

    def begin(self, make: Callable[[Progress], Any]) -> None:
        """Start working; `make` is told how to say how far it is."""
        self.end()
        halt = self._halt = threading.Event()
        self.busy, self.share, self.turn = True, None, self.turn + 1

        def hear(done: int, total: int) -> None:
            if halt.is_set():
                raise Refusal("The reading was stopped.")
            if self._halt is halt:
                self.share = done / max(1, total)

        self._thread = threads.thread(
            lambda: self._finish(halt, *_tried(self.name, partial(make, hear))), halt, self.name
        )
        self._thread.start()

    def _finish(self, halt: threading.Event, result: Any, error: Refusal | None) -> None:
        if not halt.is_set():
            self.result, self.error, self.busy = result, error, False
            self.turn += 1

    def forget(self, error: Refusal | None = None) -> None:
        """There is no result, perhaps for a reason."""
        self.end()
        self.result, self.error, self.turn = None, error, self.turn + 1

    def end(self) -> None:
        """Stop what is being done; its result is thrown away."""
        self._halt.set()
        self.busy = False

    def wait(self, seconds: float = 60.0) -> None:
        """Until the work is done (for scripts and tests)."""
        if self._thread is not None:
            self._thread.join(seconds)


def _tried(name: str, make: Callable[[], Any]) -> tuple[Any, Refusal | None]:
    """A result, or why there is none."""
    try:
        return make(), None
    except Refusal as refusal:
        return None, refusal
    except Exception as error:  # a thread that dies silently would leave a screen that waits for ever
        return None, Refusal(f"The {name} stopped: {error}")
