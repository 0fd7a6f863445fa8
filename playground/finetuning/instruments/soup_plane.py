"""The plane through a model and two fine-tuned copies of it: accuracy on both tasks and forgetting at every point."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from statistics import fmean

import torch
from torch import Generator, Tensor, nn

from playground.analysis.finding import Finding, Matrix, Number, Rows, Table, columns_of
from playground.analysis.instrument import Instrument, reads_sentences
from playground.analysis.landscape import Weights, flat, less, moved, weights_of
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
from playground.finetuning.data.task import Task, short
from playground.finetuning.run.base import Base, replace_model
from playground.finetuning.run.trainer import FinetuneConfig, Finetuner, numbered
from playground.finetuning.strategies.full import FULL
from playground.finetuning.strategy.after import WiSEFT
from playground.finetuning.tasks.sentiment import SENTIMENT
from playground.knob import knob
from playground.models.model import LanguageModel

PARTS = 10
"""Parts of a fine-tuning between which its weights are kept, to draw its way through the plane."""

ENDS = (-0.5, 1.5)
"""Where both sides of the plane begin and end; 0 is the start, 1 a finished model."""


@dataclass(frozen=True)
class Settings:
    """How both models are fine-tuned, and how finely the plane is measured."""

    second: str = knob("topic", why="The second task; sentiment is the first one again, from other texts.")
    labels: int = knob(64, 8, 1000, unit="labelled texts", why="Labelled texts of each task.")
    steps: int = knob(80, 1, 1000, unit="steps", why="Steps of fine-tuning for each task.")
    texts: int = knob(200, 4, 1000, unit="unseen texts", why="Texts of each task that every model in the plane reads.")
    points: int = knob(21, 3, 41, unit="points", why="Points of each side of the plane.")


@dataclass(frozen=True)
class PlanePoint:
    """A model: where it lies, the share of its way from the start that lies `inside` the plane, and what it can do.

    `accuracies` has one for each task; `forgetting` is the rise of the pre-training loss, None without a head for it.
    """

    x: float
    y: float
    inside: float
    accuracies: tuple[float, ...]
    forgetting: float | None


Way = tuple[int, float, float, float]
"""A step of fine-tuning, the coordinates of the nearest point in the plane, and the share of its way inside it."""


@dataclass(frozen=True, eq=False)
class SoupPlane:
    """All models start + x (first - start) + y (second - start), where the start is the pre-trained model.

    With two tasks the heads do not move: each task is read by the head that was fine-tuned for it, everywhere in the
    plane. So (1, 0) and (0, 1) are the finished models, (alpha, 0) is the strategy WiSE-FT on the first task, and
    (0, 0) is the pre-trained model under both heads. Two models of one task begin with the same new head, which moves
    with the body, as in a model soup (arXiv:2203.05482, sec. 2). `tasks` and `held_out` hold the unseen texts and
    labelled texts that no model has learned from; `parameters` take the weights of each model in turn. `ways` are the
    weights of both models by the number of steps that they have learned.
    """

    base: Base
    carrier: LanguageModel
    parameters: tuple[nn.Parameter, ...]
    start: Weights
    models: tuple[Weights, Weights]
    tasks: tuple[LearnedTask, ...]
    held_out: tuple[LearnedTask, ...]
    ways: tuple[Mapping[int, Weights], Mapping[int, Weights]]

    def at(self, x: float, y: float) -> Weights:
        """The weights at a point."""
        first, second = (less(model, self.start) for model in self.models)
        return moved(self.start, (x, first), (y, second))

    @torch.no_grad()
    def put(self, weights: Weights) -> LanguageModel:
        """The model with other weights, and the head of a task that moves with it."""
        for parameter, value in zip(self.parameters, weights, strict=True):
            parameter.copy_(value)
        return self.carrier.eval()

    def point(self, weights: Weights) -> PlanePoint:
        """Measure a model, which need not lie in the plane: its coordinates are those of the nearest one that does."""
        return PlanePoint(*self.nearest(weights), *self.measured(weights))

    def measured(self, weights: Weights) -> tuple[tuple[float, ...], float | None]:
        """The accuracies and the forgetting of a model."""
        model = self.put(weights)
        accuracies = tuple(task.accuracy(model) for task in self.tasks)
        before = self.base.remember("before", lambda: self.base.pretraining_loss(self.base.learner))
        after = self.base.pretraining_loss(replace_model(self.base.learner, model))
        return accuracies, None if before is None or after is None else after - before

    def nearest(self, weights: Weights) -> tuple[float, float, float]:
        """The coordinates of the nearest point of the plane, and the share of the squared way that lies in it."""
        axes = torch.stack([flat(less(model, self.start)) for model in self.models], 1).cpu().double()
        way = flat(less(weights, self.start)).cpu().double()
        at = torch.linalg.lstsq(axes, way[:, None]).solution[:, 0]
        whole, inside = float(way.square().sum()), float((axes @ at).square().sum())
        x, y, share = (round(value, 6) + 0.0 for value in (*at.tolist(), inside / whole if whole else 1.0))
        return x, y, share

    def way(self, number: int) -> list[Way]:
        """Where the first (0) or the second (1) model was during its fine-tuning."""
        return [(step, *self.nearest(weights)) for step, weights in self.ways[number].items()]

    def grid(self, at: Sequence[float]) -> Iterator[PlanePoint]:
        """Every point of a square, row by row from the highest y down."""
        for y in sorted(at, reverse=True):
            for x in at:
                yield PlanePoint(x, y, 1.0, *self.measured(self.at(x, y)))

    def held_out_accuracy(self, weights: Weights) -> float:
        """The mean accuracy on labelled texts that no model has learned from and none is tested on."""
        model = self.put(weights)
        return fmean(task.accuracy(model) for task in self.held_out)

    def marked(self, rng: Generator) -> dict[str, Weights]:
        """The models that have a name."""
        start, models = self.start, list(self.models)
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


def soup_plane(base: Base, tasks: tuple[Task, Task], settings: Settings, seed: int) -> SoupPlane:
    """Fine-tune two copies of the base; if the tasks are the same, the second copy learns it from other texts."""
    tokenizer, suited, same = base.words, format_for(base.learner.model.shape), tasks[0] == tasks[1]
    carrier, known, ways = deepcopy(base.learner.model), list[LearnedTask](), list[dict[int, Weights]]()
    kept = {round(settings.steps * part / PARTS) for part in range(PARTS + 1)}
    for number, task in enumerate(tasks):
        labelled = task.load(tokenizer, 3 * settings.labels, seed, "train", suited)
        rows = torch.arange(len(labelled.labels)).tensor_split(3)
        train, held_out = (numbered(labelled.pick(rows[part]), base) for part in (number, 2))
        test = numbered(task.load(tokenizer, settings.texts, 0, "test", suited), base)
        run = Finetuner(replace(base, task=task), FULL, train, FinetuneConfig(steps=settings.steps), seed)
        every = (*run.model.parameters(), *(run.head.parameters() if same else ()))
        ways.append({0: weights_of(every)})
        for step in range(settings.steps):
            run.learn(step)
            if step + 1 in kept:
                ways[-1][step + 1] = weights_of(every)
        head = run.head.requires_grad_(False)
        known += [LearnedTask(train, test, head, ()), LearnedTask(train, held_out, head, ())]
    known = known[:2] if same else known
    parameters = (*carrier.parameters(), *(known[0].head.parameters() if same else ()))
    first, second = ways
    ends = first[settings.steps], second[settings.steps]
    return SoupPlane(
        base, carrier, parameters, first[0], ends, tuple(known[::2]), tuple(known[1::2]), (first, second)
    )  # fmt: skip


def chance(task: LearnedTask) -> float:
    """What a constant answer reaches; 0 where the metric has no chance level."""
    answer = task.test.answer
    return answer.guess(task.train.labels, task.test.labels) if answer.has_chance else 0.0


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
    subject.count(min(len(task.test.labels) for task in plane.tasks), "unseen texts of each task")
    ways = {name: plane.way(k) for k, name in enumerate(("first", "second"))}
    paths = {name: [(x, y) for _, x, y, _ in way] for name, way in ways.items()}
    names = [task.name for task in dict.fromkeys(tasks)]
    soup, ends = named["uniform soup"].accuracies, [named["first"].accuracies[0], named["second"].accuracies[-1]]
    numbers, tables, marks = list[Number](), list[Table](), marks_on_grid(named, at)
    for k, name in enumerate(names):
        guess = chance(plane.tasks[k])
        metric, own = short(tasks[k].metric), {"first model": ends[0]} if k == 0 else {}
        own |= {"second model": ends[1]} if k + 1 == len(names) else {}
        own |= {"guess": guess} if guess else {}
        numbers.append(Number(f"uniform soup, {name}", soup[k], metric, own))
        values = [point.accuracies[k] - guess for point in points]
        title = f"{metric[:1].upper()}{metric[1:]}{' above guessing' * bool(guess)}, {name}"
        tables.append(panel(title, points, values, marks, metric, paths))
    forgotten = [point.forgetting for point in points]
    if all(value is not None for value in forgotten):
        tables.append(panel("Forgetting", points, forgotten, marks, plane.base.learner.entry.unit(), paths))
    reached = " and ".join(f"{accuracy:.2f} ({name})" for accuracy, name in zip(soup, names, strict=True))
    tables[0] = replace(tables[0], note=KEY)
    return Finding(
        f"The uniform soup of both models reaches {reached}; the models themselves reach {ends[0]:.2f} and "
        f"{ends[1]:.2f}, each on its own task.",
        tuple(numbers),
        (*tables, named_models(named, names), ways_of(ways)),
    )


MARKS = {
    "pre-trained": "0", "first": "1", "second": "2", "WiSE-FT, first": "W1", "WiSE-FT, second": "W2",
    "uniform soup": "U", "task arithmetic": "A", "TIES": "T", "DARE": "D", "greedy soup": "G",
}  # fmt: skip
"""What stands in the cell of a named model."""

KEY = (
    "Across: the share of the first model's change in the weights; up: of the second's. Lines: both fine-tunings. "
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
    paths: Mapping[str, Sequence[tuple[float, float]]],
) -> Table:
    """One number in all of the plane."""
    columns = {
        "first": [f"{point.x:.3g}" for point in points],
        "second": [f"{point.y:.3g}" for point in points],
        "value": list(values),
        "model": [marks.get((point.x, point.y), "") for point in points],
    }
    return Table(title, columns, Matrix("second", "first", "value", "model", ring=True), unit, paths=paths)


def named_models(named: Mapping[str, PlanePoint], names: Sequence[str]) -> Table:
    """Where the named models are, and what they can do."""
    header = ("model", "first", "second", "share in the plane", *names, "forgetting")
    rows = [(name, p.x, p.y, p.inside, *p.accuracies, p.forgetting) for name, p in named.items()]
    note = "TIES and DARE leave the plane: they are marked where they come nearest to it and measured where they are."
    heads = " Each task is read by its own fine-tuned head, also in models that were not tuned for it."
    return Table("Named models", columns_of(header, rows), Rows(), note=note + heads * (len(names) > 1))


def ways_of(ways: Mapping[str, Sequence[Way]]) -> Table:
    """Where both models were during their fine-tuning."""
    rows = [(name, *point) for name, way in ways.items() for point in way]
    note = "The lines in the plane. What is not in the plane of the weights is not drawn: its share is 1 less this one."
    header = ("model", "step", "first", "second", "share in the plane")
    return Table("Fine-tuning, step by step", columns_of(header, rows), Rows(), note=note)


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
