"""The result of a comparison as files: a page, a figure, tables, a notebook, and the command that makes it again."""

import csv
import platform
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from io import StringIO
from pathlib import Path
from typing import Any, TypedDict

import torch

from playground import __version__
from playground.errors import writing
from playground.finetuning.comparing.compare import Comparison, ComparisonFacts, StrategyFacts, mixed_levels
from playground.finetuning.comparing.continual import ContinualResult, SequenceFacts
from playground.finetuning.comparing.continual import facts as in_turn
from playground.finetuning.comparing.significance import PairFacts
from playground.finetuning.comparing.spec import ComparisonSpec
from playground.finetuning.data.task import Task, short
from playground.finetuning.report.notebook import notebook, notebook_in_turn
from playground.parsing import dump_json
from playground.training.parallel.seeds import MeanAndSd
from playground.training.store.ready_made import named, weights_hash
from playground.training.train_state import TrainState

FORMULA = re.compile(r"[=+\-@\t\r]")
NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?(e[+-]?[0-9]+)?", re.IGNORECASE)

STYLE = Path(__file__).with_suffix(".css").read_text(encoding="utf-8")


@dataclass(frozen=True)
class Origin:
    """Where a comparison started: the entry, its seed and steps, the corpus with the hash of its content, the weights.

    `checkpoint` is the ready-made checkpoint that has the same weights, if there is one.
    """

    entry: str
    seed: int
    step: int
    corpus: str
    corpus_hash: str
    weights: str = ""
    checkpoint: str = ""
    unit: str = "nats"  # of its loss

    @classmethod
    def of(cls, learner: TrainState, corpus: str, corpus_hash: str) -> "Origin":
        """The origin of what begins from a learner."""
        names = learner.entry.name, learner.seed, learner.step, corpus, corpus_hash
        return cls(*names, weights_hash(learner), named(learner), learner.entry.unit())


Draw = Callable[[str, Mapping[str, Sequence[float]], Mapping[str, Sequence[float]], str], str]
"""Draws an SVG with a title: accuracy and forgetting of every strategy, seed by seed, and the unit of forgetting."""


class ReportFacts(ComparisonFacts):
    """Fine-tuning strategies side by side, and where they start from."""

    base: str
    """The entry that was pre-trained."""

    corpus: str
    """The corpus of its pre-training."""

    provenance: dict[str, str]
    """Where the numbers come from, in words: base model, task, texts, seeds, versions, machine and command."""


class TrialRow(TypedDict):
    """A row of the table: one strategy with one seed at one number of labelled texts, what it got and its outcome."""

    strategy: str
    seed: int
    labels: int
    steps: int
    rate: float
    rate_from: str
    rate_where: str
    accuracy: float
    forgetting: float | None
    forgetting_plugged_in: float | None
    trainable: int
    stored: int
    seconds: float
    memory: int
    corpus: str
    corpus_hash: str
    version: str


@dataclass(frozen=True)
class Report:
    """A finished comparison with everything that is needed to make it again, and what draws its figure."""

    comparison: Comparison
    asked: ComparisonSpec
    origin: Origin
    draw: Draw

    def rows(self) -> list[TrialRow]:
        """One row for every trial: what it got and its outcome."""
        return [
            {
                "strategy": name, "seed": self.asked.seed + k, "labels": labels,
                "steps": got.steps, "rate": got.rate, "rate_from": got.rate_from, "rate_where": got.rate_where,
                "accuracy": outcome.accuracy, "forgetting": outcome.forgetting,
                "forgetting_plugged_in": outcome.plugged_in, "trainable": outcome.trainable, "stored": outcome.stored,
                "seconds": outcome.seconds, "memory": got.memory, "corpus": self.origin.corpus,
                "corpus_hash": self.origin.corpus_hash, "version": __version__,
            }
            for labels, named in self.comparison.curve.items()
            for name, some in named.items()
            for got in [self.comparison.allotted[name]]
            for k, outcome in enumerate(some)
        ]  # fmt: skip

    def facts(self) -> ReportFacts:
        """The facts of the comparison and where they come from."""
        facts, origin = self.comparison.facts(), self.origin
        return {**facts, "base": origin.entry, "corpus": origin.corpus, "provenance": came_from(self)}

    def figure(self) -> str:
        """Accuracy and forgetting of every strategy at the largest number of labelled texts, as SVG."""
        outcomes = self.comparison.outcomes
        title = f"{self.asked.task}, {self.comparison.labels} labelled texts, {self.asked.seeds} seeds"
        accuracy = {name: [o.accuracy for o in some] for name, some in outcomes.items()}
        forgetting = {name: [o.forgetting for o in some if o.forgetting is not None] for name, some in outcomes.items()}
        title += f", from {self.origin.checkpoint}" if self.origin.checkpoint else ""
        return self.draw(title, accuracy, forgetting, self.comparison.unit)


