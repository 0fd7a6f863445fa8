"""The story of a run: what was measured, noticed and looked at while it trained, each moment ready to be kept."""

import json
from base64 import b64decode, b64encode
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass, fields
from typing import Any

import torch
from torch import Tensor

from playground.analysis.attention_patterns import PATTERNS, Pattern, PatternScore
from playground.analysis.predictions import Prediction, Predictions
from playground.parsing import Form, has_form, parse_json
from playground.training.events import Event, Started, Stepped
from playground.training.grad_stats import Group
from playground.training.loop import Run
from playground.training.observe.probes import Measured, Noticed, watched
from playground.training.observe.replay import spaced
from playground.training.train_state import TrainState

FRAMES = 12
"""Looks that are kept for a film of the run, besides those at its bookmarks."""

Film = Callable[[TrainState], Predictions]
"""What is seen of the learner in a frame."""


@dataclass(frozen=True)
class Sized:
    """The gradient and the update of every group of layers in one step."""

    step: int
    groups: tuple[Group, ...]


@dataclass(frozen=True)
class Frame:
    """A look that is kept for the film of the run."""

    step: int
    look: Predictions


Moment = Measured | Noticed | Sized | Frame
"""One moment of the story."""


def told(
    run: Run, events: Iterable[Event], film: Film | None = None, earlier: Iterable[Moment] = ()
) -> Generator[Event | Moment]:
    """The same events, each followed by the moments there are to keep; `earlier` ones of a run that goes on count."""
    past = tuple(earlier)
    camera = _Camera(film, frozenset(spaced(run.last or run.entry.recipe.steps, FRAMES)), _last_frame(past))
    known = [moment.habit.pattern.name for moment in past if isinstance(moment, Noticed)]
    for event in watched(run, events, known):
        yield event
        if isinstance(event, Stepped) and event.sizes:
            yield Sized(event.step, event.sizes)
        yield from camera.frames(event)


def _last_frame(past: tuple[Moment, ...]) -> int:
    return max((moment.step for moment in past if isinstance(moment, Frame)), default=-1)


@dataclass
class _Camera:
    """Takes a frame at the first event, at a few steps ever further apart, and at every bookmark; one a step."""

    film: Film | None
    wanted: frozenset[int]
    taken: int
    learner: TrainState | None = None

    def frames(self, event: Event | Moment) -> Iterator[Frame]:
        if isinstance(event, Started):
            self.learner = event.learner
        due = isinstance(event, Started | Noticed) or (isinstance(event, Stepped) and event.step in self.wanted)
        if due and self.film is not None and self.learner is not None and self.taken < self.learner.step:
            self.taken = self.learner.step
            yield Frame(self.taken, self.film(self.learner))


# on the disk


def written(moment: Moment) -> tuple[str, str]:
    """The kind of a moment, and what it holds as JSON."""
    return type(moment).__name__.lower(), json.dumps(moment, default=_plain)


def read(kind: str, text: str) -> Moment | None:
    """A moment as it was written; None where another version wrote it and it cannot be told any more."""
    try:
        form, made = READ[kind]
        found = parse_json(text)
        return made(found) if has_form(found, form) else None
    except (KeyError, TypeError, ValueError, RuntimeError):
        return None


def _plain(value: Any) -> Any:
    """What JSON does not know: patterns by their names, bytes as text, everything else by its fields."""
    match value:
        case Pattern():
            return value.name
        case Tensor():
            return {"shape": list(value.shape), "bytes": b64encode(value.cpu().numpy().tobytes()).decode("ascii")}
        case _:
            return {f.name: getattr(value, f.name) for f in fields(value)}


def _noticed(found: dict[str, Any]) -> Noticed:
    named = {pattern.name: pattern for pattern in PATTERNS}
    habit = found["habit"]
    return Noticed(found["step"], PatternScore(**{**habit, "pattern": named[habit["pattern"]]}))


def _frame(found: dict[str, Any]) -> Frame:
    look = found["look"]
    guesses = (Prediction(**{**g, "top": tuple((word, share) for word, share in g["top"])}) for g in look["guesses"])
    names = {side: {name: tuple(words) for name, words in look[side].items()} for side in ("rows", "columns")}
    weights = {name: _tensor(kept) for name, kept in look["weights"].items()}
    return Frame(found["step"], Predictions(look["step"], tuple(look["sees"]), tuple(guesses), weights, **names))


def _tensor(kept: dict[str, Any]) -> Tensor:
    return torch.frombuffer(bytearray(b64decode(kept["bytes"])), dtype=torch.uint8).view(kept["shape"])


GUESS = {"position": int, "truth": str, "top": [(str, float)], "probability": float, "loss": float}
LOOK = {
    "step": int,
    "sees": [str],
    "guesses": [GUESS | {"question": str, "reader": str}],
    "weights": {str: {"shape": [int], "bytes": str}},
    "rows": {str: [str]},
    "columns": {str: [str]},
}
HABIT = {"matrix": str, "layer": int, "head": int, "pattern": str, "weight": float, "chance": float}
GROUP = {"name": str, "size": float, "gradient": float, "change": float}

READ: dict[str, tuple[Form, Callable[[dict[str, Any]], Moment]]] = {
    "measured": ({"step": int, "gauges": {str: float}}, lambda found: Measured(**found)),
    "noticed": ({"step": int, "habit": HABIT}, _noticed),
    "sized": (
        {"step": int, "groups": [GROUP]},
        lambda found: Sized(found["step"], tuple(Group(**group) for group in found["groups"])),
    ),
    "frame": ({"step": int, "look": LOOK}, _frame),
}
"""What each kind of moment holds, and how it is read."""
