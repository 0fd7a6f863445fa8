"""The runs of a folder in one SQLite file: their curves while they grow, their tree of forks, their checkpoints."""

import json
import os
import re
import shlex
import shutil
import sqlite3
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import closing, suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from functools import cache
from hashlib import sha256
from itertools import chain, count
from pathlib import Path
from typing import Any, TypeVar

import torch
from filelock import FileLock

from playground.corpora.sources import TEXTS, is_generated
from playground.errors import UserError
from playground.knob import as_written, spelt, written
from playground.objectives import mask_overrides
from playground.parsing import Form, form_of, has_form, parse_json
from playground.training import checkpoint
from playground.training.checkpoint import Checkpoint, kept
from playground.training.curve import Curve, CurvePoint
from playground.training.events import Evaluated, Started, Stepped, Stopped
from playground.training.loop import Run
from playground.training.observe.recording import Moment, from_json, to_json
from playground.training.store import lock
from playground.training.store.metrics import AnyEvent
from playground.training.train_state import TrainState
from playground.zoo import Entry, entry_named

T = TypeVar("T")

FILE = "runs.sqlite"

FORMAT = 4
"""Grows when the tables change."""

LONGEST_TITLE = 80
"""Characters of the title that a person gives a run."""

ROWS_AT_ONCE = 50
"""Points that are written together; they are always written before the checkpoint of their step."""

TABLES = """
CREATE TABLE IF NOT EXISTS runs (
  name TEXT PRIMARY KEY, entry TEXT, corpus TEXT, seed INTEGER, device TEXT, began TEXT, state TEXT,
  step INTEGER, tokens INTEGER, seconds REAL, held_out REAL, unigram_entropy REAL, entropy_bound REAL,
  parent TEXT, forked_at INTEGER, changed TEXT, out TEXT, settings TEXT,
  title TEXT DEFAULT '', error TEXT DEFAULT '');
CREATE TABLE IF NOT EXISTS points (
  run TEXT, step INTEGER, loss REAL, held_out REAL, tokens INTEGER, seconds REAL, more TEXT, scored INTEGER,
  flops REAL, accuracy TEXT, gauges TEXT);
CREATE INDEX IF NOT EXISTS points_of_run ON points (run, step);
CREATE TABLE IF NOT EXISTS moments (run TEXT, step INTEGER, kind TEXT, content TEXT);
CREATE INDEX IF NOT EXISTS moments_of_run ON moments (run, step);
"""

PAIRS = ("more", "accuracy", "gauges")
"""The columns of points that hold pairs of a name and a number."""

RUNNING = ".running"
"""The folder with the locks of the runs that are being recorded."""

PATIENCE = 5.0
"""Seconds to wait for the lock of a run, which who reads the list holds for a moment."""


@dataclass(frozen=True)
class Parent:
    """Where a fork comes from: the name of the run, the step, and what is different from there on."""

    run: str
    step: int
    changed: str


@dataclass(frozen=True)
class RunRow:
    """A run of the list."""

    name: str
    entry: str
    corpus: str
    seed: int
    device: str
    began: str
    """When it began (ISO 8601)."""
    state: str
    """`running`, `steps`, `seconds`, `diverged`, `asked`, `failed` or, if its process has ended, `cut off`."""
    step: int
    tokens: int
    """Tokens of text so far."""
    seconds: float
    """Training time."""
    held_out: float | None
    """Latest loss on held-out text for each scored position."""
    unigram_entropy: float | None
    """Entropy of the corpus, in nats for each token, if only the frequency of a token is known."""
    entropy_bound: float | None
    """Lowest loss in nats that the grammar of a generated corpus allows; null where it is not known."""
    parent: str | None
    """The run that a fork left."""
    forked_at: int | None
    """The step at which it left."""
    changed: str | None
    """What is different from there on."""
    out: str | None
    """The folder of the run."""
    settings: dict[str, Any]
    """The knobs of its recipe and objective, and its `mask_overrides`."""
    title: str = ""
    """What a person calls it."""
    error: str = ""
    """Why it failed; empty if it did not."""

    @property
    def shown(self) -> str:
        """What it is called on screen."""
        return self.title or self.name

    @property
    def unit(self) -> str:
        """The unit of its loss."""
        return _unit(self.entry, json.dumps(self.settings.get("objective", {})))

    @property
    def by_hand(self) -> str:
        """What was set by hand of its masks, in sentences; empty where nothing was, or this version cannot read it."""
        with suppress(UserError):
            return mask_overrides.describe(mask_overrides.from_json(self.settings.get("mask_overrides", [])))
        return ""

    @property
    def checkpoints(self) -> tuple[int, ...]:
        """The steps from which it can be forked, besides its latest."""
        return tuple(kept(Path(self.out))) if self.out else ()


