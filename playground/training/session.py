"""A session: one run in a thread that a view can start, pause, step, stop and read without ever waiting for it."""

import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

from playground.analysis.predictions import Predictions
from playground.errors import Refusal
from playground.knob import turn
from playground.training import checkpoint
from playground.training.checkpoint import CorpusInfo
from playground.training.events import Evaluated, Event, Incident, Started, Stepped, Stopped
from playground.training.fork import Fork, fork
from playground.training.loop import Run, train
from playground.training.observe.probes import Measured, Noticed
from playground.training.observe.recording import Film, Frame, Moment, Sized, told
from playground.training.system import threads
from playground.training.system.throttle import Budget
from playground.training.train_state import TrainState


@dataclass(frozen=True)
class Row:
    """One point of the curves, in nats per scored position of the first question; the losses of others are in `more`.

    `held_out` is only there in evaluations, whose `more` holds held-out losses too; `accuracy` is the share of right
    held-out answers by question. `graded` are the answers graded so far, `flops` the operations so far: those of the
    first batch, by its positions, for every batch.
    """

    step: int
    loss: float | None
    held_out: float | None
    tokens: int
    seconds: float
    more: tuple[tuple[str, float], ...] = ()
    graded: int = 0
    flops: float = 0.0
    accuracy: tuple[tuple[str, float], ...] = ()

    @classmethod
    def of(cls, event: Stepped) -> "Row":
        """The point of a finished step, whose operations were not counted."""
        first = next(iter(event.terms.values()))
        return cls(event.step, float(first), None, event.tokens, event.seconds, _others(event.terms), event.graded)

    def after(self, event: Stepped | Evaluated, learner: TrainState) -> "Row":
        """The next point of the curve: a step, with its operations, or an evaluation."""
        if isinstance(event, Evaluated):
            more, accuracy = _others(event.terms), tuple(event.accuracy.items())
            return replace(self, step=event.step, loss=None, held_out=event.held_out, more=more, accuracy=accuracy)
        return replace(Row.of(event), flops=self.flops + learner.operations(event.example))


def _others(terms: Mapping[str, Any]) -> tuple[tuple[str, float], ...]:
    """The losses of all questions but the first, by name."""
    return tuple((name, float(value)) for name, value in terms.items())[1:]


Record = Callable[[Run, Iterable[Event | Moment]], Generator[Event | Moment]]
"""Something that writes events and moments down as they pass, such as `Runs.recorded`."""

Look = Callable[[TrainState], Any]
"""Something to see of the learner while it trains; it runs in the training thread, between two steps."""

LOOKING = 0.012
"""The share of the training's time that looks may take: a model that is slow to look at is looked at less often."""

LOOKED_EVERY = 0.22
"""Seconds of training from one look to the next, at least."""


