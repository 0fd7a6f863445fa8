"""What a model has understood and what its heads do, measured beside training at every second evaluation."""

from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass

import torch

from playground.analysis.attention_patterns import PatternScore, habits
from playground.analysis.probes import PROBES, EncodedProbe, asked
from playground.batch import Batch, Tokens
from playground.corpora.corpus import pick
from playground.rng import generator
from playground.training.events import Evaluated, Event, Started
from playground.training.loop import Run
from playground.training.train_state import TrainState

EVERY = 2
"""Evaluations from one measurement to the next: so training is slowed by two or three per cent."""

TEXTS = 8
"""Held-out texts on which the heads are looked at."""


@dataclass(frozen=True)
class Measured:
    """The gauges by name, 0 to 1 with guessing at a half."""

    step: int
    gauges: dict[str, float]


@dataclass(frozen=True)
class Noticed:
    """A bookmark: the first head of the model that came to follow a pattern, at the first evaluation that saw it."""

    step: int
    habit: PatternScore


def watched(run: Run, events: Iterable[Event], known: Iterable[str] = ()) -> Generator[Event | Measured | Noticed]:
    """The same events, after every second evaluation what was measured and what was noticed for the first time.

    Patterns that are `known` were noticed before.
    """
    watch = None
    for event in events:
        yield event
        if isinstance(event, Started):
            gauges = asked(PROBES, run.corpus, event.learner.model)
            watch = _Watch(event.learner, gauges, _shown(event.learner, event.held_out), set(known))
        if isinstance(event, Evaluated) and watch is not None and event.step % (EVERY * run.evaluate_every) == 0:
            yield from watch.look(event.step)


@dataclass
class _Watch:
    """What is looked at, and the patterns that were seen before."""

    learner: TrainState
    gauges: tuple[EncodedProbe, ...]
    example: Batch
    known: set[str]

    def look(self, step: int) -> Iterator[Measured | Noticed]:
        """What there is at this step, and the first head of every pattern that is new."""
        model = self.learner.model
        model.eval()
        seen = habits(self.example, model.attention(self.example))
        model.train()
        yield Measured(step, {one.gauge.name: one.measure(model) for one in self.gauges})
        for habit in seen:
            if habit.notable and habit.pattern.name not in self.known:
                self.known.add(habit.pattern.name)
                yield Noticed(step, habit)


def _shown(learner: TrainState, held_out: Tokens) -> Batch:
    """Always the same few held-out texts in always the same corruption."""
    few = pick(held_out, torch.arange(min(TEXTS, len(held_out.ids)), device=held_out.ids.device))
    return learner.objective.example(few, generator(0, "watched", device=learner.device.type))