FORMS: dict[str, dict[str, Form]] = {"runs": form_of(RunRow), "points": form_of(CurvePoint)}
"""The forms of the values in the columns of two tables."""

COLUMNS = {table: [name.removesuffix("?") for name in form] for table, form in FORMS.items()}

BY_STEP = {"points": ", ".join(COLUMNS["points"]), "moments": "step, kind, content"}
"""The tables that grow with the steps of a run, and their columns beside its name."""


class Runs:
    """The runs that were recorded in a folder, whether or not their process still runs."""

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder)

    def all(self) -> tuple[RunRow, ...]:
        """Every run, the oldest first."""
        if not (self.folder / FILE).is_file():
            return ()
        query = f"SELECT {', '.join(COLUMNS['runs'])} FROM runs ORDER BY began, rowid"
        return tuple(self._select(self._run, query))

    def _run(self, row: tuple[Any, ...]) -> RunRow:
        """A run from its row; it was cut off where no process records it any more."""
        run = RunRow(**_values("runs", row, "settings"))
        return replace(run, state="cut off") if run.state == "running" and not self._is_recorded(run.name) else run

    def _lock_file(self, name: str) -> Path:
        """The file whose lock a process holds while it records a run."""
        return self.folder / RUNNING / sha256(name.encode()).hexdigest()[:16]

    def _is_recorded(self, name: str) -> bool:
        """Whether a process records a run; asking makes no file."""
        file = self._lock_file(name)
        if not file.exists():
            return False
        held = lock.acquire(file)
        if held is not None:
            held.release()
        return held is None

    def find(self, name: str) -> RunRow:
        """One run by its name."""
        runs = {run.name: run for run in self.all()}
        if name not in runs:
            raise UserError(f"There is no run {name!r} in {self.folder}; there are: {', '.join(runs) or 'none'}.")
        return runs[name]

    def points(self, name: str, after: int = -1) -> list[CurvePoint]:
        """The curve of a run beyond a step; evaluations are points with `held_out` and without `loss`."""
        query = f"SELECT {BY_STEP['points']} FROM points WHERE run = ? AND step > ? ORDER BY step, rowid"
        return self._select(_point, query, name, after)

    def moments(self, name: str) -> list[Moment]:
        """The recorded moments of a run, in their order."""
        query = "SELECT kind, content FROM moments WHERE run = ? ORDER BY step, rowid"
        return list(filter(None, self._select(lambda row: from_json(*row), query, name)))

    def _select(self, read: Callable[[tuple[Any, ...]], T], query: str, *values: object) -> list[T]:
        """What a query finds, each row as `read` makes it."""
        base = self._open()
        try:
            with closing(base):
                return [read(row) for row in base.execute(query, values).fetchall()]
        except (sqlite3.Error, ValueError) as error:
            raise UserError(
                f"The list of runs {self.folder / FILE} is damaged ({error}). Move it away to begin a new list; the "
                "runs' own folders stay as they are."
            ) from error

    def load(self, name: str, step: int | None = None, device: torch.device | str = "cpu") -> Checkpoint:
        """A run at its latest checkpoint, or at an earlier one that was kept."""
        run = self.find(name)
        if run.out is None:
            raise UserError(f"The run {name} kept no checkpoint; give a run a folder (--out) to go back to it.")
        earlier = kept(Path(run.out))
        if step in earlier:
            return checkpoint.load(earlier[step], device)
        latest = checkpoint.load(Path(run.out), device)
        if step in (None, latest.learner.step):
            return latest
        steps = sorted({*earlier, latest.learner.step})
        raise UserError(f"The run {name} kept nothing of step {step}; it kept {', '.join(map(str, steps))}.")

    def rename(self, name: str, title: str) -> None:
        """Give a run a title in lists; its name and its folder stay. An empty title removes it."""
        self.find(name)
        title = " ".join(title.split())
        if len(title) > LONGEST_TITLE:
            raise UserError(f"The title has {len(title)} characters; use at most {LONGEST_TITLE}.")
        with closing(self._open()) as base, base:
            base.execute("UPDATE runs SET title = ? WHERE name = ?", (title, name))

    def delete(self, name: str) -> str:
        """Delete a run and its folder within the list's, and say what stays; its forks keep what they need of it."""
        run = self.find(name)
        if run.state == "running":
            raise UserError(f"{run.shown} is being trained; stop it before it is deleted.")
        forks = [fork for fork in self.all() if fork.parent == name]
        with closing(self._open()) as base, base:
            for fork in forks:
                _inherit(base, run, fork)
            for table in BY_STEP:
                base.execute(f"DELETE FROM {table} WHERE run = ?", (name,))
            base.execute("DELETE FROM runs WHERE name = ?", (name,))
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

    def new_name(self, preferred: str) -> str:
        """The name, with a number behind it where it is taken."""
        taken = {run.name for run in self.all()}
        names = chain([preferred], (f"{preferred}-{number}" for number in count(2)))
        return next(name for name in names if name not in taken)

    def name_of(self, folder: Path) -> str:
        """The name of a run that is kept in a folder: its last part within the list's own folder, else its path."""
        return folder.name if folder.absolute().parent == self.folder.absolute() else folder.as_posix()

    def adopt(self, other: "Runs", name: str) -> str:
        """Copy a run of another list, with its folder, its curve and its moments; the name that it has here."""
        found, new = other.find(name), self.new_name(name)
        if found.out is None or not os.path.isdir(found.out):
            raise UserError(f"The run {name} in {other.folder} has no folder any more; train it again.")
        folder = (self.folder / new).absolute()
        columns = ", ".join(column for column in COLUMNS["runs"] if column not in ("name", "out"))
        try:
            shutil.copytree(found.out, folder)
            with closing(self._open()) as base:
                base.execute("ATTACH DATABASE ? AS other", (str(other.folder / FILE),))
                with base:
                    base.execute(
                        f"INSERT INTO runs (name, out, {columns}) "
                        f"SELECT ?, ?, {columns} FROM other.runs WHERE name = ?",
                        (new, str(folder), name),
                    )
                    for table, steps in BY_STEP.items():
                        base.execute(
                            f"INSERT INTO {table} (run, {steps}) SELECT ?, {steps} FROM other.{table} WHERE run = ?",
                            (new, name),
                        )
        except (OSError, sqlite3.Error) as error:
            raise UserError(f"The run {name} could not be copied to {self.folder} ({error}).") from error
        return new

    def _check(self) -> None:
        """Refuse a list that cannot be opened or, where there is none, be made."""
        if os.path.exists(self.folder / FILE):
            self._open().close()
        above = next(each for each in (self.folder, *self.folder.absolute().parents) if os.path.exists(each))
        if not (above.is_dir() and os.access(above, os.W_OK)):
            raise UserError(f"The list of runs in {self.folder / FILE} cannot be made; give a writable folder.")

    def recorded(
        self, name: str, run: Run, events: Iterable[AnyEvent], parent: Parent | None = None
    ) -> Generator[AnyEvent]:
        """The same events, written down as they pass; of a run that goes on, what lies after its step is dropped."""
        self._check()  # before the run writes anything
        try:
            with _Recorder(self, name, run, parent) as recorder:
                for event in events:
                    recorder.record(event)
                    yield event
        except sqlite3.Error as error:
            raise UserError(f"The list of runs in {self.folder / FILE} cannot be written ({error}).") from error

    def _open(self) -> sqlite3.Connection:
        """The database, made where there is none; several processes may write at once."""
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
            raise UserError(f"The list of runs in {self.folder / FILE} cannot be opened ({error}).") from error
        return base


