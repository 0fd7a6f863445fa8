"""`playground runs`: the runs that were kept, their forks and their curves."""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

from playground.cli.options import Parser, common_options, list_of_runs, say
from playground.training.curve import CurvePoint
from playground.training.store.runs import RunRow, Runs


class RunList(TypedDict):
    """The saved runs, the oldest first."""

    runs: list[RunRow]


@dataclass(frozen=True)
class RunWithCurve(RunRow):
    """One saved run."""

    checkpoints: tuple[int, ...] = ()
    """Steps from which it can be forked, besides its latest."""
    points: tuple[CurvePoint, ...] = ()


FACTS = (RunList, RunWithCurve)


def add(command: Parser) -> None:
    """The options of the command."""
    common_options(command, show, seeded=False)
    command.add_argument("name", nargs="?", help="one run; by default all are listed, forks below their parents")
    list_of_runs(command)


def show(given: argparse.Namespace) -> int:
    """All runs as a tree, or one with its curve."""
    runs = Runs(Path(given.runs))
    if given.name is None:
        every = runs.all()
        lines = list(_tree(every, None)) or [
            f"There is no saved run in {given.runs}; train one: playground train BERT."
        ]
        return say(given, RunList(runs=[*every]), lines)
    run, points = runs.find(given.name), runs.points(given.name)
    facts = RunWithCurve(**vars(run), checkpoints=run.checkpoints, points=tuple(points))
    curve = [f"  step {point.step}: held out {point.held_out:.3f}" for point in points if point.held_out is not None]
    steps = ", ".join(map(str, run.checkpoints)) or "the last only"
    return say(given, facts, [_line(run), *curve, f"  checkpoints of steps {steps} in {run.out}"])


def _tree(every: Sequence[RunRow], parent: str | None, depth: int = 0) -> Iterator[str]:
    """Every run on a line, its forks indented beneath it; a fork whose parent was deleted is a root."""
    names = {run.name for run in every}
    for run in every:
        if (run.parent if run.parent in names else None) == parent:
            yield "  " * depth + _line(run)
            yield from _tree(every, run.name, depth + 1)


ENDS = {"steps": "finished", "seconds": "finished", "asked": "stopped"}
"""How a run ended, in words, where its state is not one."""


def _line(run: RunRow) -> str:
    loss = "–" if run.held_out is None else f"{run.held_out:.3f}"
    forked = f" (from step {run.forked_at}: {run.changed})" if run.parent else ""
    end = ENDS.get(run.state, run.state)
    return f"{run.name}{forked}: {run.step} steps, held out {loss} {run.unit}, {run.seconds:.1f} s, {end}"
