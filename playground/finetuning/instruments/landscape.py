"""The loss of fine-tuning around a random and a pre-trained start, with the path of training in it."""

from collections.abc import Callable
from dataclasses import dataclass

import torch

from playground.analysis.finding import Curve, Finding, Matrix, Number, Table, columns_of, melt
from playground.analysis.instrument import Instrument, reads_sentences
from playground.analysis.landscape import (
    Plane,
    Weights,
    less,
    line,
    principal_plane,
    random_direction,
    random_plane,
    surface,
    weights_of,
)
from playground.analysis.subject import Subject
from playground.finetuning.apply.victim import Victim, begun, knows_sentiment, unseen
from playground.finetuning.data.dataset import Dataset
from playground.finetuning.strategies.full import FULL
from playground.finetuning.strategies.random_start import RANDOM_START
from playground.knob import knob

STARTS = {"pre-trained start": FULL, "random start": RANDOM_START}

WAY = (-0.5, 2.0)
"""Where the way from start (0) to end (1) is drawn."""


@dataclass(frozen=True)
class Settings:
    """How a model is fine-tuned, and how finely its loss is drawn."""

    labels: int = knob(64, 8, 1000, unit="labelled texts", why="Labelled texts of the task sentiment.")
    steps: int = knob(80, 2, 1000, unit="steps", why="Steps of fine-tuning.")
    texts: int = knob(100, 4, 1000, unit="unseen texts", why="Texts on which the loss is measured.")
    points: int = knob(13, 3, 41, unit="points", why="Points of a line, and of each side of a square.")
    reach: float = knob(1.0, 0.1, 4.0, unit="lengths of the filters", why="How far to go in a random direction.")


@dataclass(frozen=True, eq=False)
class FinetunedPath:
    """A run of fine-tuning: the weights on its way, and its losses as functions of weights."""

    path: list[Weights]
    seen: Callable[[Weights], float]
    unseen: Callable[[Weights], float]


def trained(subject: Subject, name: str, settings: Settings) -> FinetunedPath:
    """Fine-tune from a start and keep the weights of some steps, the first and the last among them."""
    victim = begun(subject, STARTS[name], settings.labels, settings.steps)
    every = max(1, settings.steps // 20)
    path = [weights_of(victim.run.every)]
    for step in range(settings.steps):
        victim.run.learn(step)
        if (step + 1) % every == 0 or step + 1 == settings.steps:
            path.append(weights_of(victim.run.every))
    victim.run.model.eval()
    some, labels = unseen(victim, settings.texts)
    subject.count(len(some), "unseen texts")
    subject.count(settings.labels, "labelled texts")
    texts = victim.read(some, labels)
    return FinetunedPath(path, _loss(victim, victim.run.train), _loss(victim, texts))


def _loss(victim: Victim, texts: Dataset) -> Callable[[Weights], float]:
    """The mean loss in nats of some texts as a function of the weights; it changes the victim, which is a copy."""

    @torch.no_grad()
    def loss(weights: Weights) -> float:
        for parameter, value in zip(victim.run.every, weights, strict=True):
            parameter.copy_(value)
        return float(texts.answer.loss(victim.scored(texts), texts.labels))

    return loss


def measure(subject: Subject, settings: Settings) -> Finding:
    """Lines and squares through the loss of both starts, on the same axes."""
    runs = {name: trained(subject, name, settings) for name in STARTS}
    way = _steps(*WAY, settings.points)
    around = _steps(-settings.reach, settings.reach, settings.points)
    along, aside = dict[str, list[float]](), dict[str, list[float]]()
    for name, run in runs.items():
        start, end = run.path[0], run.path[-1]
        for texts, loss in (("labelled texts", run.seen), ("unseen texts", run.unseen)):
            along[f"{name}, {texts}"] = line(loss, start, less(end, start), way)
        direction = random_direction(end, subject.rng("landscape", "line"))
        aside[name] = line(run.seen, end, direction, around)
    random = {name: random_plane(run.path, subject.rng("landscape", "plane")) for name, run in runs.items()}
    principal = {name: principal_plane(run.path) for name, run in runs.items()}
    far = max(float(plane.path.abs().max()) for plane in principal.values()) * 1.25 or 1.0
    sides = _steps(-far, far, settings.points)
    ends = {name: (run.unseen(run.path[-1]), run.seen(run.path[-1])) for name, run in runs.items()}
    width = {name: _width(runs[name], random[name], settings) for name in runs}
    (pre, scratch) = STARTS
    return Finding(
        f"Fine-tuned from the pre-trained start the loss on unseen texts ends at {ends[pre][0]:.2f} nats, "
        f"from a random start at {ends[scratch][0]:.2f}.",
        (
            Number("loss on unseen texts", ends[pre][0], "nats", {scratch: ends[scratch][0], "by chance": 0.6931}),
            Number("loss on labelled texts", ends[pre][1], "nats", {scratch: ends[scratch][1]}),
            Number("rise half a filter away", width[pre], "nats, mean of four directions", {scratch: width[scratch]}),
        ),
        (
            Table("On the way from start (0) to end (1)", melt("position", way, "loss", along, "of"),
                  Curve("position", "loss", "of"), "nats"),
            Table("Along a random direction from the end", melt("position", around, "loss", aside, "of"),
                  Curve("position", "loss", "of"), "nats",
                  note="1 is as far as the filters are long (filter normalisation); biases and norms stay."),
            *_squares(runs, random, around, around, "Around the end, two random directions"),
            *_squares(runs, principal, sides, sides, "In the plane of the path"),
            _paths(principal),
        ),
    )  # fmt: skip


def _steps(low: float, high: float, count: int) -> list[float]:
    return [low + (high - low) * k / (count - 1) for k in range(count)]


def _width(run: FinetunedPath, plane: Plane, settings: Settings) -> float:
    """How much the loss on labelled texts rises half a filter's length away from the end."""
    base = run.seen(plane.centre)
    sides = [line(run.seen, plane.centre, axis, (-0.5, 0.5)) for axis in (plane.first, plane.second)]
    return sum(loss - base for side in sides for loss in side) / 4


def _squares(
    runs: dict[str, FinetunedPath], planes: dict[str, Plane], x: list[float], y: list[float], title: str
) -> list[Table]:
    """The loss on labelled texts in a plane of each start, on the same axes."""
    found = []
    for name, plane in planes.items():
        points = list(surface(runs[name].seen, plane, x, y))
        columns = {
            "x": [f"{a:.3g}" for a, _, _ in points],
            "y": [f"{b:.3g}" for _, b, _ in points],
            "loss": [loss for _, _, loss in points],
        }
        found.append(Table(f"{title}, {name}", columns, Matrix("y", "x", "loss"), "nats"))
    return found


def _paths(planes: dict[str, Plane]) -> Table:
    """The path of training in the plane of its two principal components; the end is at 0, 0."""
    columns = columns_of(("x", "y", "start"), [(*at, name) for name, p in planes.items() for at in p.path.tolist()])
    share = "; ".join(f"{plane.share:.2f} of the way from the {name} lies in it" for name, plane in planes.items())
    return Table(
        "The path of training in its plane", columns, Curve("x", "y", "start"), "L2 distance", note=f"{share}."
    )


LOSS_LANDSCAPE = Instrument(
    name="loss landscape",
    group="Training",
    question="Does a pre-trained start lead to a lower and wider valley of the fine-tuning loss?",
    source="arXiv:1908.05620; filter normalisation of arXiv:1712.09913",
    measure=measure,
    rows=("V29", "V30"),
    needs=(reads_sentences, knows_sentiment),
    settings=Settings(),
)