@dataclass
class _Recorder:
    """Writes one run into the database; `waiting` are points that are not written yet, `last` is the latest point."""

    runs: Runs
    name: str
    run: Run
    parent: Parent | None
    base: sqlite3.Connection | None = None
    held: FileLock | None = None
    learner: TrainState | None = None
    curve: Curve = field(default_factory=Curve)
    waiting: list[CurvePoint] = field(default_factory=list)

    def __enter__(self) -> "_Recorder":
        return self

    def __exit__(self, _: object, end: BaseException | None, __: object) -> None:
        """Write the last points and, where the events ended early, how: they failed, or were closed."""
        try:
            if self.base is not None:
                self._end(self.base, end)
        finally:
            if self.held is not None:
                self.held.release()

    def _end(self, base: sqlite3.Connection, end: BaseException | None) -> None:
        with closing(base):
            if end is not None:
                failed = isinstance(end, Exception)
                broken = failed and not isinstance(end, UserError)  # perhaps the device, which is asked nothing more
                self.waiting += [] if broken else self.curve.rest()
                self._write(base, "failed" if failed else "asked")
                with base:
                    error = (str(end) or type(end).__name__) if failed else ""
                    base.execute("UPDATE runs SET error = ? WHERE name = ?", (error, self.name))

    def record(self, event: object) -> None:
        """Take one event, and write where a number of points, an evaluation, a checkpoint or the end is reached."""
        if isinstance(event, Started):
            self._begin(event)
        if self.base is None or self.learner is None:
            return
        self.waiting += self.curve.read(event)
        if isinstance(event, Moment):
            with self.base as base:
                base.execute("INSERT INTO moments VALUES (?, ?, ?, ?)", (self.name, event.step, *to_json(event)))
        saves = isinstance(event, Stepped) and event.step % self.run.save_every == 0
        if saves or isinstance(event, Evaluated | Stopped) or len(self.waiting) >= ROWS_AT_ONCE:
            self._write(self.base, event.reason if isinstance(event, Stopped) else "running")

    def _begin(self, started: Started) -> None:
        run, learner, parent = self.run, started.learner, self.parent
        self.held = lock.acquire(self.runs._lock_file(self.name), PATIENCE)
        if self.held is None:
            raise UserError(f"The run {self.name} is being trained already; wait until it is done, or stop it.")
        values = {
            "name": self.name,
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
            "error": "",
        }
        if parent is not None:
            values |= {"parent": parent.run, "forked_at": parent.step, "changed": parent.changed}
        goes_on = learner.step and (parent is None or learner.step != parent.step)
        updates = ", ".join(f"{k} = excluded.{k}" for k in values if not (goes_on and k == "began"))
        base = self.runs._open()
        with base:
            for table in BY_STEP:
                last = learner.step if goes_on else -1
                base.execute(f"DELETE FROM {table} WHERE run = ? AND step > ?", (self.name, last))
            insert = f"INSERT INTO runs ({', '.join(values)}) VALUES ({', '.join(f':{k}' for k in values)})"
            base.execute(f"{insert} ON CONFLICT (name) DO UPDATE SET {updates}", values)
        self.base, self.learner = base, learner
        last = CurvePoint(learner.step, None, None, learner.tokens, learner.seconds, (), learner.scored)
        before = self.runs.points(self.name if parent is None else parent.run) if learner.step else []
        for point in (point for point in before if point.step == learner.step):
            last = replace(last, flops=point.flops)
        self.curve = Curve(last, learner)

    def _write(self, base: sqlite3.Connection, state: str) -> None:
        """Write the waiting points, and how far the run is."""
        evaluated, last = [row for row in self.waiting if row.held_out is not None], self.curve.last
        held_out = evaluated[-1].held_out if evaluated else None
        points = [
            vars(row) | {"run": self.name} | {name: json.dumps(getattr(row, name)) for name in PAIRS}
            for row in self.waiting
        ]
        columns = ["run", *COLUMNS["points"]]
        insert = f"INSERT INTO points ({', '.join(columns)}) VALUES ({', '.join(f':{name}' for name in columns)})"
        with base:
            base.executemany(insert, points)
            base.execute(
                "UPDATE runs SET step = ?, tokens = ?, seconds = ?, state = ?, held_out = coalesce(?, held_out) "
                "WHERE name = ?",
                (last.step, last.tokens, last.seconds, state, held_out, self.name),
            )
        self.waiting = []


