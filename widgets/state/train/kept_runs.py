"""The runs that are kept: those of this process in memory, what their folder says of them, and how they compare."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import count
from pathlib import Path
from statistics import fmean
from tempfile import mkdtemp
from typing import Any
from weakref import WeakKeyDictionary, WeakValueDictionary

from playground import folders
from playground.errors import UserError
from playground.finetuning.comparing.significance import judge, leader, top_two
from playground.training import Session
from playground.training.curve import CurvePoint
from playground.training.observe.recording import Moment
from playground.training.parallel.extra_seeds import ExtraSeeds
from playground.training.store.runs import RunRow, Runs

live: WeakValueDictionary[Path, Session] = WeakValueDictionary()
"""The sessions of this process, by the folder of their run."""

owner: WeakKeyDictionary[Session, int] = WeakKeyDictionary()
"""Which visit ends a session: the one that watched it last."""

extra_seeds: WeakKeyDictionary[Session, ExtraSeeds] = WeakKeyDictionary()


@cache
def runs_folder() -> Path:
    """Where runs are kept: in the user's folder, or in a temporary one where nothing can be written."""
    folder = folders.runs_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / ".writable").touch()
        (folder / ".writable").unlink()
    except OSError:
        return Path(mkdtemp(prefix="playground-runs-"))
    return folder


def made(folder: Path) -> bool:
    """Make a folder; False where there is one, of whatever run, visit or program."""
    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        return False
    except OSError as error:
        raise UserError(f"The run cannot be saved in {folder.parent} ({error.strerror or error}).") from error
    return True


@dataclass(frozen=True)
class Past:
    """What is known of a run so far: the points of its curve and the moments of its replay."""

    rows: tuple[CurvePoint, ...] = ()
    moments: tuple[Moment, ...] = ()

    def until(self, step: int) -> "Past":
        """The same up to a step."""
        return Past(*(tuple(one for one in some if one.step <= step) for some in (self.rows, self.moments)))


NOTHING = Past()  # what is known of a run that has not begun


def with_parents(runs: Runs, name: str, read: Callable[[str], list[Any]]) -> list[Any]:
    """What there is of a run, behind what there was of its parent up to the fork."""
    kept, own = runs.find(name), read(name)
    if kept.parent is None or kept.forked_at is None:
        return own
    return [one for one in with_parents(runs, kept.parent, read) if one.step <= kept.forked_at] + own


def tree(runs: Sequence[RunRow]) -> list[tuple[int, RunRow]]:
    """The runs with their depth, every fork below the run that it left; the newest root first."""
    names = {run.name for run in runs}

    def below(run: RunRow, depth: int) -> Iterator[tuple[int, RunRow]]:
        yield depth, run
        for other in runs:
            if other.parent == run.name:
                yield from below(other, depth + 1)

    roots = [run for run in runs if run.parent is None or run.parent not in names]
    return [item for root in reversed(roots) for item in below(root, 0)]


def groups(runs: Sequence[RunRow]) -> dict[str, list[RunRow]]:
    """Runs that differ by nothing but their seed stand together, under the name of the first."""
    found: dict[tuple[str, int], list[RunRow]] = {}
    for run in runs:
        alike = json.dumps([run.entry, run.corpus, run.settings, run.parent, run.forked_at], sort_keys=True)
        keys = ((alike, number) for number in count())
        key = next(key for key in keys if run.seed not in {other.seed for other in found.get(key, ())})
        found.setdefault(key, []).append(run)
    titles = [_title(some) for some in found.values()]
    named = zip(titles, found.values(), strict=True)
    return {title if titles.count(title) == 1 else f"{title} ({some[0].name})": some for title, some in named}


def _title(some: Sequence[RunRow]) -> str:
    seeds = len({run.seed for run in some})
    return some[0].shown if seeds == 1 else f"{some[0].shown} and {seeds - 1} more seed{'s' * (seeds > 2)}"


def held_out_curves(curve: Callable[[str], Sequence[CurvePoint]], some: Sequence[RunRow]) -> dict[int, list[float]]:
    """The held-out losses of some runs at every step at which all of them were evaluated."""
    found: dict[int, list[float]] = {}
    for run in some:
        for row in curve(run.name):
            if row.held_out is not None:
                found.setdefault(row.step, []).append(row.held_out)
    most = max(map(len, found.values()), default=0)
    return {step: values for step, values in sorted(found.items()) if len(values) == most}


def noise(grouped: Mapping[str, Sequence[RunRow]]) -> str:
    """Whether the best group's lead on the next is larger than the noise between seeds (paired t-test)."""
    if len(grouped) < 2:
        return ""
    last = {name: {r.seed: r.held_out for r in some if r.held_out is not None} for name, some in grouped.items()}
    ranked = sorted((name for name in last if len(last[name]) > 1), key=lambda name: fmean(last[name].values()))
    best, second = (*ranked, "", "")[:2]
    common = sorted(set(last[best]) & set(last[second])) if second else []
    if len(common) < 2:
        return "Whether a difference is larger than the noise needs at least two seeds on both sides, the same ones."
    steps = {run.step for name in (best, second) for run in grouped[name] if run.seed in common}
    if len(steps) > 1:
        return f"These runs are at different steps ({', '.join(map(str, sorted(steps)))}); train them to the same step."
    values = {name: [-last[name][seed] for seed in common] for name in (best, second)}
    lead = leader(values, "group of runs", [*judge(values, top_two(values)).values()])
    return f"Held-out loss in {grouped[best][0].unit}: {lead}"
