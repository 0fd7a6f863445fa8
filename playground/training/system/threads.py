"""Threads that end with the program: at exit those that still run are asked to stop and waited for."""

import atexit
import threading
from collections.abc import Callable
from multiprocessing.synchronize import Event as Signal
from weakref import WeakKeyDictionary

_halts: WeakKeyDictionary[threading.Thread, threading.Event | Signal] = WeakKeyDictionary()


def thread(work: Callable[[], None], halt: threading.Event | Signal, name: str) -> threading.Thread:
    """A thread, not yet started, that checks `halt` often; one cut off in a tensor operation would crash the exit."""
    thread = threading.Thread(target=work, name=name, daemon=True)
    _halts[thread] = halt
    return thread


def _end_all() -> None:
    running = {thread: halt for thread, halt in list(_halts.items()) if thread.is_alive()}
    for halt in running.values():
        halt.set()
    for thread in running:
        thread.join(5.0)


atexit.register(_end_all)
