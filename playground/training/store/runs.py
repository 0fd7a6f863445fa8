"""The runs of a folder in one SQLite file: their curves while they grow, their tree of forks, the way back to each."""

import json
import os
import platform
import shutil
import sqlite3
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import torch

from playground.errors import Refusal
from playground.parsing import Form, has_form, parse_int, parse_json
from playground.training import checkpoint
from playground.training.async_checkpoint import kept
from playground.training.checkpoint import Checkpoint
from playground.training.events import Evaluated, Started, Stepped, Stopped
from playground.training.loop import Run
from playground.training.observe.recording import Moment, read, written
from playground.training.session import Row
from playground.training.store.metrics import Told
from playground.training.train_state import TrainState

T = TypeVar("T")

FILE = "runs.sqlite"

FORMAT = 1
"""Grows when the tables change."""

LONGEST_TITLE = 80
"""Characters of what a person calls a run."""

NOTES = ("title", "error")
"""What is kept of a run as a sentence beside its row, so that earlier versions can still read the list."""

ROWS_AT_ONCE = 50
"""So many points are written together; they are always written before the checkpoint of their step."""

TABLES = """
CREATE TABLE IF NOT EXISTS runs (
  name TEXT PRIMARY KEY, entry TEXT, corpus TEXT, seed INTEGER, device TEXT, began TEXT, state TEXT,
  step INTEGER, tokens INTEGER, seconds REAL, held_out REAL, unigram_entropy REAL, entropy_bound REAL,
  parent TEXT, forked_at INTEGER, changed TEXT, out TEXT, settings TEXT, process TEXT);
CREATE TABLE IF NOT EXISTS points (
  run TEXT, step INTEGER, loss REAL, held_out REAL, tokens INTEGER, seconds REAL, more TEXT, graded INTEGER,
  flops REAL);
CREATE INDEX IF NOT EXISTS points_of_run ON points (run, step);
CREATE TABLE IF NOT EXISTS accuracies (run TEXT, step INTEGER, accuracy TEXT);
CREATE INDEX IF NOT EXISTS accuracies_of_run ON accuracies (run, step);
CREATE TABLE IF NOT EXISTS moments (run TEXT, step INTEGER, kind TEXT, told TEXT);
CREATE INDEX IF NOT EXISTS moments_of_run ON moments (run, step);
CREATE TABLE IF NOT EXISTS notes (run TEXT, kind TEXT, text TEXT, PRIMARY KEY (run, kind));
"""

_recorded_here: set[tuple[Path, str]] = set()
"""The runs that this very process is writing down, by folder and name."""


@dataclass(frozen=True)
class Parent:
    """Where a fork comes from: the name of the run, the step, and what is different from there on."""

    run: str
    step: int
    changed: str


@dataclass(frozen=True)
class RunRow:
    """A run as the list shows it.

    `state` is "running", "steps", "seconds", "diverged", "asked", "failed" or, where nobody writes it any more, "cut
    off"; `settings` are the knobs of its recipe and objective, `title` is what a person calls it, `error` why it
    failed.
    """

    name: str
    entry: str
    corpus: str
    seed: int
    device: str
    began: str
    state: str
    step: int
    tokens: int
    seconds: float
    held_out: float | None
    unigram_entropy: float | None
    entropy_bound: float | None
    parent: str | None
    forked_at: int | None
    changed: str | None
    out: str | None
    settings: dict[str, Any]
    title: str = ""
    error: str = ""

    @property
    def shown(self) -> str:
        """What it is called on screen."""
        return self.title or self.name

    @property
    def checkpoints(self) -> tuple[int, ...]:
        """The steps from which it can be forked, besides its latest."""
        return tuple(kept(Path(self.out))) if self.out else ()


KEPT: dict[str, Form] = {
    "name": str, "entry": str, "corpus": str, "seed": int, "device": str, "began": str, "state": str, "step": int,
    "tokens": int, "seconds": float, "held_out?": float, "unigram_entropy?": float, "entropy_bound?": float,
    "parent?": str, "forked_at?": int, "changed?": str, "out?": str, "settings": {},
}  # fmt: skip
POINT: dict[str, Form] = {
    "step": int, "loss?": float, "held_out?": float, "tokens": int, "seconds": float, "more": [(str, float)],
    "graded": int, "flops": float,
}  # fmt: skip
"""What a run and a point of its curve hold, by the names of the columns."""

