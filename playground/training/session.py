"""A session: one run in a thread that a page can start, pause, step, stop and read without waiting for it."""

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import torch

from playground.batch import Tokens
from playground.errors import UserError
from playground.knob import turn
from playground.training.curve import Curve, CurvePoint
from playground.training.events import Evaluated, Event, Incident, PhaseStarted, Started, Stepped, Stopped
from playground.training.fork import Fork, fork
from playground.training.loop import Run, train
from playground.training.observe.recording import (
    Film,
    Frame,
    Measured,
    Moment,
    Moments,
    Noticed,
    Regrets,
    Sized,
    with_moments,
)
from playground.training.own_text import save_run
from playground.training.system import threads
from playground.training.system.throttle import TimeBudget
from playground.training.system.turns import NO_LINE, Turn
from playground.training.train_state import TrainState

log = logging.getLogger(__name__)


Record = Callable[[Run, Iterable[Event | Moment]], Generator[Event | Moment]]
"""Writes events and moments down as they pass, such as `Runs.recorded`."""

Look = Callable[[TrainState], Any]
"""What the page shows of the learner; it is computed in the training thread, between two steps."""

LOOKING = 0.012
"""The largest share of the training time that looks may take; slow ones are taken less often."""

ASKED_EVERY = 0.05
"""Seconds between two questions of a run that stands in line whether its turn has come."""

LOOKED_EVERY = 0.22
"""The fewest seconds of training from one look to the next."""


class Viewer:
    """What a page shows of the learner: `view`, which `look` computes while the page watches, in its share of time."""

    def __init__(self, look: Look | None, watched_for: float, device: torch.device) -> None:
        self.look, self.watched_for = look, watched_for
        self.view: Any = None
        self._watched_until = 0.0
        self._looked: tuple[Look | None, int] = (None, -1)
        # on a CPU the time of this thread, which other programs do not change; else the processor only waits
        clock = time.thread_time if device.type == "cpu" else time.monotonic
        self.budget = TimeBudget(LOOKING, clock, clock, LOOKED_EVERY)

    def watch(self) -> None:
        """Note that the page is watching; to be called again and again."""
        self._watched_until = time.monotonic() + self.watched_for

    @property
    def watched(self) -> bool:
        return time.monotonic() < self._watched_until

    def outdated(self, learner: TrainState) -> bool:
        """Whether `look` has not been taken of the learner at its present step."""
        look, step = self._looked
        return self.look is not None and not (self.look is look and learner.step == step)

    def allows(self, rests: bool) -> bool:
        """Whether the page watches and there is time for a look; a model that rests may always be looked at."""
        return self.watched and (self.budget.allows or rests)

    def show(self, learner: TrainState) -> None:
        """Update the view."""
        look = self.look
        if look is not None:
            with self.budget.spending():
                self.view, self._looked = look(learner), (look, learner.step)


