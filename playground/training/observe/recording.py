"""The moments of a run: probes, regret, bookmarks, sizes and frames, recorded while it trains and stored as JSON."""

import json
from base64 import b64decode, b64encode
from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass, fields
from typing import Any, TypeVar

import torch
from torch import Tensor

from playground.analysis.attention_patterns import PATTERNS, Pattern, PatternScore, habits
from playground.analysis.floor.automaton import automaton_of
from playground.analysis.floor.regret import Floor, floor_of, reads_windows, regret
from playground.analysis.predictions import Prediction, Predictions
from playground.analysis.probes import PROBES, asked
from playground.batch import Batch
from playground.corpora.corpus import pick
from playground.errors import UserError
from playground.parsing import Form, form_of, has_form, parse_json
from playground.rng import generator
from playground.training.events import Evaluated, Event, Started, Stepped
from playground.training.grad_stats import Group
from playground.training.loop import Run
from playground.training.observe.replay import spaced
from playground.training.train_state import TrainState

EVERY = 2
"""Evaluations from one measurement to the next: training is slowed by 2 to 3 %."""

TEXTS = 8
"""Held-out texts on which the attention heads are examined."""

LIVE = ("reviews", "agreement", "facts")
"""Corpora whose grammar is small enough that the best possible prediction is summed within a second of the start."""

FRAMES = 12
"""Frames of the film of a run, besides those at its bookmarks."""

Film = Callable[[TrainState], Predictions]
"""Makes the predictions of a frame."""


@dataclass(frozen=True)
class Measured:
    """The scores of the probes by name, 0 to 1, a half by chance."""

    step: int
    gauges: dict[str, float]


@dataclass(frozen=True)
class Noticed:
    """A bookmark: the first attention head that follows a pattern, at the evaluation that found it."""

    step: int
    habit: PatternScore


@dataclass(frozen=True)
class Regrets:
    """Nats above the best possible prediction: of a mean word, and of a mean instance of each phenomenon."""

    step: int
    total: float
    each: dict[str, float]


@dataclass(frozen=True)
class Sized:
    """The gradient and the update of every group of layers in one step."""

    step: int
    groups: tuple[Group, ...]


@dataclass(frozen=True)
class Frame:
    """The predictions for the probe sentence at one step, kept for the film of the run."""

    step: int
    look: Predictions


Moment = Measured | Noticed | Regrets | Sized | Frame
"""One recorded moment of a run."""

OneKind = TypeVar("OneKind", Measured, Noticed, Regrets, Sized, Frame)


class Moments:
    """The moments of a run so far: `every` one, in a list that only grows, and those of each kind."""

    def __init__(self, moments: Iterable[Moment] = ()) -> None:
        self.every: list[Moment] = list(moments)

    def of(self, kind: type[OneKind]) -> list[OneKind]:
        """The moments of one kind."""
        return [moment for moment in self.every if isinstance(moment, kind)]

    film = property(lambda self: [(frame.step, frame.look) for frame in self.of(Frame)])
    measured = property(lambda self: self.of(Measured))
    noticed = property(lambda self: self.of(Noticed))
    regrets = property(lambda self: self.of(Regrets))
    sizes = property(lambda self: self.of(Sized))


def with_moments(
    run: Run, events: Iterable[Event], film: Film | None = None, earlier: Iterable[Moment] = ()
) -> Generator[Event | Moment]:
    """The same events, each followed by its moments; `earlier` ones of a run that goes on are not repeated.

    Frames are taken at the first event, at a few steps ever further apart, and at every bookmark, at most one a step.
    """
    past, learner = tuple(earlier), None
    steps = frozenset(spaced(run.last or run.entry.recipe.steps, FRAMES))
    last_frame = max((moment.step for moment in past if isinstance(moment, Frame)), default=-1)
    known = [moment.habit.pattern.name for moment in past if isinstance(moment, Noticed)]
    for event in with_probes(run, events, known):
        yield event
        if isinstance(event, Started):
            learner = event.learner
        if isinstance(event, Stepped) and event.sizes:
            yield Sized(event.step, event.sizes)
        due = isinstance(event, Started | Noticed) or (isinstance(event, Stepped) and event.step in steps)
        if due and film is not None and learner is not None and last_frame < learner.step:
            last_frame = learner.step
            yield Frame(last_frame, film(learner))


