"""Seeds and comparisons as a graph of tasks: every lane is a task, and what all share is a task before them.

A task whose worker died is taken up by another one: a seed goes on from its last checkpoint, so its folder must be one
that all workers see; a lane of a comparison, which is short, begins anew. The numbers are the same as in one process.
"""

import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from threading import Lock
from typing import Any, TypeVar

from playground.errors import Refusal
from playground.finetuning.run.scheduler import Keep, Trial, TrialData, TrialEvent, outcome_of
from playground.training.loop import Run
from playground.training.parallel.seeds import Finished, Point, lane
from playground.training.store.runs import Runs

T = TypeVar("T")

IN_TURN = Lock()
"""What lanes share in one process is not made for two threads of a worker at once."""


@contextmanager
def connected(address: str) -> Iterator[Any]:
    """A client of the Dask scheduler at an address, or of a cluster of this machine's own processes ("local")."""
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        raise Refusal(
            "Dask is not installed; install it with: pip install 'pretraining-playground[cluster]'."
        ) from None
    if address == "local":
        cluster = LocalCluster(threads_per_worker=1, processes=True, dashboard_address=":0")
        with cluster, Client(cluster) as client:
            yield client
        return
    try:
        client = Client(address, timeout="10s")
    except (OSError, ValueError) as error:
        raise Refusal(
            f"No Dask scheduler answers at {address!r} ({error}); give one such as tcp://host:8786."
        ) from error
    with client:
        yield client


def train_on(client: Any, run: Run, seeds: Sequence[int], runs: Runs | None = None) -> Iterator[Point | Finished]:
    """Train a run once for every seed; the points of a seed come when it is done, in the order of the seeds."""
    if run.out is None:
        raise Refusal("A run on a cluster needs a folder that all its workers see, to go on where a worker died.")
    run = replace(run, out=run.out.absolute())
    yield from _gathered(client, (run, runs), _seed, [(seed,) for seed in seeds])


def lanes(client: Any, work: TrialData, jobs: Sequence[Trial], keep: Keep) -> Generator[TrialEvent, None, None]:
    """The lanes of a comparison, in the order of the jobs; an outcome is kept as soon as it is there."""
    from distributed import as_completed

    tasks = _sent(client, work, _lane, [(job,) for job in jobs])
    number, found, turn = {task.key: k for k, task in enumerate(tasks)}, dict[int, list[TrialEvent]](), 0
    try:
        for task, events in as_completed(tasks, with_results=True):
            found[number[task.key]] = events
            keep(jobs[number[task.key]], outcome_of(events))
            while turn in found:
                yield from found.pop(turn)
                turn += 1
    finally:
        client.cancel(tasks)


def _gathered(client: Any, shared: Any, task: Callable[..., list[T]], jobs: Sequence[tuple[Any, ...]]) -> Iterator[T]:
    """What the tasks give, job by job."""
    tasks = _sent(client, shared, task, jobs)
    try:
        for done in tasks:
            yield from done.result()
    finally:
        client.cancel(tasks)


def _sent(client: Any, shared: Any, task: Callable[..., list[T]], jobs: Sequence[tuple[Any, ...]]) -> list[Any]:
    """The tasks of all jobs; what is shared can be made again if the worker that holds it dies."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sending large graph")
        source = client.submit(_same, shared, pure=False)
        return [client.submit(task, source, *job, pure=False) for job in jobs]


def _same(shared: T) -> T:
    return shared


def _seed(shared: tuple[Run, Runs | None], seed: int) -> list[Point | Finished]:
    _alone()
    run, runs = shared
    return list(lane(run, seed, runs, resume=True))


def _lane(work: TrialData, job: Trial) -> list[TrialEvent]:
    _alone()
    with IN_TURN:
        return list(work.lane(job))


def _alone() -> None:
    """One thread for each task, as in the worker processes of one machine."""
    import torch

    torch.set_num_threads(1)
