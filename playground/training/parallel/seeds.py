"""Many seeds of one run: one after another, in worker processes or stacked, with the same numbers and one band."""

import json
import queue
import time
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import chain
from multiprocessing.queues import Queue
from multiprocessing.synchronize import Event as Signal
from pathlib import Path
from statistics import fmean, stdev
from typing import TypedDict

from playground.batch import Tokens
from playground.errors import UserError
from playground.objectives.mask_overrides import describe, to_json
from playground.training import checkpoint
from playground.training.curve import Curve, CurvePoint
from playground.training.events import Event
from playground.training.loop import Run, events_of, prepared, train
from playground.training.memory import available, estimate, format_bytes, workers_that_fit
from playground.training.observe import replay
from playground.training.observe.recording import Film, Moment, with_moments
from playground.training.parallel.stacked import chosen_way, parted
from playground.training.parallel.stacked_seeds import SeedStack, hindrance
from playground.training.parallel.workers import Executor, context, pool, received
from playground.training.store.lock import claimed
from playground.training.store.metrics import RunFacts, Summary, recorded
from playground.training.store.runs import Parent, Runs
from playground.training.train_state import TrainState

SENT_EVERY = 0.1
"""Seconds between two messages of a worker."""


@dataclass(frozen=True)
class Point:
    """A new point on the curve of one seed."""

    seed: int
    row: CurvePoint


@dataclass(frozen=True)
class Finished:
    """One seed is done; `facts` are the JSON keys of `playground train`."""

    seed: int
    facts: RunFacts


@dataclass(frozen=True)
class Band:
    """The held-out loss of several seeds at one step."""

    step: int
    mean: float
    sd: float
    """Sample standard deviation; 0 for one seed."""
    seeds: int


class MeanAndSd(TypedDict):
    """A measure over the seeds."""

    mean: float
    """The mean over the seeds."""

    sd: float
    """The sample standard deviation between the seeds; 0 where there is one seed."""

    values: list[float]
    """The value of each seed, in the order of the seeds."""


def spread(values: Sequence[float]) -> MeanAndSd:
    """Mean, sample standard deviation (0 for a single value) and the values themselves."""
    return {"mean": fmean(values), "sd": stdev(values) if len(values) > 1 else 0.0, "values": list(values)}


def spread_if_measured(values: Sequence[float | None]) -> MeanAndSd | None:
    """The same, None where a value was not measured."""
    measured = [value for value in values if value is not None]
    return spread(measured) if len(measured) == len(values) else None


def bands(points: Iterable[Point]) -> tuple[Band, ...]:
    """The band over the seeds at every evaluated step, of the points so far."""
    losses: dict[int, dict[int, float]] = {}
    for point in points:
        if point.row.held_out is not None:
            losses.setdefault(point.row.step, {})[point.seed] = point.row.held_out
    values = {step: spread([by_seed[seed] for seed in sorted(by_seed)]) for step, by_seed in sorted(losses.items())}
    return tuple(Band(step, each["mean"], each["sd"], len(each["values"])) for step, each in values.items())


def plan(run: Run, workers: int, seeds: int) -> tuple[int, str]:
    """How many workers fit into the memory, with a sentence where they are fewer than asked for."""
    need = estimate(run.entry, len(run.corpus.tokenizer))
    return workers_that_fit(need, min(seeds, workers), available(run.device))


Points = Sequence[Point | Finished]
"""What is known after one event of one seed: of a GPU often nothing yet, then the points of some steps at once."""


@dataclass(frozen=True)
class Observer:
    """Signals to seeds that train beside other work: whether they may `go` on, and when they shall `halt`.

    Each seed writes into its folder, with a `film` its moments too; its replay shows `text`, or a held-out one.
    """

    folders: Mapping[int, Path]
    go: Signal
    halt: Signal
    film: Film | None = None
    text: Tokens | None = None

    @classmethod
    def of(cls, folders: Mapping[int, Path], film: Film | None = None, text: Tokens | None = None) -> "Observer":
        """Signals for seeds that may go on."""
        made = cls(folders, context().Event(), context().Event(), film, text)
        made.go.set()
        return made

    def controlled(self, points: Generator[Points]) -> Generator[Points]:
        """The same points, held up after each event while they may not go on; they end by themselves on a halt."""
        with closing(points):
            for some in points if not self.halt.is_set() else ():
                yield some
                while not (self.go.wait(0.1) or self.halt.is_set()):
                    pass


