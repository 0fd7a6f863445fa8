"""Seeds and comparisons as tasks of a Dask cluster (extra `cluster`), with the numbers of one process.

A task whose worker died is run again by another one: a seed goes on from its last checkpoint, so its folder must be one
that all workers see; a trial of a comparison, which is short, starts again. Dask is imported only when it is used.
"""

import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain
from threading import Lock
from typing import Any, TypeVar

import torch

from playground.errors import UserError
from playground.finetuning.run.trials import Keep, Trial, TrialData, TrialEvent, outcome_of
from playground.training.loop import Run
from playground.training.parallel.seeds import Finished, Point, train_seed
from playground.training.store.runs import Runs

T = TypeVar("T")

MALLOC, KEPT = ("MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_"), 2**28
"""Variables of glibc: bytes that a worker keeps. Dask sets 64 KiB, so every step would ask for its memory again."""

TRIAL_LOCK = Lock()
"""Held by the trial that runs: what trials share in one process is not safe for two threads of a worker."""


@contextmanager
def connected(address: str) -> Iterator[Any]:
    """A client of the Dask scheduler at an address, or of a cluster of this machine's own processes ("local")."""
    try:
        from dask import config
        from distributed import Client, LocalCluster
    except ImportError:
        raise UserError("Dask is missing; install it with: pip install 'pretraining-playground[cluster]'.") from None
    if address == "local":
        with config.set({f"distributed.nanny.pre-spawn-environ.{name}": KEPT for name in MALLOC}):
            cluster = LocalCluster(threads_per_worker=1, processes=True, dashboard_address=":0")
        with cluster, Client(cluster) as client:
            yield client
        return
    try:
        client = Client(address, timeout="10s")
    except (OSError, ValueError) as error:
        raise UserError(f"No Dask scheduler answers at {address!r} ({error}); write it as tcp://host:8786.") from error
    with client:
        if not client.nthreads():
            raise UserError(
                f"No worker has joined the Dask scheduler at {address!r}; start one: dask worker {address}."
            )
        yield client


def train_on(client: Any, run: Run, seeds: Sequence[int], runs: Runs | None = None) -> Iterator[Point | Finished]:
    """Train a run once for every seed; the points of a seed come when it is done, in the order of the seeds."""
    if run.out is None:
        raise UserError("A run on a cluster needs a folder that all its workers see, to resume where a worker died.")
    tasks = _submit(client, (replace(run, out=run.out.absolute()), runs), _seed, seeds)
    with _cancelled(client, tasks):
        for task in tasks:
            yield from task.result()


def run_on(client: Any, work: TrialData, trials: Sequence[Trial], keep: Keep) -> Generator[TrialEvent, None, None]:
    """The trials of a comparison, in the order of the trials; each outcome is kept at once."""
    from distributed import as_completed

    tasks = _submit(client, work, _run_trial, trials)
    number, done, turn = {task.key: k for k, task in enumerate(tasks)}, dict[int, list[TrialEvent]](), 0
    with _cancelled(client, tasks):
        for task, events in as_completed(tasks, with_results=True):
            done[number[task.key]] = events
            keep(trials[number[task.key]], outcome_of(events))
            while turn in done:
                yield from done.pop(turn)
                turn += 1


@contextmanager
def _cancelled(client: Any, tasks: Sequence[Any]) -> Iterator[None]:
    """Cancel the tasks in the end; `UserError` where workers die of a task, or the scheduler is lost."""
    from distributed.client import FutureCancelledError
    from distributed.scheduler import KilledWorker

    try:
        yield
    except KilledWorker as error:
        raise UserError(
            f"A worker died in each of {error.allowed_failures + 1} attempts at one task, perhaps for lack of memory; "
            "what was saved remains. Repeat the command, perhaps with fewer workers on a machine."
        ) from error
    except FutureCancelledError as error:
        raise UserError(
            "The Dask scheduler was lost. What was saved remains: start it and repeat the command."
        ) from error
    finally:
        client.cancel(tasks)


def _submit(client: Any, shared: Any, task: Callable[..., list[Any]], trials: Sequence[Any]) -> list[Any]:
    """The tasks of all trials; what they share is a task too, so that it survives the worker that holds it.

    It is one task for each worker. Dask sends a trial where its data are, and moves none before it knows how long one
    takes; with one copy all would wait for one worker.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sending large graph")
        workers = [*client.nthreads()][: len(trials)]
        sources = [client.submit(_same, shared, pure=False, workers=[w], allow_other_workers=True) for w in workers]
        return [client.submit(task, sources[k % len(sources)], trial, pure=False) for k, trial in enumerate(trials)]


def _same(shared: T) -> T:
    return shared


def _seed(shared: tuple[Run, Runs | None], seed: int) -> list[Point | Finished]:
    torch.set_num_threads(1)  # as in the worker processes of one machine
    run, runs = shared
    return list(chain.from_iterable(train_seed(run, seed, runs, resume=True)))


def _run_trial(work: TrialData, trial: Trial) -> list[TrialEvent]:
    torch.set_num_threads(1)
    with TRIAL_LOCK:
        return list(work.run(trial))
