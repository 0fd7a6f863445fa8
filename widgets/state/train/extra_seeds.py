"""The other seeds of the run that is watched, which train alongside it."""

from typing import TYPE_CHECKING

from playground.training import Session
from playground.training.parallel.extra_seeds import ExtraSeeds
from playground.training.parallel.seeds import run_name
from playground.training.parallel.workers import spare
from widgets.state.train.kept_runs import extra_seeds
from widgets.state.train.saved_runs import new_folder

if TYPE_CHECKING:
    from widgets.state.train.store import TrainStore


def with_extra_seeds(train: "TrainStore", session: Session) -> Session:
    """The same session; the other seeds, where several are asked for, will train beside it."""
    if train.seeds > 1 and not train.quota.shared:
        run, seeds = session.run, range(train.seed + 1, train.seed + train.seeds)
        kept = train.runs.folder.absolute()
        folders = {seed: kept / new_folder(train.runs, run_name(run, seed)) for seed in seeds}
        busy = sum(some.workers for some in extra_seeds.values() if some.state == "running")
        workers = min(train.workers, spare(1 + busy))
        extra_seeds[session] = ExtraSeeds(run, seeds, workers, train.runs, folders, train.probe(run))
    return session


def siblings(train: "TrainStore") -> ExtraSeeds | None:
    """The other seeds of the run that is watched."""
    return None if train.session is None else extra_seeds.get(train.session)


def seeds_failed(train: "TrainStore") -> bool:
    """Whether an error stopped the other seeds of a run that was not stopped itself."""
    others, session = siblings(train), train.session
    return bool(others and others.error) and session.state != "failed" and session.reason != "asked"


def train_seeds_again(train: "TrainStore") -> None:
    """Train the other seeds that an error stopped once more."""
    if (others := siblings(train)) is not None:
        others.again()
        advance(train)


def advance(train: "TrainStore") -> None:
    """Let the other seeds do what the watched one does."""
    if (others := siblings(train)) is not None:
        others.follow(train.session)
