"""Lanes: one strategy with one seed each, one after another or in worker processes, with the same numbers."""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing import get_context

import torch

from playground.example import Tokens
from playground.finetuning.base import Base
from playground.finetuning.labelled import Labelled
from playground.finetuning.record import Record, write_outcome
from playground.finetuning.strategy import Strategy
from playground.finetuning.tune import Outcome, Setting, Tuned, tune


@dataclass(frozen=True)
class Lane:
    """One strategy with one seed and so many labelled texts; `event` is its latest step or its outcome."""

    strategy: Strategy
    seed: int
    event: Tuned | Outcome
    labels: int = 0


@dataclass(frozen=True)
class Job:
    """A lane to run, and the key under which its outcome is kept."""

    strategy: Strategy
    seed: int
    labels: int
    setting: Setting
    key: str = ""

    def lane(self, event: Tuned | Outcome) -> Lane:
        """An event of this lane."""
        return Lane(self.strategy, self.seed, event, self.labels)


@dataclass(frozen=True)
class Work:
    """What all lanes of a comparison share: where they start, labelled texts by number and seed, the unseen texts."""

    base: Base
    train: Mapping[tuple[int, int], Labelled]
    test: Labelled

    def lane(self, job: Job) -> Iterator[Lane]:
        """The events of one lane."""
        train = self.train[job.labels, job.seed]
        for event in tune(self.base, job.strategy, train, self.test, job.setting, job.seed):
            yield job.lane(event)

    def travelling(self, jobs: Sequence[Job]) -> "Work":
        """The same, able to go to another process: what the jobs rehearse goes along, what is remembered stays."""
        rehearsed = any(job.strategy.rehearses for job in jobs)
        text = Text(self.base.rehearse() if rehearsed else self.base.held_out)
        return replace(self, base=replace(self.base, rehearsal=self.base.rehearsal and text, memory={}))


Keep = Callable[[Job, Outcome], None]
"""Called with every outcome as soon as it is there, whatever its turn."""

Elsewhere = Callable[[Work, Sequence[Job], Keep], Generator[Lane, None, None]]
"""Runs lanes on other machines and gives their events in the order of the jobs."""


def run(
    work: Work, jobs: Sequence[Job], workers: int, record: Record | None = None, elsewhere: Elsewhere | None = None
) -> Iterator[Lane]:
    """The events of all lanes, always in the order of the jobs; of a lane that the record knows only the outcome."""
    record = record or Record()
    known = {job.key: outcome for job in jobs if (outcome := record.outcome(job.key))}
    waiting = [job for job in jobs if job.key not in known]
    keep = partial(_keep, record)
    if elsewhere is not None:
        fresh = elsewhere(work.travelling(waiting), waiting, keep)
    else:
        fresh = _one_by_one(work, waiting, keep) if workers == 1 else _in_workers(work, waiting, keep, workers)
    try:
        for job in jobs:
            if job.key in known:
                yield job.lane(known[job.key])
                continue
            for lane in fresh:
                yield lane
                if isinstance(lane.event, Outcome):
                    break
    finally:
        fresh.close()


def _one_by_one(work: Work, jobs: Sequence[Job], keep: Keep) -> Generator[Lane, None, None]:
    for job in jobs:
        for lane in work.lane(job):
            if isinstance(lane.event, Outcome):
                keep(job, lane.event)
            yield lane


def _in_workers(work: Work, jobs: Sequence[Job], keep: Keep, workers: int) -> Generator[Lane, None, None]:
    """The same; an outcome is kept as soon as it is there, whatever its turn."""
    if not jobs:
        return
    pool = ProcessPoolExecutor(min(workers, len(jobs)), get_context("spawn"), _begin, (work.travelling(jobs),))

    def send(job: Job) -> Future[list[Lane]]:
        sent = pool.submit(_lane, job)
        sent.add_done_callback(lambda done: _done(done) and keep(job, outcome_of(done.result())))
        return sent

    try:
        for sent in [send(job) for job in jobs]:
            yield from sent.result()
    finally:
        pool.shutdown(cancel_futures=True)


def _done(sent: Future[list[Lane]]) -> bool:
    return not sent.cancelled() and sent.exception() is None


def outcome_of(events: Sequence[Lane]) -> Outcome:
    """The outcome with which a lane ends."""
    last = events[-1].event
    assert isinstance(last, Outcome)
    return last


def _keep(record: Record, job: Job, outcome: Outcome) -> None:
    record.put(job.key, write_outcome(outcome), strategy=job.strategy.name, seed=job.seed, labels=job.labels)


@dataclass(frozen=True)
class Text:
    """Text to rehearse that can travel to another process."""

    tokens: Tokens

    def __call__(self) -> Tokens:
        return self.tokens


_work: list[Work] = []


def _begin(work: Work) -> None:
    """What a worker does first: take what is shared; one thread each, for more would stand in each other's way."""
    torch.set_num_threads(1)
    _work[:] = [work]


def _lane(job: Job) -> list[Lane]:
    return list(_work[0].lane(job))
