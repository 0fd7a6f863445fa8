"""All probing tasks at one level, sorted by their selectivity (arXiv:1903.08855, 1805.01070, 1909.03368)."""

from dataclasses import dataclass

from playground.analysis.finding import Bars, Finding, Number, Rows, Table, melt
from playground.analysis.instrument import Instrument, labels
from playground.analysis.probing.classifier import ProbeCurve, probe_curve
from playground.analysis.probing.reading import both_states, probing_items
from playground.analysis.probing.task import ProbingTask, probing_tasks
from playground.analysis.subject import Subject
from playground.errors import UserError
from playground.knob import knob


@dataclass(frozen=True)
class Settings:
    """How much text is read, and at which level."""

    count: int = knob(800, 60, 4000, unit="sentences", why="More sentences, smaller errors, more seconds.")
    level: int = knob(
        64, 0, 64, unit="level", why="0 is the embeddings; a number above the top level means the top level."
    )


def measure(subject: Subject, settings: Settings) -> Finding:
    """A linear probe for every task that the corpus has labels for, with its control task and a random encoder."""
    curves: dict[ProbingTask, ProbeCurve] = {}
    absent: dict[str, str] = {}
    level = min(settings.level, len(subject.levels) - 1)
    for task in probing_tasks().values():
        try:
            read, items = probing_items(subject, task, settings.count)
            own, random = both_states(subject, read.tokens)
            curves[task] = probe_curve([own[level]], [random[level]], read.tokens, items, subject.seed)
        except UserError as reason:
            absent[task.name] = str(reason)
    ranked = sorted(curves.items(), key=lambda pair: -pair[1].best.selectivity)
    above = [task for task, curve in ranked if curve.best.accuracy > curve.best.random_accuracy]
    missing = Table(
        "Tasks without labels in these sentences", {"task": list(absent), "why": list(absent.values())}, Rows()
    )
    return Finding(
        f"{len(above)} of {len(curves)} probes are better at {subject.levels[level]} than on a random encoder.",
        (Number("better than a random encoder", len(above) / max(1, len(curves)), "share of the tasks"),),
        (_bars(ranked), _table(ranked), missing),
    )


def _bars(ranked: list[tuple[ProbingTask, ProbeCurve]]) -> Table:
    """Accuracies side by side, task by task."""
    of = {
        "task": [c.best.accuracy for _, c in ranked],
        "control task": [c.best.control for _, c in ranked],
        "random encoder": [c.best.random_accuracy for _, c in ranked],
        "most frequent class": [c.chance for _, c in ranked],
    }
    columns = melt("task", [task.name for task, _ in ranked], "accuracy", of, "of")
    return Table("Accuracy by task", columns, Bars("task", "accuracy", "of"), "share right")


def _table(ranked: list[tuple[ProbingTask, ProbeCurve]]) -> Table:
    return Table("Selectivity by task", {
        "task": [task.name for task, _ in ranked],
        "unit": [task.unit for task, _ in ranked],
        "selectivity": [c.best.selectivity for _, c in ranked],
        "random encoder": [c.best.random_accuracy - c.best.random_control for _, c in ranked],
        "classes": [len(c.names) for _, c in ranked],
        "tested": [c.tested for _, c in ranked],
    }, Rows(), "accuracy minus that of the control task")  # fmt: skip


PROBING_BATTERY = Instrument(
    name="all probing tasks",
    group="Probes",
    question="Which properties of words, pairs of words and sentences can a linear probe predict from the states?",
    source="arXiv:1903.08855; arXiv:1805.01070; arXiv:1909.03368",
    measure=measure,
    rows=("V02", "V03", "V04", "V05", "V08"),
    needs=(labels("pos"),),
    settings=Settings(),
)
