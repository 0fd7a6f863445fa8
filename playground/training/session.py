"""A session: one run in a thread that a view can start, pause, step, stop and read without ever waiting for it."""

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from playground.example import Example
from playground.knob import turn
from playground.models.cost import positions, step_flops
from playground.refusal import Refusal
from playground.training import background
from playground.training.events import Evaluated, Event, Started, Stepped, Stopped, Trouble
from playground.training.fork import Fork, fork
from playground.training.learner import Learner
from playground.training.loop import Run, train
from playground.training.watched import Measured, Noticed, watched


@dataclass(frozen=True)
class Row:
    """One point of the curves, in nats per graded position of the first question; the losses of others are in `more`.

    `held_out` is only there in steps that were evaluated. `graded` are the answers graded so far, `flops` the
    operations so far: those of the first batch, by its positions, for every batch.
    """

    step: int
    loss: float | None
    held_out: float | None
    tokens: int
    seconds: float
    more: tuple[tuple[str, float], ...] = ()
    graded: int = 0
    flops: float = 0.0

    @classmethod
    def of(cls, event: Stepped, before: "Row | None" = None, flops: float = 0.0) -> "Row":
        """The point of a finished step, which took so many operations."""
        (_, first), *others = event.terms.items()
        more = tuple((name, float(value)) for name, value in others)
        spent = before.flops if before else 0.0
        return cls(event.step, float(first), None, event.tokens, event.seconds, more, event.graded, spent + flops)


Record = Callable[[Run, Iterable[Event]], Iterable[Event]]
"""Something that writes events down as they pass, such as `Runs.recorded`."""

Look = Callable[[Learner], Any]
"""Something to see of the learner while it trains; it runs in the training thread, between two steps."""


class Session:
    """The rows only grow, so a reader keeps a cursor and never disturbs the thread.

    Looks are taken at most ten times a second and only while somebody is watching; otherwise training runs at full
    speed. States: "ready", "running", "paused", "done", "failed".
    """

    def __init__(
        self,
        run: Run,
        look: Look | None = None,
        watched_for: float = 1.5,
        begin: Learner | None = None,
        record: Record | None = None,
    ) -> None:
        self.run, self.look, self.watched_for = run, look, watched_for
        self._begin, self._record = begin, record
        self._settings: deque[Mapping[str, Any]] = deque()
        self.rows: list[Row] = []
        self.measured: list[Measured] = []
        self.noticed: list[Noticed] = []
        self.view: Any = None
        self.learner: Learner | None = None
        self.unigram_entropy: float | None = None
        self.error, self.reason = "", ""
        self.trouble: Trouble | None = None
        self._go, self._halt, self._single = threading.Event(), threading.Event(), threading.Event()
        self._resting = threading.Event()
        self._watched_until, self._looked_at = 0.0, 0.0
        self._state, self._flops_each = "ready", 0.0
        self._thread = background.thread(self._work, self._halt, f"train-{run.entry.name}")

    @property
    def state(self) -> str:
        if self._state == "running" and not self._go.is_set():
            return "paused"
        return self._state

    def start(self) -> "Session":
        """Begin, or go on after a pause."""
        self._go.set()
        if self._state == "ready":
            self._state = "running"
            self._thread.start()
        return self

    def pause(self) -> None:
        """Stop after the step that is being taken; nothing is lost."""
        self._go.clear()

    def rest(self, wait: float = 5.0) -> None:
        """Pause and wait until the step that is being taken is done, so that the model may be read."""
        self.pause()
        self._resting.clear()
        deadline = time.monotonic() + wait
        while self._thread.is_alive() and time.monotonic() < deadline and not self._resting.wait(0.02):
            pass  # a thread that has left needs no rest

    def step(self) -> None:
        """Take one step and pause again."""
        self._go.clear()
        self._single.set()
        if self._state == "ready":
            self._state = "running"
            self._thread.start()

    def turn(self, settings: Mapping[str, Any]) -> None:
        """Turn knobs of the recipe, such as the rate, from the next step on."""
        turn(self.run.entry.recipe, settings)
        self._settings.append(settings)

    def fork(self, changes: Mapping[str, Any] | None = None, out: Path | None = None) -> Fork:
        """A run of its own that leaves this one where it stands; this one pauses for it."""
        self.rest()
        if self.learner is None:
            raise Refusal("The run has not begun, so there is nothing to fork; start it first.")
        return fork(self.run, self.learner, changes, out)

    def stop(self, wait: float = 5.0) -> None:
        """End the run for good and wait until its thread has left."""
        self._halt.set()
        if self._thread.is_alive():
            self._thread.join(wait)

    def watch(self) -> None:
        """Say that somebody is looking; to be called again and again."""
        self._watched_until = time.monotonic() + self.watched_for

    @property
    def watched(self) -> bool:
        return time.monotonic() < self._watched_until

    def _work(self) -> None:
        try:
            self._follow()
        except Refusal as refusal:
            self.error, self._state = str(refusal), "failed"
        except Exception as error:  # a thread that dies silently would leave a screen that waits for ever
            self.error, self._state = f"Training stopped: {type(error).__name__}: {error}", "failed"

    def _follow(self) -> None:
        events = train(self.run, self._begin)
        for event in watched(self.run, events if self._record is None else self._record(self.run, events)):
            match event:
                case Started():
                    self.learner, self.unigram_entropy = event.learner, event.unigram_entropy
                case Stepped():
                    self.rows.append(Row.of(event, self.rows[-1] if self.rows else None, self._flops(event.example)))
                    self._show(self.learner)
                case Evaluated():
                    last = self.rows[-1] if self.rows else Row(0, None, None, 0, 0.0)
                    self.rows.append(replace(last, step=event.step, loss=None, held_out=event.held_out, more=()))
                case Measured():
                    self.measured.append(event)
                case Noticed():
                    self.noticed.append(event)
                case Trouble():
                    self.trouble = event
                case Stopped():
                    self.reason, self._state = event.reason, "done"
                    self._show(self.learner, now=True)
            if isinstance(event, Evaluated | Stepped) and not self._may_go_on(after=event):
                self.reason, self._state = "asked", "done"
                return

    def _flops(self, example: Example) -> float:
        """Operations of a step on this batch, told from the first one's."""
        assert self.learner is not None
        self._flops_each = self._flops_each or step_flops(self.learner.model, example) / max(1, positions(example))
        return self._flops_each * positions(example)

    def _may_go_on(self, after: Stepped | Evaluated) -> bool:
        """Wait here while paused; False once the run shall end."""
        if isinstance(after, Stepped) or after.step == 0:
            while not (self._go.is_set() or self._halt.is_set()):
                if self._single.is_set():
                    self._single.clear()
                    break
                self._resting.set()
                self._show(self.learner)
                time.sleep(0.01)
            self._resting.clear()
        while self._settings and self.learner is not None:
            self.learner.turn(self._settings.popleft())
        return not self._halt.is_set()

    def _show(self, learner: Learner | None, now: bool = False) -> None:
        moment = time.monotonic()
        due = self.watched and moment - self._looked_at >= 0.1
        if self.look is not None and learner is not None and (now or due):
            self.view, self._looked_at = self.look(learner), moment