def _check_format(base: sqlite3.Connection, path: Path) -> None:
    both = "SELECT (SELECT user_version FROM pragma_user_version), (SELECT count(*) FROM sqlite_master)"
    version, tables = base.execute(both).fetchone()  # at once, since another process may be making the list
    if tables and version != FORMAT:
        base.close()
        raise UserError(
            f"The list of runs {path} has format {version}; this version reads format {FORMAT}. Move it away to begin "
            "a new list; the runs' own folders stay as they are."
        )


def _inherit(base: sqlite3.Connection, run: RunRow, fork: RunRow) -> None:
    """Give a fork the points and moments of the run that it left, up to there, and its place in the tree."""
    for table, columns in BY_STEP.items():
        base.execute(
            f"INSERT INTO {table} (run, {columns}) SELECT ?, {columns} FROM {table} WHERE run = ? AND step <= ?",
            (fork.name, run.name, fork.forked_at),
        )
    changed = f"left {run.shown}, which was deleted, at step {fork.forked_at}: {fork.changed}"
    changed = f"{run.changed}; {changed}" if run.changed else changed
    base.execute(
        "UPDATE runs SET parent = ?, forked_at = ?, changed = ? WHERE name = ?",
        (run.parent, run.forked_at, changed, fork.name),
    )