ACCURACY = """CASE WHEN held_out IS NOT NULL THEN
  (SELECT accuracy FROM accuracies AS a WHERE a.run = points.run AND a.step = points.step) END"""
"""The accuracies of an evaluation, kept beside the points so that earlier versions can still read those."""


class Runs:
    """The runs that were recorded in a folder, whether their process is still there or not."""

    def __init__(self, folder: Path | str = "runs") -> None:
        self.folder = Path(folder)

    def all(self) -> tuple[RunRow, ...]:
        """Every run, the oldest first."""
        if not (self.folder / FILE).is_file():
            return ()
        rows = self._select(f"SELECT {_columns(KEPT)}, process FROM runs ORDER BY began, rowid")
        notes = {(run, kind): text for run, kind, text in self._select("SELECT run, kind, text FROM notes")}
        return tuple(self._read(lambda row: self._kept(row, notes), rows))

    def _kept(self, row: tuple[Any, ...], notes: dict[tuple[str, str], str]) -> RunRow:
        """A run from its row; one that nobody writes any more was cut off."""
        run, process = RunRow(**_values(KEPT, row[:-1], "settings")), row[-1]
        run = replace(run, **{kind: notes.get((run.name, kind), "") for kind in NOTES})
        born = notes.get((run.name, "born"), "")
        gone = run.state == "running" and not self._written(run, process, born)
        return replace(run, state="cut off") if gone else run

    def _written(self, run: RunRow, process: str | None, born: str) -> bool:
        """Whether somebody is writing a run: this process, as far as it knows, or one that is still there."""
        if process == this_process() and born in ("", _born(os.getpid())):
            return (self.folder.absolute(), run.name) in _recorded_here
        return alive(process, born)

    def find(self, name: str) -> RunRow:
        """One run by its name."""
        there = {run.name: run for run in self.all()}
        if name not in there:
            known = ", ".join(there) or "none"
            raise Refusal(f"There is no run {name!r} in {self.folder}; there are: {known}.")
        return there[name]

    def children(self, name: str | None) -> tuple[RunRow, ...]:
        """The forks of a run; with None those that are no forks, the roots of the tree."""
        return tuple(run for run in self.all() if run.parent == name)

    def points(self, name: str, after: int = -1) -> list[Row]:
        """The curve of a run beyond a step; evaluations are points with `held_out` and without `loss`."""
        query = f"SELECT {_columns(POINT)}, {ACCURACY} FROM points WHERE run = ? AND step > ? ORDER BY step, rowid"
        rows = self._select(query, name, after)
        return self._read(_row, rows)

    def moments(self, name: str) -> list[Moment]:
        """What was measured, noticed and looked at in a run, in its order."""
        rows = self._select("SELECT kind, told FROM moments WHERE run = ? ORDER BY step, rowid", name)
        return [moment for row in rows if (moment := read(*row)) is not None]

    def _select(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        try:
            with closing(self._open()) as base:
                return base.execute(query, values).fetchall()
        except sqlite3.Error as error:
            raise self._damaged(error) from error

    def _read(self, read: Callable[[tuple[Any, ...]], T], rows: Iterable[tuple[Any, ...]]) -> list[T]:
        try:
            return [read(row) for row in rows]
        except ValueError as error:
            raise self._damaged(error) from error

    def _damaged(self, why: Exception) -> Refusal:
        return Refusal(
            f"The list of runs {self.folder / FILE} is damaged ({why}). Move it away to begin a new list; the runs' "
            "own folders stay as they are."
        )

    def load(self, name: str, step: int | None = None, device: torch.device | str = "cpu") -> Checkpoint:
        """The learner of a run at its latest checkpoint, or at an earlier one that stayed."""
        run = self.find(name)
        if run.out is None:
            raise Refusal(f"The run {name} kept no checkpoint; give a run a folder (--out) to go back to it.")
        there = kept(Path(run.out))
        if step is None:
            return checkpoint.load(Path(run.out), device)
        if step in there:
            return checkpoint.load(there[step], device)
        latest = checkpoint.load(Path(run.out), device)
        if latest.learner.step == step:
            return latest
        steps = sorted({*there, latest.learner.step})
        raise Refusal(f"The run {name} kept nothing of step {step}; it kept {', '.join(map(str, steps))}.")

    def rename(self, name: str, title: str) -> None:
        """Call a run something else in lists; its name and its folder stay. An empty title takes the name back."""
        self.find(name)
        title = " ".join(title.split())
        if len(title) > LONGEST_TITLE:
            raise Refusal(f"The title has {len(title)} characters; use at most {LONGEST_TITLE}.")
        with closing(self._open()) as base, base:
            _note(base, name, "title", title)

    def delete(self, name: str) -> str:
        """Take a run off the list and remove its folder; its forks keep what they need of it. Says what was kept.

        A folder that was chosen outside the folder of the list stays where it is.
        """
        run = self.find(name)
        if run.state == "running":
            raise Refusal(f"{run.shown} is being trained; stop it before it is deleted.")
        forks = self.children(name)
        with closing(self._open()) as base, base:
            for fork in forks:
                _inherit(base, run, fork)
            for table in (*BY_STEP, "notes"):
                base.execute(f"DELETE FROM {table} WHERE run = ?", (name,))
            base.execute("DELETE FROM runs WHERE name = ?", (name,))
        return self._remove_folder(run)

    def _remove_folder(self, run: RunRow) -> str:
        """Remove what a run left on the disk, if it lies in the folder of the list."""
        folder = None if run.out is None else Path(run.out)
        if folder is None or not folder.is_dir():
            return ""
        if folder.parent != self.folder.absolute() or folder.is_symlink():
            return f"Its files stay in {folder}, which is not in {self.folder}."
        try:
            shutil.rmtree(folder)
        except OSError as error:
            return f"Not all of {folder} could be removed ({error.strerror or error})."
        return ""

    def new_name(self, wanted: str) -> str:
        """The name, with a number behind it where it is taken."""
        taken, number = {run.name for run in self.all()}, 2
        name = wanted
        while name in taken:
            name, number = f"{wanted}-{number}", number + 1
        return name

    def opened(self, events: Iterable[Told]) -> Generator[Told]:
        """The same events; a list that cannot be opened is refused at the first, before a run writes anything."""
        for number, event in enumerate(events):
            if not number:
                self._check()
            yield event

    def _check(self) -> None:
        """Refuse a list that cannot be opened, or made where there is none."""
        if os.path.exists(self.folder / FILE):
            self._open().close()
        above = next(each for each in (self.folder, *self.folder.absolute().parents) if os.path.exists(each))
        if not (above.is_dir() and os.access(above, os.W_OK)):
            raise Refusal(
                f"The list of runs in {self.folder / FILE} cannot be made; give a folder that can be written."
            )

    def recorded(self, name: str, run: Run, events: Iterable[Told], parent: Parent | None = None) -> Generator[Told]:
        """The same events, written down as they pass; of a run that goes on, what lies after its step is dropped."""
        mine = (self.folder.absolute(), name)
        _recorded_here.add(mine)
        try:
            yield from self._recorded(name, run, events, parent)
        except sqlite3.Error as error:
            raise Refusal(f"The list of runs in {self.folder / FILE} cannot be written ({error}).") from error
        finally:
            _recorded_here.discard(mine)

    def _recorded(self, name: str, run: Run, events: Iterable[Told], parent: Parent | None) -> Generator[Told]:
        base: sqlite3.Connection | None = None
        waiting: list[Row] = []
        last, learner = Row(0, None, None, 0, 0.0), None
        try:
            for event in events:
                if isinstance(event, Started):
                    base, learner = self._begin(name, run, event, parent), event.learner
                    last = self._point_at(name if parent is None else parent.run, learner)
                if isinstance(event, Stepped | Evaluated) and learner is not None:
                    last = last.after(event, learner)
                    waiting.append(last)
                if isinstance(event, Moment) and base is not None:
                    _keep(base, name, event)
                saves = isinstance(event, Evaluated) or (
                    isinstance(event, Stepped) and event.step % run.save_every == 0
                )
                if base is not None and (saves or len(waiting) >= ROWS_AT_ONCE or isinstance(event, Stopped)):
                    _write(base, name, last, waiting, event.reason if isinstance(event, Stopped) else "running")
                    waiting = []
                yield event
        except BaseException as end:
            if base is not None:
                _end(base, name, last, waiting, end)
            raise
        finally:
            if base is not None:
                base.close()

    def _point_at(self, name: str, learner: TrainState) -> Row:
        """The point from which a run goes on: what its own curve, or that of its parent, says of the step."""
        there = [p for p in self.points(name) if p.step == learner.step] if learner.step else []
        flops = there[-1].flops if there else 0.0
        return Row(learner.step, None, None, learner.tokens, learner.seconds, (), learner.graded, flops)

    def _begin(self, name: str, run: Run, started: Started, parent: Parent | None) -> sqlite3.Connection:
        learner = started.learner
        about = {
            "name": name,
            "entry": run.entry.name,
            "corpus": run.corpus.name,
            "seed": learner.seed,
            "device": str(run.device),
            "began": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "state": "running",
            "step": learner.step,
            "tokens": learner.tokens,
            "seconds": learner.seconds,
            "unigram_entropy": started.unigram_entropy,
            "entropy_bound": learner.entry.bound(run.corpus),
            "out": None if run.out is None else str(run.out.absolute()),
            "settings": json.dumps(settings(learner.entry)),
            "process": this_process(),
        }
        if parent is not None:
            about |= {"parent": parent.run, "forked_at": parent.step, "changed": parent.changed}
        base = self._open()
        with base:
            again = learner.step and (parent is None or learner.step != parent.step)
            for table in BY_STEP:
                base.execute(f"DELETE FROM {table} WHERE run = ? AND step > ?", (name, learner.step if again else -1))
            _note(base, name, "error", "")
            _note(base, name, "born", _born(os.getpid()))
            marks = ", ".join("?" * len(about))
            updates = ", ".join(f"{k} = excluded.{k}" for k in about if not (again and k == "began"))
            base.execute(
                f"INSERT INTO runs ({', '.join(about)}) VALUES ({marks}) ON CONFLICT (name) DO UPDATE SET {updates}",
                tuple(about.values()),
            )
        return base

    def _open(self) -> sqlite3.Connection:
        """The file, made where there is none; several processes may write at once."""
        base = None
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            base = sqlite3.connect(self.folder / FILE, timeout=30, check_same_thread=False)
            base.execute("PRAGMA journal_mode = WAL")
            base.execute("PRAGMA synchronous = NORMAL")
            _check_format(base, self.folder / FILE)
            base.executescript(f"BEGIN IMMEDIATE; PRAGMA user_version = {FORMAT}; {TABLES} COMMIT")
        except (OSError, sqlite3.Error) as error:
            if base is not None:
                base.close()
            raise Refusal(f"The list of runs in {self.folder / FILE} cannot be opened ({error}).") from error
        return base


def _check_format(base: sqlite3.Connection, path: Path) -> None:
    both = "SELECT (SELECT user_version FROM pragma_user_version), (SELECT count(*) FROM sqlite_master)"
    found, there = base.execute(both).fetchone()  # at one moment, for another process may be making the list just now
    if there and found != FORMAT:
        base.close()
        raise Refusal(
            f"The list of runs {path} has format {found}; this version reads format {FORMAT}. Move it away to begin a "
            "new list; the runs' own folders stay as they are."
        )


def _inherit(base: sqlite3.Connection, run: RunRow, fork: RunRow) -> None:
    """Give a fork what the curve and the story of the run that it left hold up to there, and its place in the tree."""
    for table, names in BY_STEP.items():
        base.execute(
            f"INSERT INTO {table} (run, {names}) SELECT ?, {names} FROM {table} WHERE run = ? AND step <= ?",
            (fork.name, run.name, fork.forked_at),
        )
    changed = f"left {run.shown}, which was deleted, at step {fork.forked_at}: {fork.changed}"
    changed = f"{run.changed}; {changed}" if run.changed else changed
    base.execute(
        "UPDATE runs SET parent = ?, forked_at = ?, changed = ? WHERE name = ?",
        (run.parent, run.forked_at, changed, fork.name),
    )


def _columns(form: dict[str, Form]) -> str:
    return ", ".join(name.removesuffix("?") for name in form)


BY_STEP = {"points": _columns(POINT), "accuracies": "step, accuracy", "moments": "step, kind, told"}
"""The tables that grow with the steps of a run, and their columns beside its name."""


def _values(form: dict[str, Form], row: Sequence[Any], written: str) -> dict[str, Any]:
    """The values of a row by their columns, that of the column `written` read from its JSON."""
    found = dict(zip(_columns(form).split(", "), row, strict=True))
    found[written] = parse_json(found[written]) if isinstance(found[written], str) else None
    if not has_form(found, form):
        raise ValueError(f"it says {', '.join(f'{name} {value!r}' for name, value in list(found.items())[:8])}")
    return found


def _end(base: sqlite3.Connection, name: str, last: Row, waiting: list[Row], end: BaseException) -> None:
    """The last points of a run that failed, with the reason, or that was stopped."""
    failed = isinstance(end, Exception)
    _write(base, name, last, waiting, "failed" if failed else "asked")
    with base:
        _note(base, name, "error", (str(end) or type(end).__name__) if failed else "")


def _note(base: sqlite3.Connection, name: str, kind: str, text: str) -> None:
    """Keep a sentence about a run in the place of the earlier one; an empty one takes it away."""
    base.execute("DELETE FROM notes WHERE run = ? AND kind = ?", (name, kind))
    if text:
        base.execute("INSERT INTO notes VALUES (?, ?, ?)", (name, kind, text))


def _born(number: int) -> str:
    """When a process began, as the system counts it; empty where the system does not say."""
    try:
        return Path(f"/proc/{number}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""


def this_process() -> str:
    """Names this process: its machine and its number."""
    return f"{platform.node()}:{os.getpid()}"


def alive(process: str | None, born: str = "") -> bool:
    """Whether the process that writes a run is still there; those of other machines are believed to be.

    Numbers are given again: where it is known when the process was `born`, another one of its number is not it.
    """
    machine, _, number = (process or "").rpartition(":")
    if machine != platform.node() or os.name == "nt":  # there, asking a process whether it lives would end it
        return True
    try:
        os.kill(parse_int(number, 1, 2**31 - 1), 0)
    except (OSError, ValueError):
        return False
    return not born or born == _born(int(number))


def settings(entry: Any) -> dict[str, dict[str, Any]]:
    """The knobs of an entry's recipe and of its objective, as they stand."""
    recipe = {f.name: getattr(entry.recipe, f.name) for f in fields(entry.recipe)}
    return {"recipe": recipe, "objective": {name: k.default for name, k in entry.objective.knobs.items()}}


def _point(name: str, row: Row) -> tuple[Any, ...]:
    more = json.dumps(row.more)
    return (name, row.step, row.loss, row.held_out, row.tokens, row.seconds, more, row.graded, row.flops)


def _keep(base: sqlite3.Connection, name: str, moment: Moment) -> None:
    with base:
        base.execute("INSERT INTO moments VALUES (?, ?, ?, ?)", (name, moment.step, *written(moment)))


def _row(values: tuple[Any, ...]) -> Row:
    """A point as it was kept, its accuracies behind it; they and the losses of other questions come back as pairs."""
    point = _values(POINT, values[:-1], "more")
    said = "[]" if values[-1] is None else values[-1]
    right: Any = parse_json(said) if isinstance(said, str) else None
    if not has_form(right, [(str, float)]):
        raise ValueError(f"it says accuracy {said!r}")
    more = tuple((name, value) for name, value in point.pop("more"))
    return Row(**point, more=more, accuracy=tuple((name, share) for name, share in right))


def _write(base: sqlite3.Connection, name: str, last: Row, waiting: list[Row], state: str) -> None:
    """The waiting points, and how far the run is."""
    evaluated = [row for row in waiting if row.held_out is not None]
    held_out = evaluated[-1].held_out if evaluated else None
    right = [(name, row.step, json.dumps(row.accuracy)) for row in evaluated if row.accuracy]
    with base:
        base.executemany(
            "INSERT INTO points VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", [_point(name, row) for row in waiting]
        )
        base.executemany("INSERT INTO accuracies VALUES (?, ?, ?)", right)
        base.execute(
            "UPDATE runs SET step = ?, tokens = ?, seconds = ?, state = ?, held_out = coalesce(?, held_out) "
            "WHERE name = ?",
            (last.step, last.tokens, last.seconds, state, held_out, name),
        )
