"""Lanes: one strategy with one seed each, one by one, in worker processes or stacked, with the same numbers."""

from collections.abc import Callable, Generator, Hashable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace

from playground.finetuning.data.dataset import Dataset
from playground.finetuning.run.base import Base
from playground.finetuning.run.record import Record, write_outcome
from playground.finetuning.run.stacked import alike, bytes_of, tune_together, why_not_stackable
from playground.finetuning.run.trainer import FinetuneConfig, Result, StepEvent, tune
from playground.finetuning.strategy.strategy import Strategy
from playground.training.memory import available, format_bytes, workers_that_fit
from playground.training.parallel.stacked import chosen_way, parted
from playground.training.parallel.workers import pool, received


@dataclass(frozen=True)
class TrialEvent:
    """One strategy with one seed and so many labelled texts; `event` is its latest step or its outcome."""

    strategy: Strategy
    seed: int
    event: StepEvent | Result
    labels: int = 0


@dataclass(frozen=True)
class Trial:
    """A lane to run, and the key under which its outcome is kept."""

    strategy: Strategy
    seed: int
    labels: int
    setting: FinetuneConfig
    key: str = ""

    def lane(self, event: StepEvent | Result) -> TrialEvent:
        return TrialEvent(self.strategy, self.seed, event, self.labels)


@dataclass(frozen=True)
class TrialData:
    """What the lanes of a comparison share: the base, labelled texts by number and seed, unseen ones by seed.

    Every seed is tested on texts of its own, so that the spread between seeds holds the luck of the test too.
    """

    base: Base
    train: Mapping[tuple[int, int], Dataset]
    test: Mapping[int, Dataset]

    def lane(self, job: Trial) -> Iterator[TrialEvent]:
        train = self.train[job.labels, job.seed]
        return map(job.lane, tune(self.base, job.strategy, train, self.test[job.seed], job.setting, job.seed))

    def travelling(self, jobs: Sequence[Trial]) -> "TrialData":
        """The same for another process."""
        return replace(self, base=self.base.travelling(any(job.strategy.rehearses for job in jobs)))


Keep = Callable[[Trial, Result], None]
"""Called with every outcome as soon as it is there, in any order."""

Elsewhere = Callable[[TrialData, Sequence[Trial], Keep], Generator[TrialEvent, None, None]]
"""Runs lanes on other machines and gives their events in the order of the jobs."""


@dataclass(frozen=True)
class Stacks:
    """Which trials are stacked and which run in so many worker processes, and why, in sentences."""

    stacks: tuple[tuple[Trial, ...], ...]
    apart: tuple[Trial, ...]
    notices: tuple[str, ...] = ()
    workers: int = 1


def plan_stacks(work: TrialData, jobs: Sequence[Trial], parallelism: str, workers: int = 1) -> Stacks:
    """Sort lanes into stacks whose heads read alike, as large as the memory allows; the others run apart.

    On a CPU, where arithmetic and not the number of steps takes the time, only the seeds of one strategy share a stack,
    so that what is frozen is frozen for all of it.
    """
    device = work.base.learner.device
    free = available(device)
    if chosen_way(parallelism, device) == "processes":
        return _in_processes(work, jobs, workers, free)
    why = {job: why_not_stackable(work.base, job.strategy, work.train[job.labels, job.seed]) for job in jobs}
    groups: dict[Hashable, list[Trial]] = {}
    for job in jobs:
        if not why[job]:
            apart = job.strategy if device.type == "cpu" else None
            groups.setdefault((job.labels, apart, alike(job.strategy, job.setting)), []).append(job)
    notices = {
        f"{job.strategy.name} runs separately, not stacked: {reason}.": None for job, reason in why.items() if reason
    }
    stacks = []
    for group in groups.values():
        need = max(bytes_of(work.base, work.train[job.labels, job.seed], job.setting) for job in group)
        parts = parted(group, need, free)
        if len(parts) > 1 and free is not None:
            notices |= {
                f"{len(group)} trainings would not fit in one stack: each needs about {format_bytes(need)} and "
                f"{format_bytes(free)} are free, so {len(parts[0])} at a time are stacked.": None
            }
        stacks += map(tuple, parts)
    apart = _in_processes(work, [job for job in jobs if why[job]], workers, free)
    return replace(apart, stacks=tuple(stacks), notices=(*notices, *apart.notices))