class Session:
    """A run in a thread; its lists only grow, so a reader keeps an index and needs no lock.

    With `rows` and `moments` a run that was kept goes on. Between steps it waits for its turn `in_line`.

    States: "ready", "running", "paused", "done", "failed".
    """

    def __init__(
        self, run: Run, look: Look | None = None, watched_for: float = 1.5, begin: TrainState | None = None,
        record: Record | None = None, rows: Iterable[CurvePoint] = (), film: Film | None = None,
        moments: Iterable[Moment] = (), in_line: Turn = NO_LINE,
    ) -> None:  # fmt: skip
        self.run, self.in_line, self.viewer = run, in_line, Viewer(look, watched_for, run.device)
        self._begin, self._record, self.filmed_with = begin, record, film
        self._settings: deque[Mapping[str, Any]] = deque()
        self.rows: list[CurvePoint] = list(rows)
        self._curve = Curve(self.rows[-1] if self.rows else CurvePoint())
        self.moments = Moments(moments)
        self.learner: TrainState | None = begin
        self.unigram_entropy: float | None = None
        self.error, self.reason = "", ""
        self.trouble: Incident | None = None
        self._go, self._halt, self._resting = threading.Event(), threading.Event(), threading.Event()
        self._steps = threading.Semaphore(0)
        self._state = "ready"
        self._thread = threads.thread(self._work, self._halt, f"train-{run.entry.name}")

    @property
    def state(self) -> str:
        return "paused" if self._state == "running" and not self._go.is_set() else self._state

    def start(self) -> "Session":
        """Begin, or go on after a pause."""
        self._steps = threading.Semaphore(0)
        self._go.set()
        self._begin_thread()
        return self

    def _begin_thread(self) -> None:
        if self._state == "ready":
            self._state = "running"
            self._thread.start()

    def pause(self) -> None:
        """Pause after the step that is being taken."""
        self._steps = threading.Semaphore(0)
        self._go.clear()

    def rest(self) -> None:
        """Pause and wait until the present step is done, so that the model may be read."""
        self.pause()
        self._resting.clear()
        deadline = time.monotonic() + 5.0
        while self._thread.is_alive() and time.monotonic() < deadline and not self._resting.wait(0.02):
            pass  # a thread that has ended needs no rest

    @property
    def rests(self) -> bool:
        """Whether it is paused and the step during which it was paused is done."""
        return self.state == "paused" and self._resting.is_set()

    def step(self) -> None:
        """Take one step and pause again; several that are asked for are taken one after another."""
        self._go.clear()
        self._steps.release()
        self._begin_thread()

    def turn(self, settings: Mapping[str, Any]) -> None:
        """Turn knobs of the recipe from the next step on."""
        turn(self.run.entry.recipe, settings)
        self._settings.append(settings)

    def fork(self, changes: Mapping[str, Any] | None = None, out: Path | None = None) -> Fork:
        """Pause, and fork the run at its present step."""
        self.rest()
        if self.learner is None:
            raise UserError("The run has not begun, so there is nothing to fork; start it first.")
        return fork(self.run, self.learner, changes, out)

    def stop(self, wait: float = 5.0) -> None:
        """End the run for good and wait until its thread has ended."""
        self._halt.set()
        if self._thread.is_alive():
            self._thread.join(wait)

    @property
    def halted(self) -> bool:
        """Whether `stop` was called."""
        return self._halt.is_set()

    @property
    def ending(self) -> bool:
        """Whether it was stopped and is still taking or saving its last step."""
        return self._halt.is_set() and self._thread.is_alive()

    def look_with(self, look: Look) -> None:
        """Show something else of the learner from now on, at once where it does not train."""
        self.viewer.look = look
        if not self._thread.is_alive():
            self._show(now=True)

    def _work(self) -> None:
        try:
            while not (self._halt.is_set() or self.in_line.take()):
                self._resting.set()
                time.sleep(ASKED_EVERY)
            self._resting.clear()
            if self._halt.is_set():
                self.reason, self._state = "asked", "done"
            else:
                self._follow()
        except UserError as refusal:
            self.rows += caught_up(self._curve)
            self.error, self._state = str(refusal), "failed"
        except Exception as error:  # a thread that ended silently would leave the page waiting
            log.exception("Training %s stopped.", self.run.entry.name)
            self.error, self._state = f"Training stopped: {type(error).__name__}: {error}", "failed"
        finally:
            self.in_line.leave()

    def _follow(self) -> None:
        events = with_moments(self.run, train(self.run, self._begin), self.filmed_with, self.moments.every)
        with closing(events if self._record is None else self._record(self.run, events)) as recorded:
            for event in recorded:
                try:
                    self._read(event)
                except Exception as error:
                    recorded.throw(error)  # so that the record notes the failure
                if isinstance(event, Evaluated | Stepped) and not self._may_go_on(after=event):
                    self.rows += caught_up(self._curve)
                    save_last(self.run, self.learner, self._held_out)
                    self.reason, self._state = "asked", "done"
                    return

    def _read(self, event: Event | Moment) -> None:
        match event:
            case Started():
                self._curve.read(event)
                self.learner, self.unigram_entropy = event.learner, event.unigram_entropy
                self._held_out = event.held_out
            case PhaseStarted():
                self._held_out = event.held_out
            case Stepped() | Evaluated():
                self.rows += self._curve.read(event)
                if isinstance(event, Stepped):
                    self._show()
            case Measured() | Noticed() | Regrets() | Sized() | Frame():
                self.moments.every.append(event)
            case Incident():
                self.trouble = event
            case Stopped():
                self.rows += caught_up(self._curve)
                self._show(now=True)  # before the state is "done", which others wait for
                self.reason, self._state = event.reason, "done"

    def _may_go_on(self, after: Stepped | Evaluated) -> bool:
        """Wait here while paused, or until it is this run's turn; False once the run shall end."""
        if isinstance(after, Stepped) or after.step == 0:
            while not (self._halt.is_set() or self._may_step()):
                self.rows += caught_up(self._curve)
                self._resting.set()
                self._show()
                time.sleep(0.01 if not self._go.is_set() else ASKED_EVERY)
            self._resting.clear()
        while self._settings and self.learner is not None:
            self.learner.turn(self._settings.popleft())
        return not self._halt.is_set()

    def _may_step(self) -> bool:
        steps = self._steps
        going = self._go.is_set()
        if not (going or steps.acquire(blocking=False)):
            self.in_line.leave()
            return False
        if self.in_line.take():
            return True
        if not going:
            steps.release()
        return False

    def _show(self, now: bool = False) -> None:
        """Update the view where the page watches."""
        learner, viewer = self.learner, self.viewer
        if learner is not None and viewer.outdated(learner) and (now or viewer.allows(rests=not self._go.is_set())):
            self.rows += caught_up(self._curve)
            viewer.show(learner)


def caught_up(curve: Curve) -> list[CurvePoint]:
    """The points of all steps that a GPU has been given; the time that it still takes for them is training time."""
    began = time.perf_counter()
    late = curve.rest()
    if late and curve.learner is not None:
        curve.learner.seconds += time.perf_counter() - began
    return late


def save_last(run: Run, learner: TrainState | None, held_out: Tokens) -> None:
    """Save the last step of a run that is stopped by hand."""
    if run.out is not None and learner is not None and learner.step and learner.sound():
        save_run(run.out, learner, run.corpus, held_out)