def with_probes(
    run: Run, events: Iterable[Event], known: Iterable[str] = ()
) -> Generator[Event | Measured | Noticed | Regrets]:
    """The same events, and after every second evaluation probes, regret, and the patterns that are not `known` yet."""
    patterns, model, batch, probes, floor = set(known), None, None, (), None
    every = EVERY * run.evaluate_every
    for event in events:
        yield event
        if isinstance(event, Started):
            learner, held_out = event.learner, event.held_out
            few = pick(held_out, torch.arange(min(TEXTS, len(held_out.ids)), device=held_out.ids.device))
            batch = learner.objective.batch(few, generator(0, "watched", device=learner.device))
            batch = learner.model.masked(batch)
            model, probes = learner.model, asked(PROBES, run.corpus, learner.model)
            floor = _floor(run, batch)
        if isinstance(event, Evaluated) and event.step % every == 0 and model is not None and batch is not None:
            model.eval()
            scores = habits(batch, model.attention(batch))
            above = None if floor is None else regret(model, floor)
            model.train()
            yield Measured(event.step, {probe.gauge.name: probe.measure(model) for probe in probes})
            if above is not None:
                yield Regrets(event.step, above.total, above.each)
            for score in scores:
                if score.notable and score.pattern.name not in patterns:
                    patterns.add(score.pattern.name)
                    yield Noticed(event.step, score)


def _floor(run: Run, batch: Batch) -> Floor | None:
    """The best possible prediction of the watched texts; None where it is not known or takes long."""
    if run.corpus.name not in LIVE or not reads_windows(run.entry.objective):
        return None
    try:
        floor = floor_of(automaton_of(run.corpus), batch, run.entry.model.layers)
    except UserError:
        return None
    return floor if floor.asked else None


# as JSON


def to_json(moment: Moment) -> tuple[str, str]:
    """The kind of a moment, and its fields as JSON."""
    return type(moment).__name__.lower(), json.dumps(moment, default=_plain)


def from_json(kind: str, text: str) -> Moment | None:
    """A moment from its JSON; None where another version wrote it so that it cannot be read."""
    try:
        form, make = READERS[kind]
        values = parse_json(text)
        return make(**{name: values[name] for name in form}) if has_form(values, form) else None
    except (KeyError, TypeError, ValueError, RuntimeError):
        return None


def _plain(value: Any) -> Any:
    """Patterns by their names, tensors as text, other values by their fields."""
    match value:
        case Pattern():
            return value.name
        case Tensor():
            return {"shape": list(value.shape), "bytes": b64encode(value.cpu().numpy().tobytes()).decode("ascii")}
        case _:
            return {f.name: getattr(value, f.name) for f in fields(value)}


def _noticed(step: int, habit: dict[str, Any]) -> Noticed:
    patterns = {pattern.name: pattern for pattern in PATTERNS}
    return Noticed(step, PatternScore(**{**habit, "pattern": patterns[habit["pattern"]]}))


def _frame(step: int, look: dict[str, Any]) -> Frame:
    guesses = (Prediction(**{**g, "top": tuple((word, share) for word, share in g["top"])}) for g in look["guesses"])
    rows, columns = ({name: tuple(words) for name, words in look[side].items()} for side in ("rows", "columns"))
    weights = {
        name: torch.frombuffer(bytearray(b64decode(tensor["bytes"])), dtype=torch.uint8).view(tensor["shape"])
        for name, tensor in look["weights"].items()
    }
    return Frame(step, Predictions(look["step"], tuple(look["sees"]), tuple(guesses), weights, rows, columns))


LOOK = form_of(Predictions) | {"weights": {str: {"shape": [int], "bytes": str}}}
HABIT = form_of(PatternScore) | {"pattern": str}

READERS: dict[str, tuple[Form, Callable[..., Moment]]] = {
    "measured": (form_of(Measured), Measured),
    "noticed": ({"step": int, "habit": HABIT}, _noticed),
    "regrets": (form_of(Regrets), Regrets),
    "sized": (form_of(Sized), lambda step, groups: Sized(step, tuple(Group(**g) for g in groups))),
    "frame": ({"step": int, "look": LOOK}, _frame),
}
"""The form of each kind of moment, and what makes it from its fields."""
