"""Worker processes: where possible copies of a process that has loaded torch (`forkserver`), which saves 3 seconds."""

import multiprocessing
import os
import pickle
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import wraps
from multiprocessing.connection import wait
from multiprocessing.context import BaseContext
from typing import Any, ParamSpec, Protocol, TypeVar, cast

import torch

P = ParamSpec("P")
T = TypeVar("T")
Job = TypeVar("Job")
Shared = TypeVar("Shared")

READY = "playground.training.parallel.seeds", "playground.finetuning.run.trials"
"""The modules that are loaded before a worker is copied."""


def context() -> BaseContext:
    """How worker processes begin; the process that is copied starts with the first of them and stays for later ones."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    forkserver = multiprocessing.get_context("forkserver")
    forkserver.set_forkserver_preload(list(READY))
    return forkserver


def pool(workers: int, data: Any, signals: Any = None) -> ProcessPoolExecutor:
    """So many workers with a copy of the data, and with signals, such as queues, which only a process can take along.

    Plain pickle copies tensors. The pickler of processes would move them into shared memory, where they stand in this
    process too, and a thread that reads them meanwhile would crash.
    """
    return ProcessPoolExecutor(workers, context(), _begin, (pickle.dumps(data), signals))


class Executor(Protocol):
    """Does independent jobs somewhere, with the numbers of one process that has one thread."""

    def run(
        self, jobs: Sequence[Job], task: Callable[[Shared, Job], T], shared: Shared, keep: Callable[[Job, T], None]
    ) -> Generator[T]:
        """`task(shared, job)` of every job, in their order; `keep` gets each result as soon as it is there."""
        ...


@dataclass(frozen=True)
class Processes:
    """An executor of so many processes, of which this one is the first; the others have a copy of what is shared."""

    number: int = 1

    def run(
        self, jobs: Sequence[Job], task: Callable[[Shared, Job], T], shared: Shared, keep: Callable[[Job, T], None]
    ) -> Generator[T]:
        if min(self.number, len(jobs)) > 1:
            yield from _in_processes(jobs, task, shared, self.number, keep)
            return
        for job in jobs:
            result = task(shared, job)
            keep(job, result)
            yield result


def _in_processes(
    jobs: Sequence[Job], task: Callable[[Shared, Job], T], shared: Shared, number: int, keep: Callable[[Job, T], None]
) -> Generator[T]:
    others = pool(min(number, len(jobs)) - 1, (task, shared))

    def send(job: Job) -> Future[T]:
        sent = others.submit(_task, job)
        sent.add_done_callback(lambda f: f.cancelled() or f.exception() or keep(job, f.result()))
        return sent

    try:
        sent, made = [send(job) for job in jobs], dict[int, T]()
        for turn in range(len(jobs)):
            while turn not in made and not sent[turn].done():
                mine = next((k for k in range(turn, len(jobs)) if k not in made and sent[k].cancel()), None)
                if mine is None:
                    break
                made[mine] = task(shared, jobs[mine])
                keep(jobs[mine], made[mine])
            yield made.pop(turn) if turn in made else sent[turn].result()
    finally:
        others.shutdown(cancel_futures=True)


def _task(job: Any) -> Any:
    """A job of `_in_processes` in another process."""
    (task, shared), _ = received()
    return task(shared, job)


_received: list[Any] = []


def received() -> Any:
    """The data and the signals of the `pool` to which this worker belongs."""
    return _received


def _begin(data: bytes, signals: Any) -> None:
    begin()
    end_with_parent()
    _received[:] = pickle.loads(data), signals


def spare(busy: int = 1) -> int:
    """Processors that are not busy, at least one."""
    return max(1, (os.cpu_count() or 1) - busy)


def begin() -> None:
    """What every worker does first: it uses one thread, since more would slow each other down."""
    torch.set_num_threads(1)


def end_with_parent() -> None:
    """End this worker when its parent process is killed; what was saved stays."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=lambda: (wait([parent.sentinel]), os._exit(1)), daemon=True).start()


@contextmanager
def as_worker() -> Iterator[None]:
    """Compute with one thread like a worker, so that the numbers are the same in every process."""
    threads = torch.get_num_threads()
    begin()
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def computed_as_worker(make: Callable[P, Generator[T]]) -> Callable[P, Generator[T]]:
    """A generator each of whose values is computed with one thread, whatever is done between two of them."""

    @wraps(make)
    def values(*given: P.args, **named: P.kwargs) -> Generator[T]:
        with closing(make(*given, **named)) as made:
            while True:
                with as_worker():
                    value = next(made, made)
                if value is made:
                    return
                yield cast(T, value)

    return values
