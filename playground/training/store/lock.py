"""A claim on a folder: while one run is written there, another one goes beside it."""

from itertools import count
from pathlib import Path

from playground.errors import Refusal
from playground.training.store.runs import alive, this_process

FILE = "writing"
"""Says, while a run is being written, which process writes it."""


def claimed(wanted: Path) -> Path:
    """The folder, now claimed; where another run is being written there, one with a number behind its name."""
    for number in count(1):
        folder = wanted if number == 1 else wanted.with_name(f"{wanted.name}-{number}")
        if _claim(folder):
            return folder
    raise AssertionError("there is always one more number")


def release(folder: Path) -> None:
    """The run is no longer written."""
    (folder / FILE).unlink(missing_ok=True)


def _claim(folder: Path) -> bool:
    """Whether the folder is ours; a claim whose process is gone counts no more."""
    mine = this_process()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        try:
            with (folder / FILE).open("x", encoding="utf-8") as file:
                file.write(mine)
        except FileExistsError:
            if alive((folder / FILE).read_text(encoding="utf-8") or mine):  # empty: its writer is at it
                return False
            (folder / FILE).write_text(mine, encoding="utf-8")
    except OSError as error:
        raise Refusal(f"The folder {folder} cannot be written ({error.strerror or error}); choose another.") from error
    return True
