"""A probing classifier at every level, with its control task and a random encoder (arXiv:1903.08855, 1909.03368)."""

from dataclasses import dataclass
from typing import Literal

from playground.analysis.finding import Curve, Finding, Number, Table, melt
from playground.analysis.instrument import Instrument, labels
from playground.analysis.probing.classifier import ProbeCurve, probe_curve
from playground.analysis.probing.reading import both_states, probing_items
from playground.analysis.probing.task import find_probing_task, probing_tasks
from playground.analysis.subject import Subject
from playground.knob import knob


@dataclass(frozen=True)
class Settings:
    """What is asked, of how much text, by which probe."""

    task: str = knob("part of speech", choices=tuple(probing_tasks()), why="What is predicted from the states.")
    count: int = knob(1000, 60, 4000, unit="sentences", why="More sentences, smaller errors, more seconds.")
    hidden: int = knob(
        0, 0, 256, unit="hidden units", why="0 is a linear probe; many hidden units can memorise the words."
    )
    split: Literal["sentence", "type"] = knob(
        "sentence",
        choices=("sentence", "type"),
        why="The test has other sentences than the training; split by type, it has other words too.",
    )


def measure(subject: Subject, settings: Settings) -> Finding:
    """The accuracy of a probe by level, of the model and of a random encoder, on the task and on its control task."""
    task = find_probing_task(settings.task)
    texts, items = probing_items(subject, task, settings.count)
    states = both_states(subject, texts.tokens)
    curve = probe_curve(*states, texts.tokens, items, subject.seed, settings.hidden, settings.split)
    best = curve.best
    control = f"control task {best.control:.2f}, random encoder {best.random_accuracy:.2f}"
    return Finding(
        f"{task.question} The probe is best at {subject.levels[best.level]}: accuracy {best.accuracy:.2f} ({control}).",
        (
            Number("accuracy", best.accuracy, "share right", {
                "control task": best.control, "random encoder": best.random_accuracy,
                "most frequent class": curve.chance, "most frequent of the same word": curve.by_type,
            }),
            Number("selectivity", best.selectivity, "accuracy minus that of the control task",
                   {"random encoder": best.random_accuracy - best.random_control}),
            Number("standard error", curve.error(best.accuracy), f"of {curve.tested} items tested"),
        ),
        (by_level(subject, curve, task.unlike_paper),),
    )  # fmt: skip


def by_level(subject: Subject, curve: ProbeCurve, note: str) -> Table:
    """Four accuracies at every level."""
    of = {
        "task": [one.accuracy for one in curve.levels],
        "control task": [one.control for one in curve.levels],
        "task, random encoder": [one.random_accuracy for one in curve.levels],
        "control task, random encoder": [one.random_control for one in curve.levels],
    }
    columns = melt("level", subject.levels[: len(curve.levels)], "accuracy", of, "probe")
    lines = {"most frequent class": curve.chance, "most frequent of the same word": curve.by_type}
    unlike = f"Unlike the paper: {note}." if note else ""
    return Table("Accuracy by level", columns, Curve("level", "accuracy", "probe"), "share right", lines, unlike)


PROBING_CLASSIFIER = Instrument(
    name="probing classifier",
    group="Probes",
    question="Can a simple classifier predict a property of the text from the states, or does it memorise the words?",
    source="arXiv:1903.08855; control tasks of arXiv:1909.03368",
    measure=measure,
    rows=("V01", "V02", "V03", "V04", "V05", "V08"),
    needs=(labels("pos"),),
    settings=Settings(),
)
