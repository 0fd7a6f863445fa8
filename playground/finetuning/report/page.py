"""The result of a comparison as files: a page, a figure, tables, a notebook, and the command that makes it again."""

import json
import platform
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from html import escape
from io import BytesIO
from pathlib import Path
from typing import Any, TypeVar

import torch

from playground import __version__
from playground.errors import Refusal
from playground.finetuning.comparing.compare import Allotted, Comparison, mixed_levels
from playground.finetuning.comparing.continual import ContinualResult
from playground.finetuning.comparing.continual import facts as in_turn
from playground.finetuning.comparing.continual import table as matrices
from playground.finetuning.comparing.spec import ComparisonSpec
from playground.finetuning.data.task import Task, short
from playground.finetuning.report import plot
from playground.finetuning.report.notebook import notebook, notebook_in_turn
from playground.finetuning.report.spreadsheet import csv_text
from playground.finetuning.run.trainer import Result

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 940px; margin: 24px auto; padding: 0 16px; color: #1b1f24; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; margin: 12px 0 20px; }
th, td { padding: 5px 12px 5px 0; border-top: 1px solid #d5d9de; text-align: left; vertical-align: top; }
th { font-weight: 500; border-top: 0; color: #57606a; font-size: 13px; }
code { background: #f2f4f6; padding: 2px 5px; border-radius: 4px; overflow-wrap: anywhere; }
dt { color: #57606a; } dd { margin: 0 0 8px; overflow-wrap: anywhere; }
"""


@dataclass(frozen=True)
class Origin:
    """Where a comparison started: the entry, its seed and steps, and the corpus with the hash of its content."""

    entry: str
    seed: int
    step: int
    corpus: str
    corpus_hash: str


@dataclass(frozen=True)
class Report:
    """A finished comparison with everything that is needed to make it again."""

    comparison: Comparison
    asked: ComparisonSpec
    origin: Origin

    @property
    def provenance(self) -> dict[str, str]:
        """Where the numbers come from, in words."""
        return came_from(self.asked, self.origin)

    def rows(self) -> list[dict[str, Any]]:
        """One row for every lane: what it got and what came out."""
        got = self.comparison.allotted
        return [
            {
                "strategy": name, "seed": self.asked.seed + k, "labels": labels,
                "steps": _steps(got.get(name), outcome),
                "rate": got[name].rate if name in got else None,
                "rate_from": got[name].rate_from if name in got else None, "accuracy": outcome.accuracy,
                "forgetting": outcome.forgetting, "forgetting_plugged_in": outcome.plugged_in,
                "trainable": outcome.trainable, "stored": outcome.stored, "seconds": outcome.seconds,
                "memory": got[name].held.total if name in got else None,
                "corpus": self.origin.corpus, "corpus_hash": self.origin.corpus_hash, "version": __version__,
            }
            for labels, named in self.comparison.curve.items()
            for name, some in named.items()
            for k, outcome in enumerate(some)
        ]  # fmt: skip

    def facts(self) -> dict[str, Any]:
        """The facts of the comparison and where they come from."""
        told = {"base": self.origin.entry, "corpus": self.origin.corpus, "provenance": self.provenance}
        return self.comparison.facts() | told

    def drawing(self) -> plot.Drawing:
        """The figure: accuracy and forgetting of every strategy at the largest number of labelled texts."""
        outcomes = self.comparison.outcomes
        title = f"{self.asked.task}, {self.comparison.labels} labelled texts, {self.asked.seeds} seeds"
        accuracy, forgetting = (
            {name: [getattr(o, what) for o in some] for name, some in outcomes.items()}
            for what in ("accuracy", "forgetting")
        )
        return plot.outcomes_figure(title, accuracy, forgetting)


@dataclass(frozen=True)
class ContinualReport:
    """Tasks that were learnt one after another, with everything that is needed to do so again."""

    passed: tuple[ContinualResult, ...]
    asked: ComparisonSpec
    origin: Origin
    tasks: tuple[Task, ...] = ()

    @property
    def provenance(self) -> dict[str, str]:
        """Where the numbers come from, in words."""
        return came_from(self.asked, self.origin)

    def facts(self) -> dict[str, Any]:
        """What came out, and where it comes from."""
        told = {"base": self.origin.entry, "steps": self.asked.steps, "provenance": self.provenance}
        return told | in_turn(self.tasks or self.asked.tasks, self.asked.train_sizes[-1], self.passed)


def came_from(asked: ComparisonSpec, origin: Origin) -> dict[str, str]:
    """Where the numbers of a comparison come from, in words."""
    return {
        "base": f"{origin.entry}, seed {origin.seed}, after {origin.step} steps",
        "corpus": f"{origin.corpus}, content hash {origin.corpus_hash}",
        "task": ", then ".join((asked.task, *asked.then)),
        "labelled texts": ", ".join(map(str, asked.train_sizes)),
        "seeds": ", ".join(str(asked.seed + k) for k in range(asked.seeds)),
        "alike in every lane": f"{asked.match}; {asked.steps} steps for the first strategy",
        "learning rates": asked.lr_policy,
        "versions": f"playground {__version__}, torch {torch.__version__}, Python {platform.python_version()}",
        "machine": f"{platform.system()} {platform.machine()}",
        "command": asked.command(),
    }


def _steps(got: Allotted | None, outcome: Result) -> int:
    """The steps that a lane took: none where the model was only asked."""
    return got.steps if got else outcome.plan.shape[1]


def svg(made: Report) -> bytes:
    """The figure as SVG."""
    return plot.svg(made.drawing()).encode()


def png(made: Report) -> bytes:
    """The figure as PNG, two pixels for every unit."""
    return plot.png(made.drawing())


def table(made: Report) -> bytes:
    """The lanes as CSV."""
    rows = made.rows()
    return csv_text([rows[0], *(row.values() for row in rows)]).encode()


def parquet(made: Report) -> bytes:
    """The lanes as Parquet, with where they come from in its header."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise Refusal("Parquet needs pyarrow, which is not installed; pip install pyarrow.") from error
    lanes = pyarrow.Table.from_pylist(made.rows()).replace_schema_metadata(made.provenance)
    kept = BytesIO()
    pyarrow.parquet.write_table(lanes, kept)
    return kept.getvalue()


def facts(made: Report) -> bytes:
    """Everything as JSON."""
    return json.dumps(made.facts(), indent=1, ensure_ascii=False).encode()


def page(made: Report) -> bytes:
    """One HTML page that needs no network and no script: the verdict, the figure, the table, where it comes from."""
    known = made.comparison.facts()
    rows = "".join(map(_row, known["strategies"]))
    metric = escape(short(known["metric"]))
    gaps = "".join(f"<li>{escape(against(gap))}</li>" for gap in known["against_first"])
    unlike = "".join(f"<li>{escape(said)}</li>" for said in known["differences"])
    heads = ("strategy", metric, "forgetting (nats)", "trained", "stored", "steps", "rate", "memory (KiB)", "seconds")
    body = (
        f"<p>{escape(known['verdict'])}</p>{plot.svg(made.drawing())}"
        f"<table><tr>{''.join(f'<th>{head}</th>' for head in heads)}</tr>{rows}</table>"
        f"{''.join(f'<p>{escape(line)}</p>' for line in (*mixed_levels(known), *known['told']))}"
        f"<h2>Against the first</h2><ul>{gaps}</ul><h2>What sets them apart</h2><ul>{unlike}</ul>"
    )
    return _page(f"Fine-tuning for {known['task']}", body, made.provenance)


def _page(title: str, body: str, provenance: dict[str, str]) -> bytes:
    """A page with its style, and where it comes from at the foot."""
    title = escape(title)
    origin = "".join(f"<dt>{escape(k)}</dt><dd>{_code(k, v)}</dd>" for k, v in provenance.items())
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title><style>{STYLE}</style>'
        f"<h1>{title}</h1>{body}<h2>Where it comes from</h2><dl>{origin}</dl></html>"
    ).encode()


def _row(s: dict[str, Any]) -> str:
    right, forgot = s["accuracy"], s["forgetting"]
    cells = (
        s["name"], f"{right['mean']:.3f} ± {right['sd']:.3f}", f"{forgot['mean']:+.3f} ± {forgot['sd']:.3f}",
        f"{s['trainable']:,}", f"{s['stored']:,}", s.get("steps", ""), _rate(s),
        f"{s['memory'] / 1024:.1f}" if "memory" in s else "", f"{s['seconds']:.2f}",
    )  # fmt: skip
    return f"<tr>{''.join(f'<td>{escape(str(cell))}</td>' for cell in cells)}</tr>"


def _rate(s: dict[str, Any]) -> str:
    """A rate and whose it is: ours, published, one for all or searched for."""
    return f"{s['rate']:g} ({s['rate_from'].split(': ')[0]})" if s.get("rate_from") else ""


def against(gap: dict[str, Any]) -> str:
    """A paired difference as a sentence."""
    room = f" (95 % interval {gap['low']:+.3f} to {gap['high']:+.3f})" if gap["low"] is not None else ""
    return f"{gap['name']} against {gap['against']}: {gap['difference']:+.3f} accuracy{room}: {gap['said']}."


def _code(name: str, said: str) -> str:
    return f"<code>{escape(said)}</code>" if name == "command" else escape(said)


def script(made: Report) -> bytes:
    """A notebook that makes the comparison again."""
    return notebook(made.asked, made.provenance, made.comparison)


FILES: dict[str, Callable[[Report], bytes]] = {
    "comparison.html": page,
    "comparison.png": png,
    "comparison.svg": svg,
    "comparison.csv": table,
    "comparison.parquet": parquet,
    "comparison.json": facts,
    "comparison.ipynb": script,
}
"""Every file of a result, by its name."""


def page_in_turn(made: ContinualReport) -> bytes:
    """One HTML page of tasks learnt in turn: what is left of each after each, for every strategy."""
    found = made.facts()
    body = "".join(_matrix(found["tasks"], one) for one in found["strategies"])
    return _page(" → ".join(found["tasks"]), body, made.provenance)


def _matrix(tasks: list[str], one: dict[str, Any]) -> str:
    heads = "".join(f"<th>{escape(task)}</th>" for task in ["after learning", *tasks])
    rows = "".join(
        f"<tr><td>{escape(task)}</td>{''.join(f'<td>{cell:.3f}</td>' for cell in row)}</tr>"
        for task, row in zip(tasks, one["matrix"], strict=True)
    )
    back, lost = one["backward"], one["forgetting"]
    said = f"Earlier tasks {back['mean']:+.3f} ± {back['sd']:.3f}, pre-training loss {lost['mean']:+.3f} nats."
    return f"<h2>{escape(one['name'])}</h2><table><tr>{heads}</tr>{rows}</table><p>{said}</p>"


TURN_FILES: dict[str, Callable[[ContinualReport], bytes]] = {
    "sequence.html": page_in_turn,
    "sequence.csv": lambda made: matrices(made.facts()).encode(),
    "sequence.json": lambda made: json.dumps(made.facts(), indent=1, ensure_ascii=False).encode(),
    "sequence.ipynb": lambda made: notebook_in_turn(made.asked, made.provenance, made.facts()),
}
"""Every file of a result of tasks learnt in turn, by its name."""


def write(made: Report | ContinualReport, folder: Path) -> list[str]:
    """Write every file into a folder; the names of those that could not be made here come back as sentences.

    The notebook stands in the folder, so the paths in it begin there.
    """
    if isinstance(made, Report):
        return _write(made, FILES, folder)
    return _write(made, TURN_FILES, folder)


Made = TypeVar("Made", Report, ContinualReport)


def _write(made: Made, files: Mapping[str, Callable[[Made], bytes]], folder: Path) -> list[str]:
    lacking = []
    here = replace(made, asked=made.asked.seen_from(folder))
    for name, make in files.items():
        try:
            (folder / name).write_bytes(make(here if name.endswith(".ipynb") else made))
        except Refusal as refusal:
            lacking.append(f"{name} was not written. {refusal}")
        except OSError as error:
            raise Refusal(f"{folder / name} cannot be written ({error.strerror or error}).") from error
    return lacking