class Session:
    """The rows only grow, so a reader keeps a cursor and never disturbs the thread.

    Looks are taken only while somebody is watching, a few times a second and so seldom that they take no more
    than their share of the thread's time; otherwise training runs at full speed. Looks of `film` are few, ever further
    apart and at every bookmark, and are kept. With `rows` and `moments` a run that was kept goes on. States: "ready",
    "running", "paused", "done", "failed".
    """

    def __init__(
        self,
        run: Run,
        look: Look | None = None,
        watched_for: float = 1.5,
        begin: TrainState | None = None,
        record: Record | None = None,
        rows: Iterable[Row] = (),
        film: Film | None = None,
        moments: Iterable[Moment] = (),
    ) -> None:
        self.run, self.look, self.watched_for = run, look, watched_for
        self._begin, self._record, self.filmed_with = begin, record, film
        self._settings: deque[Mapping[str, Any]] = deque()
        self.rows: list[Row] = list(rows)
        self.moments: list[Moment] = []
        self.sizes: list[Sized] = []
        self.film: list[tuple[int, Predictions]] = []
        self.measured: list[Measured] = []
        self.noticed: list[Noticed] = []
        for moment in moments:
            self._keep(moment)
        self.view: Any = None
        self.learner: TrainState | None = begin
        self.unigram_entropy: float | None = None
        self.error, self.reason = "", ""
        self.trouble: Incident | None = None
        self._go, self._halt, self._single = threading.Event(), threading.Event(), threading.Event()
        self._resting = threading.Event()
        self._watched_until = 0.0
        self._looked: tuple[Look | None, int] = (None, -1)
        # processor time, since other programs take theirs from looks and steps alike; elsewhere the processor waits
        clock = time.thread_time if run.device.type == "cpu" else time.monotonic
        self._looks = Budget(LOOKING, clock, clock, LOOKED_EVERY)
        self._state = "ready"
        self._thread = threads.thread(self._work, self._halt, f"train-{run.entry.name}")

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

    @property
    def rests(self) -> bool:
        """Whether the step during which it was paused is done, and what was to be measured at it."""
        return self.state == "paused" and self._resting.is_set()

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

    @property
    def halted(self) -> bool:
        """Whether it was told to stop, so that it never goes on by itself."""
        return self._halt.is_set()

    @property
    def ending(self) -> bool:
        """Whether it was stopped and is still taking, or saving, its last step."""
        return self._halt.is_set() and self._thread.is_alive()

    def watch(self) -> None:
        """Say that somebody is looking; to be called again and again."""
        self._watched_until = time.monotonic() + self.watched_for

    def look_with(self, look: Look) -> None:
        """See something else of the learner from now on; what does not train is looked at at once."""
        self.look = look
        if not self._thread.is_alive():
            self._show(self.learner, now=True)

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
        events = told(self.run, train(self.run, self._begin), self.filmed_with, self.moments)
        with closing(events if self._record is None else self._record(self.run, events)) as seen:
            for event in seen:
                try:
                    self._hear(event)
                except Exception as error:
                    seen.throw(error)  # whoever writes the run down learns that it failed
                if isinstance(event, Evaluated | Stepped) and not self._may_go_on(after=event):
                    self._save()
                    self.reason, self._state = "asked", "done"
                    return

    def _hear(self, event: Event | Moment) -> None:
        match event:
            case Started():
                self.learner, self.unigram_entropy = event.learner, event.unigram_entropy
                self._held_out = event.held_out
            case Stepped() | Evaluated():
                assert self.learner is not None, "a run begins with Started"
                last = self.rows[-1] if self.rows else Row(0, None, None, 0, 0.0)
                self.rows.append(last.after(event, self.learner))
                if isinstance(event, Stepped):
                    self._show(self.learner)
            case Measured() | Noticed() | Sized() | Frame():
                self._keep(event)
            case Incident():
                self.trouble = event
            case Stopped():
                self._show(self.learner, now=True)  # before it is done, so that whoever waits for that has seen the end
                self.reason, self._state = event.reason, "done"

    def _keep(self, moment: Moment) -> None:
        """One more moment of the story, in the list where views look for it."""
        self.moments.append(moment)
        match moment:
            case Measured():
                self.measured.append(moment)
            case Noticed():
                self.noticed.append(moment)
            case Sized():
                self.sizes.append(moment)
            case Frame():
                self.film.append((moment.step, moment.look))

    def _save(self) -> None:
        """The last step that was taken, so that a run that is stopped by hand loses none."""
        learner, run = self.learner, self.run
        if run.out is None or learner is None or not learner.step or not learner.sound(torch.zeros(())):
            return
        studied = CorpusInfo(run.corpus.name, run.corpus.hash, run.corpus.unigram_entropy, self._held_out)
        checkpoint.save(run.out / "checkpoint.safetensors", learner, run.corpus.tokenizer, studied)

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

    def _show(self, learner: TrainState | None, now: bool = False) -> None:
        """Look at the model where somebody wants to see it; while it rests, once is enough."""
        look, (earlier, step) = self.look, self._looked
        if look is None or learner is None or (look is earlier and learner.step == step):
            return
        if now or (self.watched and (self._looks.allows or not self._go.is_set())):
            with self._looks.spending():
                self.view, self._looked = look(learner), (look, learner.step)
