"""The plane through a model and two fine-tuned copies of it: accuracy on both tasks and forgetting at every point."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial

import torch
from torch import Generator, Tensor

from playground.analysis.finding import Finding, Matrix, Number, Rows, Table, columns_of
from playground.analysis.instrument import Instrument, reads_sentences
from playground.analysis.landscape import Weights, flat, less, moved
from playground.analysis.subject import Subject
from playground.finetuning.apply.merging import (
    average,
    dare,
    greedy_soup,
    merge,
    task_arithmetic,
    ties,
)
from playground.finetuning.apply.victim import base_of, knows_sentiment
from playground.finetuning.comparing.continual import LearnedTask
from playground.finetuning.data.files import find_task
from playground.finetuning.data.input_format import format_for
from playground.finetuning.data.task import Task
from playground.finetuning.run.base import Base, replace_model
from playground.finetuning.run.trainer import FinetuneConfig, Finetuner, numbered
from playground.finetuning.strategies.full import FULL
from playground.finetuning.strategy.after import WiSEFT
from playground.finetuning.tasks.sentiment import SENTIMENT
from playground.knob import knob
from playground.models.model import LanguageModel

ENDS = (-0.5, 1.5)
"""Where both sides of the plane begin and end; 0 is the start, 1 a finished model."""


@dataclass(frozen=True)
class Settings:
    """How both models are fine-tuned, and how finely the plane is measured."""

    second: str = knob("topic", why="The second task; sentiment is the first one again, with another seed.")
    labels: int = knob(64, 8, 1000, unit="labelled texts", why="Labelled texts of each task.")
    steps: int = knob(80, 1, 1000, unit="steps", why="Steps of fine-tuning for each task.")
    texts: int = knob(200, 4, 1000, unit="unseen texts", why="Texts of each task that every model in the plane reads.")
    points: int = knob(21, 3, 41, unit="points", why="Points of each side of the plane.")


@dataclass(frozen=True, eq=False)
class Finished:
    """A task that a copy of the base has learned: its own head, held-out labelled texts, and the copy's weights."""

    task: LearnedTask
    held_out: LearnedTask
    weights: Weights


@dataclass(frozen=True)
class PlanePoint:
    """A model: where it lies, the share of its way from the start that lies `inside` the plane, and what it can do.

    `accuracies` are those on both tasks; `forgetting` is the rise of the pre-training loss, None without a head for it.
    """

    x: float
    y: float
    inside: float
    accuracies: tuple[float, float]
    forgetting: float | None


