"""Edge probing with a scalar mix: in which order do properties appear (arXiv:1905.05950)?"""

from dataclasses import dataclass
from math import isfinite

from playground.analysis.finding import Bars, Curve, Finding, Number, Rows, Table, melt
from playground.analysis.instrument import Instrument, labels, reads_sentences
from playground.analysis.probing.edges import EdgeProbe, edge_probe
from playground.analysis.probing.reading import both_states, probing_items
from playground.analysis.probing.task import find_probing_task
from playground.analysis.subject import Subject
from playground.errors import UserError
from playground.knob import knob

TASKS = ("part of speech", "phrase boundaries", "dependency relation", "arc", "entity type", "role", "sense")

NOTE = "Unlike the paper: a linear classifier of single words or pairs, no pooling over spans."


@dataclass(frozen=True)
class Settings:
    """How much text is read."""

    count: int = knob(500, 60, 2000, unit="sentences", why="More sentences, smaller errors, more seconds.")
    steps: int = knob(100, 3, 500, unit="gradient steps", why="Steps of training for a probe and its mix.")


def measure(subject: Subject, settings: Settings) -> Finding:
    """Centre of gravity, cumulative scores and expected level of every task that the sentences have."""
    probes: dict[str, EdgeProbe] = {}
    absent: list[str] = []
    for name in TASKS:
        try:
            task = find_probing_task(name)
            read, items = probing_items(subject, task, settings.count)
        except UserError:
            absent.append(name)
            continue
        states = both_states(subject, read.tokens)
        probes[name] = edge_probe(*states, read.tokens, items, subject.seed, settings.steps)
    missing = f" Not in these sentences: {', '.join(absent)}." if absent else ""
    order = sorted(probes, key=lambda name: probes[name].gravity)
    summary = {
        "task": order,
        "centre of gravity": [probes[name].gravity for name in order],
        "expected level": [_shown(probes[name].expected_level) for name in order],
        "accuracy": [probes[name].cumulative[-1] for name in order],
        "control task": [probes[name].control_cumulative[-1] for name in order],
        "random encoder": [probes[name].random_cumulative[-1] for name in order],
        "most frequent class": [probes[name].chance for name in order],
    }
    return Finding(
        f"By centre of gravity, lowest first: {', '.join(order)}.",
        tuple(_number(name, probes[name]) for name in order),
        (
            Table("Centre of gravity", summary, Bars("task", "centre of gravity"), "level"),
            Table("Share of each level in the mix", _by_level(subject, probes, "weights"),
                  Bars("level", "value", "task"), "share"),
            Table("Accuracy with the levels up to this one", _by_level(subject, probes, "cumulative"),
                  Curve("level", "value", "task"), "share right"),
            Table("Tasks", summary, Rows(), note=NOTE + missing),
        ),
    )  # fmt: skip


def _shown(level: float) -> str:
    return f"{level:.2f}" if isfinite(level) else "higher levels add nothing"


def _number(name: str, probe: EdgeProbe) -> Number:
    beside = {"control task": probe.control_cumulative[-1], "random encoder": probe.random_cumulative[-1]}
    return Number(name, probe.cumulative[-1], "share right", {**beside, "most frequent class": probe.chance})


def _by_level(subject: Subject, probes: dict[str, EdgeProbe], field: str) -> dict[str, list]:
    return melt("level", subject.levels, "value", {n: getattr(probe, field) for n, probe in probes.items()}, "task")


EDGE_PROBING = Instrument(
    name="edge probing",
    group="Probes",
    question="At which level is each property encoded: parts of speech lower, roles higher?",
    source="arXiv:1905.05950; arXiv:1905.06316",
    measure=measure,
    rows=("V07",),
    needs=(reads_sentences, labels("pos")),
    settings=Settings(),
)
