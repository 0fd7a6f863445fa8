"""The memory of the server: what ended visits held goes back to the system, and little is kept meanwhile."""

import gc
from contextlib import suppress
from ctypes import CDLL

import torch
from tornado.ioloop import IOLoop

from playground.training.memory import free_cached

TIDIED = 10.0  # seconds from the end of a visit until its memory is returned, once for all that end meanwhile

M_ARENA_MAX, ARENAS = -8, 2
"""The name of a setting of glibc (malloc.h), and how many pools of memory all threads share.

By default every thread that trains keeps a pool of its own: 8 trainings at once took 1,700 MB, with two pools 1,250.
"""

COLLECTED_EVERY = 20_000, 10, 50
"""New objects after which the youngest are looked through, and how often that is done until older ones are.

The page of a visit has some ten thousand objects that stay: looking through all of them again and again took a seventh
of the time in which pages are made.
"""


def spare() -> None:
    """Set up the process of a server, before its first thread."""
    gc.set_threshold(*COLLECTED_EVERY)
    with suppress(OSError, AttributeError):  # another system, or another allocator
        CDLL("libc.so.6").mallopt(M_ARENA_MAX, ARENAS)


class Tidying:
    """Returns to the system what ended visits held: their documents are circles that only the collector finds."""

    def __init__(self) -> None:
        self._waits = False

    def soon(self) -> None:
        """Tidy up in a while, unless that is to come already."""
        if not self._waits:
            self._waits = True
            IOLoop.current().call_later(TIDIED, self._tidy)

    def _tidy(self) -> None:
        self._waits = False
        gc.collect()
        free_cached(torch.device("cpu"))


tidying = Tidying()