@dataclass(frozen=True, eq=False)
class SoupPlane:
    """All models start + x (first - start) + y (second - start).

    The heads do not move: each task is read by the head that was fine-tuned for it, everywhere in the plane. So (1, 0)
    and (0, 1) are the finished models, (alpha, 0) is the strategy WiSE-FT on the first task, and (0, 0) is the
    pre-trained model under both heads. `carrier` is a copy of the base that takes the weights of each model in turn.
    """

    base: Base
    tasks: tuple[Finished, Finished]
    carrier: LanguageModel

    @property
    def start(self) -> Weights:
        return weights_of(self.base.learner.model)

    @property
    def models(self) -> list[Weights]:
        return [one.weights for one in self.tasks]

    def at(self, x: float, y: float) -> Weights:
        """The weights at a point."""
        first, second = (less(model, self.start) for model in self.models)
        return moved(self.start, (x, first), (y, second))

    @torch.no_grad()
    def put(self, weights: Weights) -> LanguageModel:
        """The carrier with other weights."""
        for parameter, value in zip(self.carrier.parameters(), weights, strict=True):
            parameter.copy_(value)
        return self.carrier.eval()

    def point(self, weights: Weights) -> PlanePoint:
        """Measure a model, which need not lie in the plane: its coordinates are those of the nearest one that does."""
        return PlanePoint(*self.nearest(weights), *self.measured(weights))

    def measured(self, weights: Weights) -> tuple[tuple[float, float], float | None]:
        """The accuracies and the forgetting of a model."""
        model = self.put(weights)
        first, second = (one.task.accuracy(model) for one in self.tasks)
        before = self.base.remember("before", lambda: self.base.pretraining_loss(self.base.learner))
        after = self.base.pretraining_loss(replace_model(self.base.learner, model))
        return (first, second), None if before is None or after is None else after - before

    def nearest(self, weights: Weights) -> tuple[float, float, float]:
        """The coordinates of the nearest point of the plane, and the share of the squared way that lies in it."""
        axes = torch.stack([flat(less(model, self.start)) for model in self.models], 1).double()
        way = flat(less(weights, self.start)).double()
        at = torch.linalg.lstsq(axes, way[:, None]).solution[:, 0]
        whole, inside = float(way.square().sum()), float((axes @ at).square().sum())
        x, y, share = (round(value, 6) + 0.0 for value in (*at.tolist(), inside / whole if whole else 1.0))
        return x, y, share

    def grid(self, at: Sequence[float]) -> Iterator[PlanePoint]:
        """Every point of a square, row by row from the highest y down."""
        for y in sorted(at, reverse=True):
            for x in at:
                yield PlanePoint(x, y, 1.0, *self.measured(self.at(x, y)))

    def held_out_accuracy(self, weights: Weights) -> float:
        """The mean accuracy on labelled texts that no model has learned from and none is tested on."""
        model = self.put(weights)
        return sum(one.held_out.accuracy(model) for one in self.tasks) / len(self.tasks)

    def marked(self, rng: Generator) -> dict[str, Weights]:
        """The models that have a name."""
        start, models = self.start, self.models
        rules: Mapping[str, Callable[[Tensor], Tensor]] = {
            "uniform soup": average, "task arithmetic": task_arithmetic, "TIES": ties, "DARE": partial(dare, rng=rng),
        }  # fmt: skip
        alpha = WiSEFT().alpha
        return {
            "pre-trained": start,
            "first": models[0],
            "second": models[1],
            "WiSE-FT, first": self.at(alpha, 0.0),
            "WiSE-FT, second": self.at(0.0, alpha),
            **{name: merge(start, models, rule) for name, rule in rules.items()},
            "greedy soup": greedy_soup(models, self.held_out_accuracy)[0],
        }


def weights_of(model: LanguageModel) -> Weights:
    """The values of all parameters of a model, the task's head not among them."""
    return tuple(p.detach().clone() for p in model.parameters())


def finished(base: Base, task: Task, settings: Settings, seed: int) -> Finished:
    """Fine-tune a copy of the base; as many labelled texts again are held out."""
    tokenizer, suited = base.words, format_for(base.learner.model.shape)
    labelled = task.load(tokenizer, 2 * settings.labels, seed, "train", suited)
    half = len(labelled.labels) // 2
    train, held_out = (numbered(labelled.pick(rows), base) for rows in torch.arange(2 * half).split(half))
    test = numbered(task.load(tokenizer, settings.texts, 0, "test", suited), base)
    run = Finetuner(replace(base, task=task), FULL, train, FinetuneConfig(steps=settings.steps), seed)
    for step in range(settings.steps):
        run.learn(step)
    head = run.head.requires_grad_(False)
    return Finished(LearnedTask(train, test, head, ()), LearnedTask(train, held_out, head, ()), weights_of(run.model))


def soup_plane(base: Base, tasks: tuple[Task, Task], settings: Settings, seed: int) -> SoupPlane:
    """Fine-tune two copies of the base; a task that comes twice is learned with two seeds."""
    first = finished(base, tasks[0], settings, seed)
    second = finished(base, tasks[1], settings, seed + (tasks[0] == tasks[1]))
    return SoupPlane(base, (first, second), deepcopy(base.learner.model))


def chance(finished: Finished) -> float:
    """What a constant answer reaches; 0 where the metric has no chance level."""
    texts = finished.task.test
    return texts.answer.guess(finished.task.train.labels, texts.labels) if texts.answer.has_chance else 0.0


