"""A Dask cluster (extra `cluster`) that does the jobs of worker processes, with the numbers of one process.

A job whose worker died is done again by another one: a seed goes on from its last checkpoint, so its folder must be one
that all workers see; a trial of a comparison, which is short, starts again. Dask is imported only when it is used.
"""

import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock
from typing import Any, TypeVar

import torch

from playground.errors import UserError

T = TypeVar("T")
Job = TypeVar("Job")
Shared = TypeVar("Shared")

MALLOC, KEPT = ("MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_"), 2**28
"""Variables of glibc: bytes that a worker keeps. Dask sets 64 KiB, so every step would ask for its memory again."""

LOCK = Lock()
"""Held by the job that runs: what jobs share in one process is not safe for two threads of a worker."""


@dataclass(frozen=True)
class Cluster:
    """The workers of a Dask cluster as an executor; a job whose worker died is done again by another one."""

    client: Any

    def run(
        self, jobs: Sequence[Job], task: Callable[[Shared, Job], T], shared: Shared, keep: Callable[[Job, T], None]
    ) -> Generator[T]:
        from distributed import as_completed

        tasks = self._submit(jobs, task, shared)
        number, done, turn = {each.key: k for k, each in enumerate(tasks)}, dict[int, T](), 0
        with _cancelled(self.client, tasks):
            for each, result in as_completed(tasks, with_results=True):
                done[number[each.key]] = result
                keep(jobs[number[each.key]], result)
                while turn in done:
                    yield done.pop(turn)
                    turn += 1

    def _submit(self, jobs: Sequence[Job], task: Callable[[Shared, Job], T], shared: Shared) -> list[Any]:
        """The tasks of all jobs; what they share is a task too, so that it survives the worker that holds it.

        It is one task for each worker. Dask sends a job where its data are, and moves none before it knows how long one
        takes; with one copy all would wait for one worker.
        """
        submit = self.client.submit
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Sending large graph")
            workers = [*self.client.nthreads()][: len(jobs)]
            sources = [submit(_same, shared, pure=False, workers=[w], allow_other_workers=True) for w in workers]
            return [submit(_done, task, sources[k % len(sources)], job, pure=False) for k, job in enumerate(jobs)]


@contextmanager
def connected(address: str) -> Iterator[Cluster]:
    """The workers of the Dask scheduler at an address, or a cluster of this machine's own processes ("local")."""
    try:
        from dask import config
        from distributed import Client, LocalCluster
    except ImportError:
        raise UserError("Dask is missing; install it with: pip install 'pretraining-playground[cluster]'.") from None
    if address == "local":
        with config.set({f"distributed.nanny.pre-spawn-environ.{name}": KEPT for name in MALLOC}):
            cluster = LocalCluster(threads_per_worker=1, processes=True, dashboard_address=":0")
        with cluster, Client(cluster) as client:
            yield Cluster(client)
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
        yield Cluster(client)


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


def _same(shared: Shared) -> Shared:
    return shared


def _done(task: Callable[[Shared, Job], T], shared: Shared, job: Job) -> T:
    torch.set_num_threads(1)  # as in the worker processes of one machine
    with LOCK:
        return task(shared, job)
