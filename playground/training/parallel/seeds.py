"""Many seeds of one run: one after another, in worker processes or stacked, with the same numbers and one band."""

import queue
import time
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from dataclasses import dataclass, replace
from multiprocessing.queues import Queue
from multiprocessing.synchronize import Event as Signal
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from playground.batch import Tokens
from playground.errors import Refusal
from playground.training import checkpoint
from playground.training.events import Evaluated, Event, Stepped
from playground.training.loop import Run, events_of, prepared, train
from playground.training.memory import available, estimate, said, workers_that_fit
from playground.training.observe import replay
from playground.training.observe.recording import Film, Moment, told
from playground.training.parallel.stacked import chosen_way, parted
from playground.training.parallel.stacked_seeds import Stack, hindrance
from playground.training.parallel.workers import begin, context, end_with_parent
from playground.training.session import Row
from playground.training.store.lock import claimed, release
from playground.training.store.metrics import Summary, recorded
from playground.training.store.runs import Runs
from playground.training.train_state import TrainState

SENT_EVERY = 0.1
"""Seconds between two messages of a worker: the curve grows live, and the pipe stays idle."""


@dataclass(frozen=True)
class Point:
    """A new point on the curve of one seed."""

    seed: int
    row: Row


@dataclass(frozen=True)
class Finished:
    """One seed is done; `facts` are the promised keys of `playground train`."""

    seed: int
    facts: dict[str, Any]


@dataclass(frozen=True)
class Band:
    """The held-out loss at one step: mean and sample standard deviation (0 for one seed) over so many seeds."""

    step: int
    mean: float
    sd: float
    seeds: int


def bands(points: Iterable[Point]) -> tuple[Band, ...]:
    """The band over the seeds at every evaluated step, of the points so far."""
    found: dict[int, dict[int, float]] = {}
    for point in points:
        if point.row.held_out is not None:
            found.setdefault(point.row.step, {})[point.seed] = point.row.held_out
    return tuple(_band(step, [row[seed] for seed in sorted(row)]) for step, row in sorted(found.items()))


def _band(step: int, values: Sequence[float]) -> Band:
    return Band(step, fmean(values), stdev(values) if len(values) > 1 else 0.0, len(values))


def plan(run: Run, workers: int, seeds: int) -> tuple[int, str]:
    """How many workers have room, with a sentence where they are fewer than asked for."""
    words, free = len(run.corpus.tokenizer), available(run.device)
    fit = min(seeds, workers_that_fit(run.entry, words, workers, free))
    if fit == min(seeds, workers) or free is None:
        return fit, ""
    need = said(estimate(run.entry, words).total)
    return fit, f"{workers} workers would not fit: each needs about {need} and {said(free)} are free, so {fit} work."


@dataclass(frozen=True)
class Replayed:
    """That the moments of a run are kept for its replay, and the text that is watched (None: a held-out one)."""

    text: Tokens | None = None


@dataclass(frozen=True)
class Observer:
    """Seeds that train beside other work of this process, in folders that are theirs already.

    Somebody outside says whether they may go on and when they shall halt; every one obeys after the step that it takes.
    With a `film` their story is told and kept; their replays watch `text`, or a held-out one where there is none.
    """

    folders: Mapping[int, Path]
    go: Signal
    halt: Signal
    film: Film | None = None
    text: Tokens | None = None

    @classmethod
    def of(cls, folders: Mapping[int, Path], film: Film | None = None, text: Tokens | None = None) -> "Observer":
        """Seeds that may go on."""
        made = cls(folders, context().Event(), context().Event(), film, text)
        made.go.set()
        return made

    def obeyed(self, events: Generator[Point | Finished]) -> Generator[Point | Finished]:
        """The same events, held up while they may not go on, cut off where they shall halt."""
        with closing(events):
            while not self.halt.is_set() and (event := next(events, None)) is not None:
                yield event
                while not (self.go.wait(0.1) or self.halt.is_set()):
                    pass