def measure(subject: Subject, settings: Settings) -> Finding:
    """Both accuracies and forgetting in the plane, and of the models that have a name."""
    tasks = SENTIMENT, find_task(settings.second)
    plane = soup_plane(base_of(subject), tasks, settings, subject.seed)
    low, high = ENDS
    at, points = [low + (high - low) * k / (settings.points - 1) for k in range(settings.points)], []
    for point in plane.grid(at):
        points.append(point)
        subject.report(len(points), settings.points**2)
    named = {name: plane.point(weights) for name, weights in plane.marked(subject.rng("DARE")).items()}
    subject.count(len(points), "models in the plane")
    subject.count(len(plane.base.measured.ids), "held-out rows")
    subject.count(settings.labels, "labelled texts of each task")
    subject.count(min(len(one.task.test.labels) for one in plane.tasks), "unseen texts of each task")
    names = [task.name if task != tasks[0] or k == 0 else f"{task.name}, another seed" for k, task in enumerate(tasks)]
    soup, ends = named["uniform soup"].accuracies, (named["first"].accuracies[0], named["second"].accuracies[1])
    numbers, tables, marks = list[Number](), list[Table](), marks_on_grid(named, at)
    for k, name in enumerate(names):
        guess = chance(plane.tasks[k])
        metric, baselines = tasks[k].metric, {"own model": ends[k], "guess": guess}
        numbers.append(Number(f"uniform soup, {name}", soup[k], metric, baselines))
        values = [point.accuracies[k] - guess for point in points]
        tables.append(panel(f"{metric.capitalize()} above guessing, {name}", points, values, marks, metric))
    forgotten = [point.forgetting for point in points]
    if all(value is not None for value in forgotten):
        tables.append(panel("Forgetting", points, forgotten, marks, plane.base.learner.entry.unit()))
    return Finding(
        f"The uniform soup of both models reaches {soup[0]:.2f} ({names[0]}) and {soup[1]:.2f} ({names[1]}); the two "
        f"models themselves reach {ends[0]:.2f} and {ends[1]:.2f}, each on its own task.",
        tuple(numbers),
        (*tables, named_models(named, names)),
    )


MARKS = {
    "pre-trained": "0", "first": "1", "second": "2", "WiSE-FT, first": "W1", "WiSE-FT, second": "W2",
    "uniform soup": "U", "task arithmetic": "A", "TIES": "T", "DARE": "D", "greedy soup": "G",
}  # fmt: skip
"""What stands in the cell of a named model."""

KEY = (
    "Across: the share of the first model's change in the weights; up: of the second's. Each task keeps its own head. "
    f"{'; '.join(f'{mark} {name}' for name, mark in MARKS.items())}."
)


def marks_on_grid(named: Mapping[str, PlanePoint], at: Sequence[float]) -> dict[tuple[float, float], str]:
    """The marks of the named models by the point of the grid that is nearest to them."""
    marks: dict[tuple[float, float], str] = {}
    for name, point in named.items():
        x, y = (min(at, key=lambda value, to=to: abs(value - to)) for to in (point.x, point.y))
        marks[x, y] = " ".join(filter(None, (marks.get((x, y), ""), MARKS[name])))
    return marks


def panel(
    title: str,
    points: Sequence[PlanePoint],
    values: Sequence[float],
    marks: Mapping[tuple[float, float], str],
    unit: str,
) -> Table:
    """One number in all of the plane."""
    columns = {
        "first": [f"{point.x:.3g}" for point in points],
        "second": [f"{point.y:.3g}" for point in points],
        "value": list(values),
        "model": [marks.get((point.x, point.y), "") for point in points],
    }
    return Table(title, columns, Matrix("second", "first", "value", "model"), unit, note=KEY)


def named_models(named: Mapping[str, PlanePoint], names: Sequence[str]) -> Table:
    """Where the named models are, and what they can do."""
    header = ("model", "first", "second", "share in the plane", *names, "forgetting")
    rows = [(name, p.x, p.y, p.inside, *p.accuracies, p.forgetting) for name, p in named.items()]
    note = "TIES and DARE leave the plane: they are marked where they come nearest to it and measured where they are."
    return Table("Named models", columns_of(header, rows), Rows(), note=note)


SOUP_PLANE = Instrument(
    name="soup plane",
    group="Training",
    question="How well does a mean of two fine-tuned models solve both tasks, and how much has it forgotten?",
    source="arXiv:2203.05482; arXiv:2109.01903; arXiv:2212.04089; arXiv:2306.01708; arXiv:2311.03099",
    measure=measure,
    rows=("V29",),
    needs=(reads_sentences, knows_sentiment),
    settings=Settings(),
)