def _values(table: str, row: Sequence[Any], *json_columns: str) -> dict[str, Any]:
    """The values of a row by their columns, some of which hold JSON."""
    values = dict(zip(COLUMNS[table], row, strict=True))
    for name in json_columns:
        values[name] = parse_json(values[name]) if isinstance(values[name], str) else None
    if not has_form(values, FORMS[table]):
        raise ValueError(f"it says {', '.join(f'{name} {value!r}' for name, value in list(values.items())[:8])}")
    return values


def _point(row: tuple[Any, ...]) -> CurvePoint:
    """A point from its row; losses, accuracies and gauges are pairs of a name and a number."""
    point = _values("points", row, *PAIRS)
    point |= {name: tuple(map(tuple, point[name])) for name in PAIRS}
    return CurvePoint(**point)


def settings(entry: Entry) -> dict[str, Any]:
    """The values of the knobs of an entry's recipe and objective, and the rules set by hand."""
    return {
        "recipe": asdict(entry.recipe),
        "objective": {name: k.default for name, k in entry.objective.knobs.items()},
        "mask_overrides": mask_overrides.to_json(entry.mask_overrides),
    }


@cache
def _unit(entry: str, knobs: str) -> str:
    """The unit of the loss of an entry with the knobs of its objective; that of one's own is taken for nats."""
    with suppress(UserError):
        return entry_named(entry).asking(json.loads(knobs)).unit()
    return "nats"


def command(run: Run) -> str:
    """The command that trains a run again from its first step; empty where its text is neither generated nor a file.

    A text that was pasted is read from a file of its name.
    """
    corpus = re.sub(r"^pasted text(?=$|\()", "pasted text.txt", run.corpus.name)
    if not (is_generated(corpus) or Path(spelt(corpus)[0]).suffix.lower() in TEXTS):
        return ""
    entry, usual = run.entry, entry_named(run.entry.name)
    parts = ((entry.model, usual.model), (entry.recipe, usual.recipe))
    turned = "\n".join(written(part, "\n", declared) for part, declared in parts).split("\n")
    known = usual.objective.knobs
    turned += [
        f"{k}={as_written(v.default)}" for k, v in entry.objective.knobs.items() if v.default != known[k].default
    ]
    words = ["playground", "train", entry.name, "--corpus", corpus, "--seed", str(run.seed)]
    rules = json.dumps(mask_overrides.to_json(entry.mask_overrides))
    words += ["--mask-overrides", rules] if entry.mask_overrides else []
    return shlex.join([*words, *(word for knob in turned if knob for word in ("--set", knob))])