def train_seeds(
    run: Run,
    seeds: Sequence[int],
    workers: int = 1,
    runs: Runs | None = None,
    resume: bool = False,
    parallelism: str = "auto",
    beside: Observer | None = None,
) -> Iterator[Point | Finished]:
    """Train a run once for every seed, in folders of their own beneath `run.out`; points come as they are made.

    Each worker is a process with one thread. The numbers of a seed are the same however many workers there are, and
    but for rounding the same where `parallelism` is "vmap" (so is "auto" on CUDA): all models as one.
    With `resume`, seeds that have a checkpoint go on from it. Those `beside` other work train in workers.
    """
    if not seeds or workers < 1:
        raise Refusal(f"seeds are {list(seeds)} and workers {workers}; at least one of each is needed.")
    if len(set(seeds)) < len(seeds):
        raise Refusal(f"The seeds {list(seeds)} name one twice; every seed gives one run.")
    parts, _ = stacks(run, seeds, parallelism)
    if parts:
        for part in parts:
            together = _stacked(run, part, runs, resume, beside)
            yield from together if beside is None else beside.obeyed(together)
        return
    number = plan(run, workers, len(seeds))[0]
    if number == 1 and beside is None:
        for seed in seeds:
            yield from lane(run, seed, runs, resume)
        return
    yield from _in_workers(run, seeds, max(1, number), runs, resume, beside)


def stacks(run: Run, seeds: Sequence[int], way: str = "auto") -> tuple[list[Sequence[int]], str]:
    """Which seeds are trained as one stack, none where they run apart, with a sentence where that was not asked for."""
    if chosen_way(way, run.device) == "processes":
        return [], ""
    if reason := hindrance(prepared(run)):
        return [], f"The seeds run apart, not stacked: {reason}."
    need, free = estimate(run.entry, len(run.corpus.tokenizer)).total, available(run.device)
    parts = parted(seeds, need, free)
    if len(parts) == 1 or free is None:
        return parts, ""
    return parts, (
        f"{len(seeds)} seeds would not fit in one stack: each needs about {said(need)} and {said(free)} are free, so "
        f"{len(parts[0])} at a time are stacked."
    )


def lane(
    run: Run, seed: int, runs: Runs | None = None, resume: bool = False, beside: Observer | None = None
) -> Generator[Point | Finished]:
    """The points of one seed, and its facts."""
    run, learner = _own(run, seed, resume, beside)
    events = _told(run, train(run, learner), beside)
    yield from _points(run, events, learner, runs, Replayed(beside.text if beside else None))


def _stacked(
    run: Run, seeds: Sequence[int], runs: Runs | None, resume: bool, beside: Observer | None = None
) -> Generator[Point | Finished]:
    """Several seeds as one stack: those that are behind take a step each in turn, and every one begins a round once."""
    owns = [_own(run, seed, resume, beside) for seed in seeds]
    courses = [prepared(*own) for own in owns]
    Stack(courses)
    going = [
        (course, _points(own, _told(own, events_of(course), beside), learner, runs))
        for course, (own, learner) in zip(courses, owns, strict=True)
    ]
    while going:
        step = min(course.learner.step for course, _ in going)
        for course, points in going:
            for point in points if course.learner.step == step else ():
                yield point
                if course.learner.step > step:
                    break
        going = [each for each in [*going[1:], going[0]] if each[0].learner.step > step]


def _own(run: Run, seed: int, resume: bool, beside: Observer | None = None) -> tuple[Run, TrainState | None]:
    """The run of one seed in a folder that no other run writes, and its learner where it goes on."""
    run = replace(run, seed=seed)
    if beside is not None or run.out is None:
        return replace(run, out=beside.folders.get(seed) if beside else None), None
    out = run.out / lane_name(run, seed)
    if resume and out.exists():
        run = replace(run, out=out)
        return run, resumed(run)
    return replace(run, out=claimed(out)), None


def _told(run: Run, events: Iterable[Event], beside: Observer | None) -> Iterable[Event | Moment]:
    """The events, and between them the moments of the story where it is wanted."""
    return events if beside is None or beside.film is None else told(run, events, beside.film)


def _points(
    run: Run, events: Iterable[Event | Moment], learner: TrainState | None, runs: Runs | None,
    replayed: Replayed | None = None,
) -> Generator[Point | Finished]:  # fmt: skip
    """What the events of one seed say, in short."""
    summary, last, seed = Summary(run), Row(0, None, None, 0, 0.0), run.seed
    try:
        for event in followed(run, events, learner, runs, replayed):
            summary.read(event)
            if isinstance(event, Stepped):
                last = Row.of(event)
                yield Point(seed, last)
            if isinstance(event, Evaluated):
                yield Point(seed, replace(last, step=event.step, loss=None, held_out=event.held_out, more=()))
    finally:
        if run.out is not None:
            release(run.out)
    yield Finished(seed, summary.facts())


