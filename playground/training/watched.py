"""What a model has understood and what its heads do, measured beside training at every evaluation."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import torch

from playground.analysis.gauges import GAUGES, Asked, asked
from playground.analysis.heads import Habit, habits
from playground.corpora.corpus import pick
from playground.example import Example, Tokens
from playground.seeds import generator
from playground.training.events import Evaluated, Event, Started
from playground.training.learner import Learner
from playground.training.loop import Run

TEXTS = 8
"""Held-out texts on which the heads are looked at."""


@dataclass(frozen=True)
class Measured:
    """The gauges by name, 0 to 1 with guessing at a half, and how far every head follows every pattern."""

    step: int
    gauges: dict[str, float]
    habits: tuple[Habit, ...]


@dataclass(frozen=True)
class Noticed:
    """A bookmark: the first head of the model that came to follow a pattern, at the first evaluation that saw it."""

    step: int
    habit: Habit


def watched(run: Run, events: Iterable[Event]) -> Iterator[Event | Measured | Noticed]:
    """The same events, and after every evaluation what was measured and what was noticed for the first time."""
    learner, gauges, example, known = None, (), None, set[str]()
    for event in events:
        yield event
        if isinstance(event, Started):
            learner = event.learner
            gauges, example = asked(GAUGES, run.corpus, learner.model), _shown(learner, event.held_out)
        if isinstance(event, Evaluated) and learner is not None and example is not None:
            measured = _measure(learner, gauges, example)
            yield measured
            for habit in measured.habits:
                if habit.notable and habit.pattern.name not in known:
                    known.add(habit.pattern.name)
                    yield Noticed(event.step, habit)


def _shown(learner: Learner, held_out: Tokens) -> Example:
    """Always the same few held-out texts in always the same corruption."""
    few = pick(held_out, torch.arange(min(TEXTS, len(held_out.ids)), device=held_out.ids.device))
    return learner.objective.example(few, generator(0, "watched", device=learner.device.type))


def _measure(learner: Learner, gauges: tuple[Asked, ...], example: Example) -> Measured:
    learner.model.eval()
    seen = habits(example, learner.model.attention(example))
    learner.model.train()
    return Measured(learner.step, {one.gauge.name: one.measure(learner.model) for one in gauges}, seen)