def _in_processes(work: TrialData, jobs: Sequence[Trial], workers: int, free: int | None) -> Stacks:
    """All trials in worker processes, as many of them as fit into the memory."""
    need = max((bytes_of(work.base, work.train[job.labels, job.seed], job.setting) for job in jobs), default=0)
    fit, notice = workers_that_fit(need, min(workers, max(1, len(jobs))), free)
    return Stacks((), tuple(jobs), (notice,) if notice else (), fit)


def run(
    work: TrialData,
    jobs: Sequence[Trial],
    workers: int,
    record: Record | None = None,
    elsewhere: Elsewhere | None = None,
    parallelism: str = "auto",
) -> Iterator[TrialEvent]:
    """The events of all lanes; of a lane that the record knows only the outcome.

    Lanes apart come in the order of the jobs. In a stack they advance together, and known outcomes come before.
    """
    record = record or Record()
    known = {job: outcome for job in jobs if (outcome := record.outcome(job.key))}
    waiting = [job for job in jobs if job not in known]

    def keep(job: Trial, outcome: Result) -> None:
        about = {"strategy": job.strategy.name, "seed": job.seed, "labels": job.labels}
        record.put(job.key, write_outcome(outcome), **about)

    plan = plan_stacks(work, waiting, parallelism, workers) if elsewhere is None else Stacks((), tuple(waiting))
    if plan.stacks:
        yield from (job.lane(outcome) for job, outcome in known.items())
        for stack in plan.stacks:
            yield from _stacked(work, stack, keep)
        jobs, known = plan.apart, {}
    if elsewhere is not None:
        fresh = elsewhere(work.travelling(plan.apart), plan.apart, keep)
    else:
        alone = plan.workers == 1
        fresh = _one_by_one(work, plan.apart, keep) if alone else _in_workers(work, plan.apart, keep, plan.workers)
    try:
        for job in jobs:
            if job in known:
                yield job.lane(known[job])
                continue
            for lane in fresh:
                yield lane
                if isinstance(lane.event, Result):
                    break
    finally:
        fresh.close()


def _stacked(work: TrialData, jobs: Sequence[Trial], keep: Keep) -> Iterator[TrialEvent]:
    """The lanes of one stack, step by step; at last their outcomes, in the order of the jobs."""
    lanes = [(job.strategy, work.train[job.labels, job.seed], work.test[job.seed], job.seed) for job in jobs]
    for number, event in tune_together(work.base, lanes, jobs[0].setting):
        if isinstance(event, Result):
            keep(jobs[number], event)
        yield jobs[number].lane(event)


def _one_by_one(work: TrialData, jobs: Sequence[Trial], keep: Keep) -> Generator[TrialEvent, None, None]:
    for job in jobs:
        for lane in work.lane(job):
            if isinstance(lane.event, Result):
                keep(job, lane.event)
            yield lane


def _in_workers(work: TrialData, jobs: Sequence[Trial], keep: Keep, workers: int) -> Generator[TrialEvent, None, None]:
    """The same in so many processes, of which this one is the first; an outcome is kept as soon as it is there."""
    if not jobs:
        return
    others = pool(workers - 1, work.travelling(jobs))

    def send(job: Trial) -> Future[list[TrialEvent]]:
        sent = others.submit(_lane, job)
        sent.add_done_callback(lambda f: f.cancelled() or f.exception() or keep(job, outcome_of(f.result())))
        return sent

    try:
        sent, here = [send(job) for job in jobs], dict[int, list[TrialEvent]]()
        for turn in range(len(jobs)):
            while turn not in here and not sent[turn].done():
                mine = next((k for k in range(turn, len(jobs)) if k not in here and sent[k].cancel()), None)
                if mine is None:
                    break
                here[mine] = list(_one_by_one(work, [jobs[mine]], keep))
            yield from here.pop(turn) if turn in here else sent[turn].result()
    finally:
        others.shutdown(cancel_futures=True)


def outcome_of(events: Sequence[TrialEvent]) -> Result:
    """The outcome with which a lane ends."""
    last = events[-1].event
    assert isinstance(last, Result)
    return last


def _lane(job: Trial) -> list[TrialEvent]:
    work, _ = received()
    return list(work.lane(job))
