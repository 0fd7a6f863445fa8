"""Damaged records: the curve, the moments, the list of runs and the finished trials of a comparison."""

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

from safetensors.torch import load, save

from playground.finetuning.run.record import TrialRecord
from playground.training.observe import replay as moments
from playground.training.store.metrics import _keep_until
from playground.training.store.runs import FILE, Runs
from tests.fuzz import material, odd
from tests.fuzz.law import Case, Kind
from tests.fuzz.options import _called
from widgets.animation import replay
from widgets.state.train.store import TrainStore

RUN = Path("runs/run")


def draw(random: Random, home: Path) -> Case:
    """The folder of a run with one of its records damaged, and everything that reads it."""
    damage, act = random.choice(WAYS)
    material.put(material.comparison() if act in (_resumed, _compared) else material.story(), home)
    with closing(sqlite3.connect(Path("runs") / FILE)) as base, base:
        base.execute("UPDATE runs SET out = ?", (str(home / RUN),))
    done = damage(random)
    return Case(done, act)


# what is damaged


def _lines(name: str) -> Callable[[Random], str]:
    """A file with a line of JSON for each step or trial."""

    def damage(random: Random) -> str:
        path = Path(name)
        lines = path.read_text(encoding="utf-8").splitlines()
        if random.random() < 0.4:
            content, done = odd.spoiled(random, path.read_bytes())
            path.write_bytes(content)
            return f"{name} {done}"
        at = random.randrange(len(lines))
        if random.random() < 0.3:
            lines[at] = random.choice((json.dumps(odd.plain(random)), odd.nested(random), odd.value(random)))
            done = f"line {at} = {lines[at][:60]}"
        else:
            row, done = odd.replaced(random, json.loads(lines[at]))
            lines[at] = json.dumps(row)
        path.write_bytes("\n".join([*lines, ""]).encode(errors="surrogatepass"))
        return f"{name} line {at}: {done}"

    return damage


def _moments(random: Random) -> str:
    path = RUN / moments.FILE
    content = path.read_bytes()
    if random.random() < 0.3:
        damaged, done = odd.spoiled(random, content, random.choice((8, 400, 20_000, 0)))
    else:
        length = int.from_bytes(content[:8], "little")
        about, done = odd.replaced(
            random, json.loads(json.loads(content[8 : 8 + length])["__metadata__"]["playground"])
        )
        tensors = load(content)
        if random.random() < 0.2:
            name = random.choice(list(tensors))
            tensors[name] = random.choice((tensors[name][:1], tensors[name].flatten(), tensors[name].float()))
            done += f" and {name} {list(tensors[name].shape)}"
        damaged = save(tensors, {"playground": json.dumps(about)})
    path.write_bytes(damaged)
    return f"moments {done}"


def _list_of_runs(random: Random) -> str:
    path = Path("runs") / FILE
    if random.random() < 0.3:
        content, done = odd.spoiled(random, path.read_bytes(), random.choice((100, 0)))
        path.write_bytes(content)
        return f"{FILE} {done}"
    with closing(sqlite3.connect(path)) as base, base:
        table = random.choice(("runs", "points", "moments"))
        column = random.choice([row[1] for row in base.execute(f"PRAGMA table_info({table})")])
        new = _for_sqlite(random)
        rows = [row[0] for row in base.execute(f"SELECT rowid FROM {table}")]
        base.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = ?", (new, random.choice(rows)))
    return f"{table}.{column} = {str(new)[:60]!r}"


def _for_sqlite(random: Random) -> Any:
    new = random.choice((odd.plain(random), odd.number(random), odd.nested(random), json.dumps(odd.plain(random))))
    if isinstance(new, list | dict):
        return json.dumps(new)
    if isinstance(new, int) and abs(new) >= 2**63:
        return float(min(new, 10**300))
    return new.encode(errors="replace") if isinstance(new, str) and random.random() < 0.2 else new


def _folder(random: Random) -> str:
    """A file of the folder that is gone, empty, a folder itself, or garbage."""
    path = random.choice([p for p in Path("runs").rglob("*") if p.is_file()])
    path.unlink()
    match random.randrange(4):
        case 0:
            path.mkdir()
        case 1:
            path.write_bytes(b"")
        case 2:
            path.write_bytes(random.randbytes(300))
        case _:
            return f"{path} gone"
    return f"{path} is a folder" if path.is_dir() else f"{path} holds {path.stat().st_size} odd bytes"


# what reads it


def _replayed() -> None:
    replay.page(moments.load(RUN))


def _baked() -> None:
    _called(["bake", str(RUN), "-o", "page.html"])


def _cut() -> None:
    _keep_until(RUN / "metrics.jsonl", 2)


def _listed() -> None:
    runs = Runs("runs")
    for run in runs.all():
        runs.points(run.name)
        runs.moments(run.name)
    _called(["runs", "--runs", "runs", "--json"])
    _called(["runs", "run", "--runs", "runs"])


def _opened() -> None:
    """As the Train page lists the runs and takes one up again."""
    store = TrainStore(Path("runs"))
    for run in store.kept():
        store.open(run.name)
        store.leave()


def _compared() -> None:
    """What is left of a comparison goes on and ends."""
    _called([*material.COMPARE, "--resume"])


def _resumed() -> None:
    record = TrialRecord.open(Path("found"), resume=True)
    for key in record.known:
        record.outcome(key)


WAYS = (
    (_lines("runs/run/metrics.jsonl"), _replayed),
    (_lines("runs/run/metrics.jsonl"), _baked),
    (_lines("runs/run/metrics.jsonl"), _cut),
    (_lines(f"found/{TrialRecord.file}"), _resumed),
    (_lines(f"found/{TrialRecord.file}"), _compared),
    (_moments, _replayed),
    (_moments, _baked),
    (_list_of_runs, _listed),
    (_list_of_runs, _opened),
    (_folder, _listed),
    (_folder, _opened),
    (_folder, _baked),
)
RECORDS = Kind("records", 250, draw)
