"""Worker processes that are ready at once: copies of one process in which everything was loaded, where the system can.

Loading torch and this project costs a fresh process about three seconds of the processor, more than many a lane.
"""

import multiprocessing
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import wait
from multiprocessing.context import BaseContext

import torch

READY = (
    "playground.training.parallel.preload",
    "playground.training.parallel.seeds",
    "playground.finetuning.run.scheduler",
)
"""What is loaded before a worker is copied."""


def context() -> BaseContext:
    """How worker processes begin; the process that is copied starts with the first of them and stays for later ones."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    found = multiprocessing.get_context("forkserver")
    found.set_forkserver_preload(list(READY))
    return found


def spare(busy: int = 1) -> int:
    """Processors beside those that are busy; at least one."""
    return max(1, (os.cpu_count() or 1) - busy)


def begin() -> None:
    """What every worker does first: one thread each, for more would stand in each other's way."""
    torch.set_num_threads(1)


def end_with_parent() -> None:
    """End this worker when the process that it works for is killed; what was saved stays, and nobody waits for more."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=lambda: (wait([parent.sentinel]), os._exit(1)), daemon=True).start()


@contextmanager
def as_worker() -> Iterator[None]:
    """Work as a worker does, so that no number depends on who did it."""
    threads = torch.get_num_threads()
    begin()
    try:
        yield
    finally:
        torch.set_num_threads(threads)
