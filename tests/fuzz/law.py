"""What every case must keep: it works or it is refused in a sentence, in time, and a refusal leaves nothing behind."""

import os
import signal
import traceback
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from playground.errors import UserError

SECONDS = 20.0
"""Seconds of processor time of one case, most of which take some milliseconds."""

LONGEST = 3_000
"""Characters of a sentence: the longest that is meant names all there is of a kind."""


class TooLong(BaseException):
    """A case took more than its time; no `except Exception` may take it for something else."""


@dataclass(frozen=True)
class Case:
    """One odd input as a person reads it, and what is done with it."""

    told: str
    act: Callable[[], object]


@dataclass(frozen=True)
class Kind:
    """A kind of input: how a case is drawn by chance into an empty folder, and how many cases every test run has."""

    name: str
    cases: int
    draw: Callable[[Random, Path], Case]

    def breach(self, seed: int) -> str:
        """What the case of a seed breaks of the law, with all that is needed to repeat it."""
        with TemporaryDirectory() as folder, chdir(folder):
            case = self.draw(Random(f"{self.name} {seed}"), Path(folder))
            why = _broken(case.act, Path(folder))
        return why and f"python -m tests.fuzz {self.name} {seed}\n  input: {short(case.told)}\n  {why}"


def short(said: str, most: int = 240) -> str:
    """A text that is not longer than a person reads."""
    return repr(said) if len(said) <= most else f"{said[:most]!r} … ({len(said):,} characters)"


def _broken(act: Callable[[], object], folder: Path) -> str:
    before = _tree(folder)
    try:
        with limited(SECONDS):
            act()
    except UserError as refusal:
        left = sorted(_tree(folder) ^ before)
        return no_sentence(str(refusal)) or (f"refused, but left or took {left}" if left else "")
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return _where(error)
    return ""


def no_sentence(said: str) -> str:
    """Why a text is none that could be shown to a person as it stands; nothing where it is one."""
    if not said.strip().endswith((".", "?", "!")):
        return f"this is no sentence: {short(said)}"
    if len(said) > LONGEST:
        return f"a sentence of {len(said):,} characters: {short(said)}"
    odd = sorted({c for c in said if not c.isprintable()})
    return f"a sentence with {odd}: {short(said)}" if odd else ""


def _where(error: BaseException) -> str:
    """What went wrong and where, the deepest places last."""
    positions = [f"{os.path.relpath(f.filename, Path(__file__).parents[2])}:{f.lineno}" for f in _frames(error)]
    return f"{type(error).__name__}: {short(str(error), 300)}\n  at {' '.join(positions[-7:])}"


def _frames(error: BaseException) -> list[traceback.FrameSummary]:
    return [f for f in traceback.extract_tb(error.__traceback__) if "/tests/fuzz/law.py" not in f.filename]


def _tree(folder: Path) -> set[tuple[str, int]]:
    """Every file with its size, every folder with -1.

    What a database does to itself when it is opened is its own, and a base that was prepared is whole by itself.
    """
    there = (p for p in folder.rglob("*") if ".sqlite" not in p.name and "-with-decoder" not in str(p))
    return {(str(p.relative_to(folder)), p.stat().st_size if p.is_file() else -1) for p in there}


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Interrupt what takes more processor time, where the system has a clock for that.

    Not more time on the wall: two threads on a machine whose cores are taken wait for each other at every product of
    two matrices. What waits without computing is left to the limit of the whole test.
    """
    if not hasattr(signal, "setitimer"):
        yield
        return

    def ring(*_: object) -> None:
        raise TooLong(f"more than {seconds:g} seconds of processor time")

    before = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
