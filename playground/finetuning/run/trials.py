"""Trials: one strategy with one seed each, one by one, in worker processes or stacked, with the same numbers."""

from collections.abc import Callable, Generator, Hashable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace

from playground.finetuning.data.dataset import Dataset
from playground.finetuning.run.base import Base
from playground.finetuning.run.measure import Result
from playground.finetuning.run.record import TrialRecord, write_outcome
from playground.finetuning.run.stacked import alike, bytes_of, tune_together, why_not_stackable
from playground.finetuning.run.trainer import FinetuneConfig
from playground.finetuning.run.tune import StepEvent, tune
from playground.finetuning.strategy.strategy import Strategy
from playground.training.memory import available, format_bytes, workers_that_fit
from playground.training.parallel.stacked import chosen_way, parted
from playground.training.parallel.workers import Executor, Processes


@dataclass(frozen=True)
class TrialEvent:
    """One strategy with one seed and so many labelled texts; `event` is its latest step or its outcome."""

    strategy: Strategy
    seed: int
    event: StepEvent | Result
    labels: int = 0


@dataclass(frozen=True)
class Trial:
    """A trial to run, and the key under which its outcome is kept."""

    strategy: Strategy
    seed: int
    labels: int
    setting: FinetuneConfig
    key: str = ""

    def event_of(self, event: StepEvent | Result) -> TrialEvent:
        return TrialEvent(self.strategy, self.seed, event, self.labels)


@dataclass(frozen=True)
class TrialData:
    """What the trials of a comparison share: the base, labelled texts by number and seed, unseen ones by seed.

    Every seed is tested on texts of its own, so that the spread between seeds holds the luck of the test too.
    """

    base: Base
    train: Mapping[tuple[int, int], Dataset]
    test: Mapping[int, Dataset]

    def run(self, trial: Trial) -> Iterator[TrialEvent]:
        train = self.train[trial.labels, trial.seed]
        return map(
            trial.event_of, tune(self.base, trial.strategy, train, self.test[trial.seed], trial.setting, trial.seed)
        )

    def travelling(self, trials: Sequence[Trial]) -> "TrialData":
        """The same for another process."""
        return replace(self, base=self.base.travelling(any(trial.strategy.rehearses for trial in trials)))


Keep = Callable[[Trial, Result], None]
"""Called with every outcome as soon as it is there, in any order."""


@dataclass(frozen=True)
class Stacks:
    """Which trials are stacked and which run in so many worker processes, and why, in sentences."""

    stacks: tuple[tuple[Trial, ...], ...]
    apart: tuple[Trial, ...]
    notices: tuple[str, ...] = ()
    workers: int = 1


def plan_stacks(work: TrialData, trials: Sequence[Trial], parallelism: str, workers: int = 1) -> Stacks:
    """Sort trials into stacks whose heads read alike, as large as the memory allows; the others run apart.

    On a CPU, where arithmetic and not the number of steps takes the time, only the seeds of one strategy share a stack,
    so that what is frozen is frozen for all of it.
    """
    device = work.base.learner.device
    free = available(device)
    if chosen_way(parallelism, device) == "processes":
        return _in_processes(work, trials, workers, free)
    why = {
        trial: why_not_stackable(work.base, trial.strategy, work.train[trial.labels, trial.seed]) for trial in trials
    }
    groups: dict[Hashable, list[Trial]] = {}
    for trial in trials:
        if not why[trial]:
            apart = trial.strategy if device.type == "cpu" else None
            groups.setdefault((trial.labels, apart, alike(trial.strategy, trial.setting)), []).append(trial)
    notices = {
        f"{trial.strategy.name} runs separately, not stacked: {reason}.": None
        for trial, reason in why.items()
        if reason
    }
    stacks = []
    for group in groups.values():
        need = max(bytes_of(work.base, work.train[trial.labels, trial.seed], trial.setting) for trial in group)
        parts = parted(group, need, free)
        if len(parts) > 1 and free is not None:
            notices |= {
                f"{len(group)} trainings would not fit in one stack: each needs about {format_bytes(need)} and "
                f"{format_bytes(free)} are free, so {len(parts[0])} at a time are stacked.": None
            }
        stacks += map(tuple, parts)
    apart = _in_processes(work, [trial for trial in trials if why[trial]], workers, free)
    return replace(apart, stacks=tuple(stacks), notices=(*notices, *apart.notices))