def train_seeds(
    run: Run, seeds: Sequence[int], workers: int = 1, runs: Runs | None = None, resume: bool = False,
    parallelism: str = "auto", observer: Observer | None = None, executor: Executor | None = None,
) -> Iterator[Point | Finished]:  # fmt: skip
    """Train a run once for every seed, in folders of their own beneath `run.out`; points come as they are made.

    The numbers of a seed are the same however many workers (processes with one thread) there are, and but for rounding
    where `parallelism` is "vmap". With `resume`, seeds go on from their checkpoints; with an `observer` they train in
    workers. An `executor` trains them elsewhere, in folders that it sees too; all points of a seed come at its end.
    """
    if not seeds or workers < 1:
        raise UserError(f"seeds are {list(seeds)} and workers {workers}; at least one of each is needed.")
    if len(set(seeds)) < len(seeds):
        raise UserError(f"The seeds {list(seeds)} name one twice; every seed gives one run.")
    if executor is not None:
        yield from _train_elsewhere(run, seeds, executor, runs)
        return
    parts, _ = stacks(run, seeds, parallelism)
    number = 0 if parts else plan(run, workers, len(seeds))[0]
    if parts:
        for part in parts:
            points = _train_stacked(run, part, runs, resume, observer)
            yield from chain.from_iterable(points if observer is None else observer.controlled(points))
    elif number == 1 and observer is None:
        for seed in seeds:
            yield from chain.from_iterable(train_seed(run, seed, runs, resume))
    else:
        yield from _train_in_workers(run, seeds, max(1, number), runs, resume, observer)


def _train_elsewhere(
    run: Run, seeds: Sequence[int], executor: Executor, runs: Runs | None
) -> Iterator[Point | Finished]:
    if run.out is None:
        raise UserError("A run on a cluster needs a folder that all its workers see, to resume where a worker died.")
    shared = replace(run, out=run.out.absolute()), runs
    yield from chain.from_iterable(executor.run(seeds, _whole_seed, shared, lambda *_: None))


def _whole_seed(shared: tuple[Run, Runs | None], seed: int) -> list[Point | Finished]:
    run, runs = shared
    return [*chain.from_iterable(train_seed(run, seed, runs, resume=True))]


def stacks(run: Run, seeds: Sequence[int], way: str = "auto") -> tuple[list[Sequence[int]], str]:
    """Which seeds are trained as one stack, none where they run apart, with a sentence where that was not asked for."""
    if chosen_way(way, run.device) == "processes":
        return [], ""
    if reason := hindrance(prepared(run)):
        return [], f"The seeds run separately, not stacked: {reason}."
    need, free = estimate(run.entry, len(run.corpus.tokenizer)), available(run.device)
    parts = parted(seeds, need, free)
    if len(parts) == 1 or free is None:
        return parts, ""
    return parts, (
        f"{len(seeds)} seeds would not fit in one stack: each needs about {format_bytes(need)} and "
        f"{format_bytes(free)} are free, so {len(parts[0])} at a time are stacked."
    )


def train_seed(
    run: Run, seed: int, runs: Runs | None = None, resume: bool = False, observer: Observer | None = None
) -> Generator[Points]:
    """The points of one seed after each event, and its facts; the moments of its replay are kept."""
    with ExitStack() as locks:
        run, learner = _prepare(run, seed, resume, observer, locks)
        yield from _points(run, train(run, learner), learner, runs, observer, replayed=True)


def _train_stacked(
    run: Run, seeds: Sequence[int], runs: Runs | None, resume: bool, observer: Observer | None
) -> Generator[Points]:
    """Several seeds as one stack; in a round, those that are behind take one step each, and another one begins."""
    with ExitStack() as locks:
        owns = [_prepare(run, seed, resume, observer, locks) for seed in seeds]
        states = [prepared(own, learner) for own, learner in owns]
        SeedStack(states)
        going = [
            (state, _points(own, events_of(state), learner, runs, observer))
            for state, (own, learner) in zip(states, owns, strict=True)
        ]
        while going:
            step = min(state.learner.step for state, _ in going)
            for state, points in going:
                for some in points if state.learner.step == step else ():
                    yield some
                    if state.learner.step > step:
                        break
            going = [each for each in [*going[1:], going[0]] if each[0].learner.step > step]


def _prepare(
    run: Run, seed: int, resume: bool, observer: Observer | None, locks: ExitStack
) -> tuple[Run, TrainState | None]:
    """The run of one seed in a folder that no other run writes, and its learner where it goes on."""
    run = replace(run, seed=seed)
    if observer is not None or run.out is None:
        return replace(run, out=observer.folders.get(seed) if observer else None), None
    out = run.out / run_name(run, seed)
    if resume and out.exists():
        run = replace(run, out=out)
        return run, resumed(run)
    return replace(run, out=locks.enter_context(claimed(out))), None


