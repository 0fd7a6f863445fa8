"""Locks of files: a folder is written by one run at a time, and what a process holds is free once it has ended."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain, count
from pathlib import Path

from filelock import FileLock, Timeout

from playground.errors import unwritable

FILE = "writing"
"""The lock file of a run's folder."""


def acquire(path: Path, timeout: float = 0) -> FileLock | None:
    """The lock of this file, or None where it stays held for `timeout` seconds, by this process or by another."""
    lock = FileLock(path, thread_local=False)  # a run may end in another thread than it began
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock.acquire(timeout)
    except Timeout:
        return None
    except OSError as error:
        raise unwritable(path.parent, error) from error
    return lock


@contextmanager
def claimed(preferred: Path) -> Iterator[Path]:
    """The folder, locked meanwhile; where another run is being written there, one with a number behind its name."""
    numbered = (preferred.with_name(f"{preferred.name}-{number}") for number in count(2))
    locks = ((folder, acquire(folder / FILE)) for folder in chain([preferred], numbered))
    folder, lock = next((folder, lock) for folder, lock in locks if lock is not None)
    try:
        yield folder
    finally:
        lock.release()