class SequenceReportFacts(SequenceFacts):
    """Tasks learned one after another, and where the training starts from."""

    base: str
    """The entry that was pre-trained."""

    provenance: dict[str, str]
    """Where the numbers come from, in words: base model, tasks, texts, seeds, versions, machine and command."""


@dataclass(frozen=True)
class ContinualReport:
    """Tasks that were learnt one after another, with everything that is needed to do so again."""

    passed: tuple[ContinualResult, ...]
    asked: ComparisonSpec
    origin: Origin
    tasks: tuple[Task, ...] = ()

    def facts(self) -> SequenceReportFacts:
        """The results, and where they come from."""
        sequence = in_turn(self.tasks or self.asked.tasks, self.asked, self.origin.unit, self.passed)
        return {"base": self.origin.entry, **sequence, "provenance": came_from(self)}


def came_from(made: Report | ContinualReport) -> dict[str, str]:
    """Where the numbers of a comparison come from, in words."""
    asked, origin = made.asked, made.origin
    return {
        "base": f"{origin.entry}, seed {origin.seed}, after {origin.step} steps",
        "checkpoint": f"ready-made {origin.checkpoint}" if origin.checkpoint else f"weights {origin.weights[:12]}",
        "corpus": f"{origin.corpus}, content hash {origin.corpus_hash}",
        "task": ", then ".join((asked.task, *asked.then)),
        "labelled texts": ", ".join(map(str, asked.train_sizes)),
        "seeds": ", ".join(str(asked.seed + k) for k in range(asked.seeds)),
        "alike in every trial": f"{asked.match}; {asked.steps} steps for the first strategy",
        "learning rates": asked.lr_policy,
        "versions": f"playground {__version__}, torch {torch.__version__}, Python {platform.python_version()}",
        "machine": f"{platform.system()} {platform.machine()}",
        "command": asked.command(),
    }


def csv_text(rows: Iterable[Iterable[object]]) -> str:
    """Rows as comma-separated values; text that a spreadsheet would take for a formula gets an apostrophe in front."""

    def guarded(value: object) -> object:
        formula = isinstance(value, str) and FORMULA.match(value) and not NUMBER.fullmatch(value)
        return f"'{value}" if formula else value

    text = StringIO()
    csv.writer(text, lineterminator="\r\n").writerows(map(guarded, row) for row in rows)
    return text.getvalue()


def table(made: Report) -> bytes:
    """The trials as CSV."""
    rows = made.rows()
    return csv_text([rows[0], *(row.values() for row in rows)]).encode()


def table_in_turn(made: ContinualReport) -> bytes:
    """The mean matrices of tasks learnt in turn as CSV, a line for every cell."""
    found = made.facts()
    lines = [
        (one["name"], after, task, cell)
        for one in found["strategies"]
        for after, row in zip(found["tasks"], one["matrix"], strict=True)
        for task, cell in zip(found["tasks"], row, strict=False)
    ]
    return csv_text([("strategy", "after", "task", "accuracy"), *lines]).encode()


def facts(made: Report | ContinualReport) -> bytes:
    """Everything as JSON."""
    return dump_json(made.facts(), indent=1, ensure_ascii=False).encode()


def page(made: Report) -> bytes:
    """One HTML page that needs no network and no script: the verdict, the figure, the table, where it comes from."""
    known = made.comparison.facts()
    metric = short(known["metric"])
    forgetting, own = f"forgetting ({known['unit']})", ("steps", "rate", "memory (KiB)", "seconds")
    heads = ("strategy", metric, forgetting, "trained", "stored", *own)
    rows = _table(heads, map(_cells, known["strategies"]))
    gaps = "".join(f"<li>{escape(against(gap))}</li>" for gap in known["against_first"])
    unlike = "".join(f"<li>{escape(line)}</li>" for line in known["differences"])
    body = (
        f"<p>{escape(known['verdict'])}</p>{made.figure()}{rows}"
        f"{''.join(f'<p>{escape(line)}</p>' for line in (*mixed_levels(known), *known['notices']))}"
        f"<h2>Against the first</h2><ul>{gaps}</ul><h2>What differs</h2><ul>{unlike}</ul>"
    )
    return _page(f"Fine-tuning for {known['task']}", body, came_from(made))


