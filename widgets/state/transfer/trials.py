"""The trials of a comparison: what was measured on their way, what came out, and how far they are."""

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import fmean
from typing import Any

from playground.finetuning import Comparison, Strategy, Task, TrialEvent
from playground.finetuning.comparing.continual import Advanced, ContinualResult, SequenceFacts, facts
from playground.finetuning.comparing.spec import ComparisonSpec
from playground.finetuning.data.task import short
from playground.finetuning.run.measure import MidRunEval, Result
from playground.finetuning.run.tune import StepEvent

FIRST_GUESS = 3.0  # seconds after which the time that is left is estimated

Steps = dict[tuple[Strategy, int, int], list[TrialEvent]]  # by strategy, seed and number of labelled texts


@dataclass
class TrialCourse:
    """The trials of one strategy at one number of labelled texts: outcomes, the latest step, and points by seed.

    A point is a step that was evaluated; its loss is the mean since the one before.
    """

    points: dict[int, list[StepEvent]] = field(default_factory=dict)
    losses: dict[int, list[float]] = field(default_factory=dict)
    outcomes: list[Result] = field(default_factory=list)
    step: int = 0
    running: bool = False

    def add(self, trial_event: TrialEvent) -> None:
        """Take over one event of a trial."""
        event = trial_event.event
        if isinstance(event, Result):
            self.outcomes.append(event)
            self.step, self.running = event.plan.shape[1], False
            return
        self.step, self.running = event.step, True
        self.losses.setdefault(trial_event.seed, []).append(event.loss)
        if event.look is not None:
            point = replace(event, loss=fmean(self.losses.pop(trial_event.seed)))
            self.points.setdefault(trial_event.seed, []).append(point)

    @property
    def _latest(self) -> list[MidRunEval]:
        return [point.look for points in list(self.points.values())[-1:] for point in points[-1:] if point.look]

    @property
    def moved(self) -> tuple[float, ...]:
        """How far each group has moved in the trial that was evaluated last; of finished trials the mean."""
        if self.running or not self.outcomes:
            return next((look.moved for look in self._latest), ())
        return tuple(fmean(some) for some in zip(*(o.moved for o in self.outcomes), strict=True))

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many weights each group has, as far as that is known."""
        return next((one.sizes for one in [*self.outcomes[:1], *self._latest]), ())

    @property
    def texts(self) -> int:
        """The number of unseen texts of its evaluations, 0 before the first."""
        return next((look.texts for look in self._latest), 0)

    def values(self, what: str) -> dict[int, list[float]]:
        """Loss, accuracy or forgetting at every evaluated step, one value for each seed that is there."""
        found: dict[int, list[float]] = {}
        for point in (p for points in list(self.points.values()) for p in list(points)):
            value = getattr(point if what == "loss" else point.look, what)
            if value is not None:
                found.setdefault(point.step, []).append(value)
        return dict(sorted(found.items()))


class Trials:
    """The trials of one comparison as far as they have run; several `tasks` are learnt one after another.

    States: "ready", "running", "stopped", "done", "failed". `steps` are those of earlier comparisons, for trials that
    are not run again. `typed` is what was asked for as a person can type it, `where` says where the base is, `unit` is
    that of its pre-training loss, `metric` the main number of the first task, and `own_file` the labelled file that was
    uploaded for it.
    """

    def __init__(
        self, asked: ComparisonSpec, tasks: Sequence[Task], base_name: str, steps: Steps, unit: str = "nats"
    ) -> None:
        self.asked, self.base_name, self.unit = asked, base_name, unit
        self.metric = short(tasks[0].metric) if tasks else "accuracy"
        self.typed, self.where = asked, ""
        self.own_file: Path | None = None
        self.in_turn = tuple(tasks) if len(tasks) > 1 else ()
        self.number = len(asked.strategies) * asked.seeds * len(asked.train_sizes)
        self.state, self.doing = "ready", ""
        self.events: list[TrialEvent | Comparison | ContinualResult] = []
        self.heard = self.advanced = self.looked = self.finished = 0
        self.courses: dict[str, TrialCourse] = {}
        self.train_size = 0
        self._steps, self._began = steps, (0.0, 0.0)

    def add(self, event: TrialEvent | Comparison | ContinualResult | Advanced | str) -> None:
        """Take over what a trial has done, or a sentence on how far the base is made ready."""
        self.heard += 1
        self.doing = event if isinstance(event, str) else self._said(event)
        self.advanced += isinstance(event, Advanced)
        if isinstance(event, str | Advanced):
            return
        step = event.event if isinstance(event, TrialEvent) else None
        self.looked += isinstance(step, StepEvent) and step.look is not None
        self.finished += not isinstance(step, StepEvent)
        if isinstance(event, TrialEvent):
            self._follow(event)
        self.events.append(event)

    def _said(self, event: Any) -> str:
        """Where a trial is on its way through the tasks; other trials are seen in their curves."""
        if not isinstance(event, Advanced):
            return ""
        task = self.in_turn[event.task].name
        return f"{event.strategy.name}, seed {event.seed}: {task}, step {event.step} of {self.asked.steps}."

    def _follow(self, trial_event: TrialEvent) -> None:
        """Bring the course of a trial up to date; one that is not run again has the steps of the time when it was."""
        if trial_event.labels != self.train_size:
            self.train_size, self.courses = trial_event.labels, {}
        course = self.courses.setdefault(trial_event.strategy.name, TrialCourse())
        steps = self._steps.setdefault((trial_event.strategy, trial_event.seed, trial_event.labels), [])
        if isinstance(trial_event.event, StepEvent):
            if trial_event.event.step == 1:
                steps.clear()
            steps.append(trial_event)
            self._began = self._began if self._began[0] else (time.monotonic(), self.done_share)
        elif trial_event.seed not in course.points:
            for earlier in steps:
                course.add(earlier)
        course.add(trial_event)

    def courses_of(self, names: Iterable[str]) -> dict[str, TrialCourse]:
        """The courses of some strategies, empty ones where nothing has run."""
        return {name: self.courses.get(name) or TrialCourse() for name in names}

    def values(self, what: str, names: Iterable[str]) -> dict[str, list[float]]:
        """Accuracy or forgetting of every finished trial at the number of labelled texts that is being run."""
        names = dict.fromkeys([*names, *self.courses])
        courses = self.courses_of(names)
        outcomes = {name: [getattr(o, what) for o in list(courses[name].outcomes)] for name in names}
        return {name: [value for value in some if value is not None] for name, some in outcomes.items()}

    @property
    def curve(self) -> dict[str, dict[int, list[float]]]:
        """Accuracy of every finished trial, by strategy and number of labelled texts."""
        found: dict[str, dict[int, list[float]]] = {}
        for trial_event, result in self._results:
            found.setdefault(trial_event.strategy.name, {}).setdefault(trial_event.labels, []).append(result.accuracy)
        return found

    @property
    def _results(self) -> list[tuple[TrialEvent, Result]]:
        events = [event for event in list(self.events) if isinstance(event, TrialEvent)]
        return [(each, each.event) for each in events if isinstance(each.event, Result)]

    @property
    def done_share(self) -> float:
        """How much of all the trials is done, 0 to 1; a trial that runs counts by its steps."""
        if self.in_turn:
            return min(1.0, self.advanced / max(1, self.number * len(self.in_turn) * self.asked.steps))
        last = next((e.event for e in reversed(list(self.events)) if isinstance(e, TrialEvent)), None)
        running = min(1.0, last.step / self.asked.steps) if isinstance(last, StepEvent) else 0.0
        return min(1.0, (len(self._results) + running) / max(1, self.number))

    @property
    def progress(self) -> str:
        """How far it is in words: how many trials are done, and how long the others will take."""
        if self.in_turn or self.state not in ("running", "stopped"):
            return ""
        done = len(self._results)
        if self.state == "stopped":
            return f"Stopped with {done} of {self.number} trainings done; Compare continues from there."
        (began, before), share = self._began, self.done_share
        spent = time.monotonic() - began
        if not began or spent < FIRST_GUESS or share <= before:
            return f"{done} of {self.number} trainings done."
        left = spent * (1 - share) / (share - before)
        return f"{done} of {self.number} trainings done; about {max(1, round(left))} s left."

    @property
    def result(self) -> Comparison | None:
        last = self.events[-1] if self.events else None
        return last if isinstance(last, Comparison) else None

    @property
    def passed(self) -> list[ContinualResult]:
        """The trials that have learnt all tasks in turn."""
        return [event for event in list(self.events) if isinstance(event, ContinualResult)]

    @property
    def found(self) -> SequenceFacts | None:
        """The result of the tasks in turn so far."""
        return facts(self.in_turn, self.asked, self.unit, self.passed) if self.passed else None
