"""What is done with the runs that are kept in a folder: they are opened, renamed, deleted and replayed."""

from collections.abc import Generator, Iterable, Sequence
from dataclasses import replace
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from playground.batch import Tokens
from playground.devices import pick
from playground.errors import UserError
from playground.training import Run, Session
from playground.training.curve import CurvePoint
from playground.training.observe import replay as moments
from playground.training.observe.replay import Replay
from playground.training.own_text import corpus_of
from playground.training.session import Record
from playground.training.store import ready_made
from playground.training.store.metrics import recorded
from playground.training.store.ready_made import ReadyMade
from playground.training.store.runs import Parent, Runs
from playground.training.train_state import TrainState
from widgets.state.job import as_trouble
from widgets.state.train.kept_runs import Past, live, made, with_parents

if TYPE_CHECKING:
    from widgets.state.train.store import TrainStore


@as_trouble
def rename(train: "TrainStore", name: str, title: str) -> None:
    """Change the title of a kept run in the list."""
    train.runs.rename(name, title)


@as_trouble
def delete(train: "TrainStore", names: Sequence[str]) -> None:
    """Delete kept runs with their checkpoints; none of them where one must stay."""
    for name in names:
        alive = live.get((train.runs.folder / name).absolute())
        if name == train.name_of_run and train.session is not None:
            raise UserError(f"{name} is on screen; open another run, or press Reset, before it is deleted.")
        if alive is not None and not alive.halted and alive.state in ("ready", "running", "paused"):
            raise UserError(f"{name} is open in another visit and may continue there; it is not deleted.")
        if train.runs.find(name).state == "running":
            raise UserError(f"{name} is being trained; stop it before it is deleted.")
    train.notice = " ".join(filter(None, map(train.runs.delete, names)))


def replay(train: "TrainStore", name: str = "") -> Replay:
    """What was recorded of a kept run, or of the one on screen."""
    name = name or train.name_of_run
    out = train.runs.find(name).out if name else None
    if out is None:
        raise UserError("There is no run on screen with a recording; press Train, or open a saved run.")
    return moments.load(Path(out))


def ready_made_run(train: "TrainStore") -> ReadyMade | None:
    """The ready-made checkpoint of what is chosen, if it is there."""
    try:
        made = ReadyMade(train.chosen, train.corpus_name, train.seed)
        return made if ready_made.facts(made) is not None else None
    except UserError:
        return None


@as_trouble
def open_ready_made(train: "TrainStore") -> Session | None:
    """Take the ready-made checkpoint of what is chosen up as a run of one's own, unless it was before."""
    made = ready_made_run(train)
    if made is None:
        raise UserError("Nothing ready-made is there for what is chosen now; press Train.")
    before = {run.name for run in train.runs.all() if run.step == made.steps}
    name = made.name if made.name in before else train.runs.adopt(ready_made.kept(), made.name)
    session = train.open(name)
    train.notice = f"This run is the ready-made checkpoint {made.name}."
    return session


def at_rest(train: "TrainStore", name: str, runs: Runs) -> Session:
    """A kept run at its last checkpoint, beside the run on screen, which goes on; it is read and never written."""
    run, learner = saved(train, name, runs)
    run = replace(run, out=Path(runs.find(name).out or name))
    return Session(run, begin=learner, rows=with_parents(runs, name, runs.points))


def saved(train: "TrainStore", name: str, runs: Runs) -> tuple[Run, TrainState]:
    """A kept run and its model at the last checkpoint."""
    checkpoint = runs.load(name, device=pick(train.device))
    learner = checkpoint.learner
    return Run(learner.entry, corpus_of(checkpoint), learner.seed, learner.device), learner


def curve(train: "TrainStore", name: str) -> list[CurvePoint]:
    """The points of a run; before a fork those of the run that it left."""
    return with_parents(train.runs, name, train.runs.points)


def past(train: "TrainStore", name: str) -> Past:
    """What is known of a run; before a fork what is known of the run that it left."""
    return Past(tuple(curve(train, name)), tuple(with_parents(train.runs, name, train.runs.moments)))


def new_folder(runs: Runs, preferred: str) -> str:
    """A name that no run has, its folder made at once so that no other visit takes it."""
    names = chain([preferred], (f"{preferred}-{number}" for number in count(2)))
    return next(name for name in names if made(runs.folder / name))


def recorder(runs: Runs, name: str, parent: Parent | None, resumed_at: int, text: Tokens) -> Record:
    """What writes a run down: its curve, the moments of its replay, and its place in the list."""

    def record(run: Run, events: Iterable[Any]) -> Generator[Any]:
        measured = recorded(run, events, resumed_at)
        return runs.recorded(name, run, moments.watched(run, measured, text), parent)

    return record