def lane_name(run: Run, seed: int) -> str:
    """The name of one seed's run and of its folder."""
    return f"{run.entry.name}-{Path(run.corpus.name).stem}-seed{seed}".replace(" ", "_")


def resumed(run: Run) -> TrainState | None:
    """The learner of a run's folder, ready to go on; None where nothing was kept before the run was cut off."""
    assert run.out is not None
    began = (run.out / "metrics.jsonl").is_file()
    if began and not (run.out / "checkpoint.safetensors").is_file():
        return None
    saved = checkpoint.load(run.out, run.device)
    if saved.corpus.hash != run.corpus.hash:
        raise Refusal(
            f"The run in {run.out} was trained on other text (content {saved.corpus.hash[:8]}, not "
            f"{run.corpus.hash[:8]}); give the same corpus to go on."
        )
    if saved.learner.seed != run.seed:
        raise Refusal(
            f"The run in {run.out} has seed {saved.learner.seed}, not {run.seed}; give the same seed to go on."
        )
    return saved.learner


def followed(
    run: Run, events: Iterable[Event | Moment], learner: TrainState | None, runs: Runs | None,
    replayed: Replayed | None = None,
) -> Iterator[Event | Moment]:  # fmt: skip
    """The events of a run, written into its folder and into the list of runs, and `replayed` where that is wanted."""
    written = recorded(run, events if runs is None else runs.opened(events), learner.step if learner else 0)
    if replayed is not None:
        written = replay.watched(run, written, replayed.text)
    if runs is None:
        return written
    return runs.recorded(name_in(runs, run), run, written)


def name_in(runs: Runs, run: Run) -> str:
    """A run in the folder of the list is called after its own folder, one elsewhere by its path."""
    if run.out is None:
        return runs.new_name(lane_name(run, run.seed))
    return run.out.name if run.out.absolute().parent == runs.folder.absolute() else run.out.as_posix()


def _in_workers(
    run: Run, seeds: Sequence[int], number: int, runs: Runs | None, resume: bool, beside: Observer | None = None
) -> Iterator[Point | Finished]:
    started = context()
    points: Queue[list[Point]] = started.Queue()
    pool = ProcessPoolExecutor(number, started, _begin, (run, runs, resume, beside, points))
    try:
        done: list[Future[Finished | None]] = [pool.submit(_lane, seed) for seed in seeds]
        told: set[int] = set()
        while len(told) < len(seeds):
            yield from _received(points)
            for k, future in enumerate(done):
                if k not in told and future.done():
                    yield from _received(points)
                    told.add(k)
                    if (finished := future.result()) is not None:
                        yield finished
    except BrokenProcessPool:
        raise Refusal(
            "A worker process ended by force, perhaps for want of memory. What was saved is kept: train with the same "
            "options and resume, perhaps with fewer workers."
        ) from None
    finally:
        pool.shutdown(cancel_futures=True)


def _received(points: "Queue[list[Point]]") -> Iterator[Point]:
    """What the workers have sent; waits a little where there is nothing."""
    try:
        yield from points.get(timeout=SENT_EVERY)
        while True:
            yield from points.get_nowait()
    except queue.Empty:
        return


_shared: list[Any] = []


def _begin(*shared: Any) -> None:
    """What a worker does first: take what all share."""
    begin()
    end_with_parent()
    _shared[:] = shared


def _lane(seed: int) -> Finished | None:
    """One seed in a worker; nothing where it was told to halt."""
    run, runs, resume, beside, points = _shared
    waiting: list[Point] = []
    sent = time.monotonic()
    events = lane(run, seed, runs, resume, beside)
    for event in events if beside is None else beside.obeyed(events):
        if isinstance(event, Finished):
            points.put(waiting)
            return event
        waiting.append(event)
        if time.monotonic() - sent > SENT_EVERY:
            points.put(waiting)
            waiting, sent = [], time.monotonic()
    points.put(waiting)
    return None