def _points(
    run: Run, events: Iterable[Event], learner: TrainState | None, runs: Runs | None, observer: Observer | None,
    replayed: bool = False,
) -> Generator[Points]:  # fmt: skip
    """The points of one seed after each event, which is written down as it trains, and its facts."""
    summary, curve, seed = Summary(run), Curve(), run.seed
    film, text = (observer.film, observer.text) if observer else (None, None)
    moments = with_moments(run, events, film) if film else events

    try:
        for event in followed(run, moments, learner, runs, replayed=replayed, text=text):
            summary.read(event)
            yield [Point(seed, point) for point in curve.read(event)]
            if observer is not None and observer.halt.is_set():
                yield [Point(seed, point) for point in curve.rest()]
                return
    except UserError:
        yield [Point(seed, point) for point in curve.rest()]
        raise
    yield [Finished(seed, summary.facts())]


def run_name(run: Run, seed: int) -> str:
    """The name of one seed's run and of its folder; rules set by hand are a hash behind it."""
    rules = json.dumps(to_json(run.entry.mask_overrides))
    digest = f"-{sha256(rules.encode()).hexdigest()[:6]}" if run.entry.mask_overrides else ""
    return f"{run.entry.name}-{Path(run.corpus.name).stem}-seed{seed}{digest}".replace(" ", "_")


def resumed(run: Run) -> TrainState | None:
    """The learner of a run's folder, ready to go on; None where nothing was kept before the run was cut off."""
    assert run.out is not None
    began = (run.out / "metrics.jsonl").is_file()
    if began and not (run.out / "checkpoint.safetensors").is_file():
        return None
    saved = checkpoint.load(run.out, run.device)
    learner = saved.learner
    if saved.corpus.hash != run.corpus.hash:
        raise UserError(
            f"The run in {run.out} was trained on other text (content {saved.corpus.hash[:8]}, not "
            f"{run.corpus.hash[:8]}); give the same corpus to continue."
        )
    if learner.seed != run.seed:
        raise UserError(
            f"The run in {run.out} has seed {learner.seed}, not {run.seed}; give the same seed to continue."
        )
    if learner.entry.mask_overrides != run.entry.mask_overrides:
        rules = describe(learner.entry.mask_overrides) or "none"
        raise UserError(f"The run in {run.out} has other mask overrides ({rules}); give the same to continue.")
    return learner


def followed(
    run: Run, events: Iterable[Event | Moment], learner: TrainState | None, runs: Runs | None,
    parent: Parent | None = None, replayed: bool = False, text: Tokens | None = None,
) -> Iterator[Event | Moment]:  # fmt: skip
    """The events of a run, written into its folder and into the list of runs.

    Of a run that goes on with a `learner`, unless it is the fork of a `parent`, what lies after its step is dropped.
    `replayed` keeps the moments of its replay, of this text or a held-out one.
    """
    resumed_at = learner.step if learner and parent is None else 0
    events = recorded(run, events, resumed_at)
    if replayed:
        events = replay.watched(run, events, text)
    if runs is None:
        return events
    name = runs.new_name(run_name(run, run.seed)) if run.out is None else runs.name_of(run.out)
    return runs.recorded(name, run, events, parent)


def _train_in_workers(
    run: Run, seeds: Sequence[int], number: int, runs: Runs | None, resume: bool, observer: Observer | None
) -> Iterator[Point | Finished]:
    points: Queue[list[Point]] = context().Queue()
    filmed, signals = (), ()
    if observer is not None:
        filmed, signals = (observer.folders, observer.film, observer.text), (observer.go, observer.halt)
    workers = pool(number, (run, runs, resume, filmed), (points, signals))
    try:
        waiting = [workers.submit(_train_in_worker, seed) for seed in seeds]
        while waiting:
            yield from _received(points)
            for future in [future for future in waiting if future.done()]:
                yield from _received(points)  # all of its points come before its end
                waiting.remove(future)
                if (finished := future.result()) is not None:
                    yield finished
    except BrokenProcessPool:
        raise UserError(
            "A worker process was killed, perhaps for lack of memory. What was saved remains: train with the same "
            "options and resume, perhaps with fewer workers."
        ) from None
    finally:
        workers.shutdown(cancel_futures=True)


def _received(points: "Queue[list[Point]]") -> Iterator[Point]:
    """What the workers have sent; waits a little where there is nothing."""
    try:
        yield from points.get(timeout=SENT_EVERY)
        while True:
            yield from points.get_nowait()
    except queue.Empty:
        return


def _train_in_worker(seed: int) -> Finished | None:
    """Train one seed and send its points; None where it was halted."""
    (run, runs, resume, filmed), (points, signals) = received()
    observer = Observer(filmed[0], *signals, *filmed[1:]) if filmed else None
    waiting: list[Point] = []
    sent = time.monotonic()
    trained = train_seed(run, seed, runs, resume, observer)
    for some in trained if observer is None else observer.controlled(trained):
        for event in some:
            if isinstance(event, Finished):
                points.put(waiting)
                return event
            waiting.append(event)
        if time.monotonic() - sent > SENT_EVERY:
            points.put(waiting)
            waiting, sent = [], time.monotonic()
    points.put(waiting)
    return None
