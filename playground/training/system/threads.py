"""Work in threads that ends with the program: whoever still runs at exit is asked to stop and waited for."""

import atexit
import threading
from collections.abc import Callable
from multiprocessing.synchronize import Event as Signal
from weakref import WeakKeyDictionary

_halts: WeakKeyDictionary[threading.Thread, threading.Event | Signal] = WeakKeyDictionary()


def thread(work: Callable[[], None], halt: threading.Event | Signal, name: str) -> threading.Thread:
    """A thread, not yet started, that looks at `halt` often; a daemon cut off in a tensor call would crash the exit."""
    made = threading.Thread(target=work, name=name, daemon=True)
    _halts[made] = halt
    return made


def _end_all(wait: float = 5.0) -> None:
    running = [(t, halt) for t, halt in list(_halts.items()) if t.is_alive()]
    for _, halt in running:
        halt.set()
    for t, _ in running:
        t.join(wait)


atexit.register(_end_all)