def _page(title: str, body: str, provenance: dict[str, str]) -> bytes:
    title, command = escape(title), escape(provenance["command"])
    origin = {name: escape(words) for name, words in provenance.items()} | {"command": f"<code>{command}</code>"}
    foot = "".join(f"<dt>{escape(name)}</dt><dd>{words}</dd>" for name, words in origin.items())
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title><style>{STYLE}</style>'
        f"<h1>{title}</h1>{body}<h2>Where it comes from</h2><dl>{foot}</dl></html>"
    ).encode()


def _table(heads: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    cells = ["".join(f"<td>{escape(str(cell))}</td>" for cell in row) for row in rows]
    head = "".join(f"<th>{escape(name)}</th>" for name in heads)
    return f"<table><tr>{head}</tr>{''.join(f'<tr>{row}</tr>' for row in cells)}</table>"


def _cells(s: StrategyFacts) -> tuple[str | int, ...]:
    """The cells of a strategy; behind its rate stands whether it is ours, published, one for all or searched for."""
    right = s["accuracy"]
    return (
        s["name"], f"{right['mean']:.3f} ± {right['sd']:.3f}", signed(s["forgetting"]),
        f"{s['trainable']:,}", f"{s['stored']:,}", s["steps"],
        f"{s['rate']:g} ({s['rate_from']})" if s["rate_from"] else "", f"{s['memory'] / 1024:.1f}",
        f"{s['seconds']:.2f}",
    )  # fmt: skip


def signed(change: MeanAndSd | None, unit: str = "") -> str:
    """A change over the seeds, mean and deviation; a dash where it was not measured."""
    return f"{change['mean']:+.3f} ± {change['sd']:.3f} {unit}".rstrip() if change else "–"


def against(gap: PairFacts) -> str:
    """A paired difference as a sentence."""
    interval = f" (95 % interval {gap['low']:+.3f} to {gap['high']:+.3f})" if gap["low"] is not None else ""
    return f"{gap['name']} against {gap['against']}: {gap['difference']:+.3f}{interval}: {gap['said']}."


FILES: dict[str, Callable[[Any], bytes]] = {
    "comparison.html": page,
    "comparison.svg": lambda made: made.figure().encode(),
    "comparison.csv": table,
    "comparison.json": facts,
    "comparison.ipynb": lambda made: notebook(made.asked, came_from(made), made.comparison),
}
"""Every file of a `Report`, by its name."""


def page_in_turn(made: ContinualReport) -> bytes:
    """One HTML page of tasks learnt in turn: the accuracy on each after each, for every strategy."""
    found, body = made.facts(), ""
    for one in found["strategies"]:
        named = zip(found["tasks"], one["matrix"], strict=True)
        rows = ((name, *(f"{cell:.3f}" for cell in row)) for name, row in named)
        body += (
            f"<h2>{escape(one['name'])}</h2>{_table(['after learning', *found['tasks']], rows)}<p>Earlier tasks "
            f"{signed(one['backward'])}, pre-training loss {signed(one['forgetting'], found['unit'])}.</p>"
        )
    return _page(" → ".join(found["tasks"]), body, came_from(made))


TURN_FILES: dict[str, Callable[[Any], bytes]] = {
    "sequence.html": page_in_turn,
    "sequence.csv": table_in_turn,
    "sequence.json": facts,
    "sequence.ipynb": lambda made: notebook_in_turn(made.asked, came_from(made), made.facts()),
}
"""Every file of a `ContinualReport`, by its name."""


def write(made: Report | ContinualReport, folder: Path) -> None:
    """Write every file into a folder; the notebook stands in it, so the paths in the notebook begin there."""
    here = replace(made, asked=made.asked.seen_from(folder))
    files = FILES if isinstance(made, Report) else TURN_FILES
    write_files(folder, {name: make(here if name.endswith(".ipynb") else made) for name, make in files.items()})


def write_files(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files by their names into a folder, which is made where there is none."""
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            (folder / name).write_bytes(content)