def _in_processes(work: TrialData, trials: Sequence[Trial], workers: int, free: int | None) -> Stacks:
    """All trials in worker processes, as many of them as fit into the memory."""
    need = max(
        (bytes_of(work.base, work.train[trial.labels, trial.seed], trial.setting) for trial in trials), default=0
    )
    fit, notice = workers_that_fit(need, min(workers, max(1, len(trials))), free)
    return Stacks((), tuple(trials), (notice,) if notice else (), fit)


def run(
    work: TrialData,
    trials: Sequence[Trial],
    workers: int,
    record: TrialRecord | None = None,
    executor: Executor | None = None,
    parallelism: str = "auto",
) -> Iterator[TrialEvent]:
    """The events of all trials, by an executor or by so many workers; of one that the record knows only the outcome.

    Trials apart come in the order of the trials. In a stack they advance together, and known outcomes come before.
    """
    record = record or TrialRecord()
    known = {trial: outcome for trial in trials if (outcome := record.outcome(trial.key))}
    waiting = [trial for trial in trials if trial not in known]

    def keep(trial: Trial, outcome: Result) -> None:
        about = {"strategy": trial.strategy.name, "seed": trial.seed, "labels": trial.labels}
        record.put(trial.key, write_outcome(outcome), **about)

    plan = plan_stacks(work, waiting, parallelism, workers) if executor is None else Stacks((), tuple(waiting))
    if plan.stacks:
        yield from (trial.event_of(outcome) for trial, outcome in known.items())
        for stack in plan.stacks:
            yield from _stacked(work, stack, keep)
        trials, known = plan.apart, {}
    if executor is None and plan.workers == 1:
        fresh = _one_by_one(work, plan.apart, keep)
    else:
        fresh = _by_executor(work, plan.apart, keep, executor or Processes(plan.workers))
    try:
        for trial in trials:
            if trial in known:
                yield trial.event_of(known[trial])
                continue
            for trial_event in fresh:
                yield trial_event
                if isinstance(trial_event.event, Result):
                    break
    finally:
        fresh.close()


def _stacked(work: TrialData, trials: Sequence[Trial], keep: Keep) -> Iterator[TrialEvent]:
    """The trials of one stack, step by step; at last their outcomes, in the order of the trials."""
    stack = [
        (trial.strategy, work.train[trial.labels, trial.seed], work.test[trial.seed], trial.seed) for trial in trials
    ]
    for number, event in tune_together(work.base, stack, trials[0].setting):
        if isinstance(event, Result):
            keep(trials[number], event)
        yield trials[number].event_of(event)


def _one_by_one(work: TrialData, trials: Sequence[Trial], keep: Keep) -> Generator[TrialEvent, None, None]:
    for trial in trials:
        for trial_event in work.run(trial):
            if isinstance(trial_event.event, Result):
                keep(trial, trial_event.event)
            yield trial_event


def _by_executor(
    work: TrialData, trials: Sequence[Trial], keep: Keep, executor: Executor
) -> Generator[TrialEvent, None, None]:
    """The same, the events of a trial at once when it is done; an outcome is kept as soon as it is there."""
    each = executor.run(
        trials, events_of, work.travelling(trials), lambda trial, events: keep(trial, outcome_of(events))
    )
    with closing(each):
        for events in each:
            yield from events


def outcome_of(events: Sequence[TrialEvent]) -> Result:
    """The outcome with which a trial ends."""
    last = events[-1].event
    assert isinstance(last, Result)
    return last


def events_of(work: TrialData, trial: Trial) -> list[TrialEvent]:
    """All events of a trial."""
    return list(work.run(trial))
