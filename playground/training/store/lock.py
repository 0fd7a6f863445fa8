"""Which process writes a run: a lock file in its folder, and whether the process that it names still runs."""

import os
import platform
from itertools import chain, count
from pathlib import Path

from playground.errors import unwritable
from playground.parsing import parse_int

FILE = "writing"
"""The lock file, which holds the process that writes the run."""


def claimed(wanted: Path) -> Path:
    """The folder, now locked; where another run is being written there, one with a number behind its name."""
    numbered = (wanted.with_name(f"{wanted.name}-{number}") for number in count(2))
    return next(folder for folder in chain([wanted], numbered) if _lock(folder))


def release(folder: Path) -> None:
    """The run is no longer written."""
    (folder / FILE).unlink(missing_ok=True)


def _lock(folder: Path) -> bool:
    """Whether the folder is ours now; the lock of a process that has ended is taken over."""
    mine = this_process()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        try:
            with (folder / FILE).open("x", encoding="utf-8") as file:
                file.write(mine)
        except FileExistsError:
            if alive((folder / FILE).read_text(encoding="utf-8") or mine):  # empty: it is being written
                return False
            (folder / FILE).write_text(mine, encoding="utf-8")
    except OSError as error:
        raise unwritable(folder, error) from error
    return True


def this_process() -> str:
    """The name of this machine and the number of this process."""
    return f"{platform.node()}:{os.getpid()}"


def started_at(number: int) -> str:
    """When a process began, in the system's clock ticks; empty where that is unknown."""
    try:
        return Path(f"/proc/{number}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""


def alive(process: str | None, started: str = "") -> bool:
    """Whether a process that `started` then still runs, since numbers are reused; on other machines that is assumed."""
    machine, _, number = (process or "").rpartition(":")
    if machine != platform.node() or os.name == "nt":  # on Windows `os.kill` would end the process
        return True
    try:
        os.kill(parse_int(number, 1, 2**31 - 1), 0)
    except (OSError, ValueError):
        return False
    return not started or started == started_at(int(number))
