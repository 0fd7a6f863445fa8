"""`playground runs`: the runs that were kept, their forks and their curves."""

import argparse
from dataclasses import asdict
from pathlib import Path
from typing import Any

from playground.cli.options import command, path, say


def add(commands: Any) -> None:
    """The options of the command."""
    made = command(commands, "runs", "list the runs that were kept, or show the curve of one", show)
    made.add_argument("name", nargs="?", help="one run; without it all are listed, forks beneath their parents")
    made.add_argument("--runs", type=path, default="runs", metavar="DIR", help="the folder with the list of runs")


def show(given: argparse.Namespace) -> int:
    """All runs as a tree, or one with its curve."""
    from playground.training.store.runs import Runs

    runs = Runs(Path(given.runs))
    if given.name is None:
        every = runs.all()
        lines = list(_tree(every, None)) or [f"No run was kept in {given.runs}; train one: playground train BERT."]
        return say(given, {"runs": [asdict(run) for run in every]}, lines)
    run, points = runs.find(given.name), runs.points(given.name)
    facts = asdict(run) | {"checkpoints": list(run.checkpoints), "points": [asdict(p) for p in points]}
    curve = [f"  step {p.step}: held out {p.held_out:.3f}" for p in points if p.held_out is not None]
    return say(given, facts, [_line(run), *curve, f"  checkpoints of steps {_steps(run)} in {run.out}"])


def _tree(every: Any, parent: str | None, depth: int = 0) -> Any:
    """Every run on a line, its forks indented beneath it; a fork whose parent is gone stands on its own."""
    names = {run.name for run in every}
    for run in every:
        if (run.parent if run.parent in names else None) == parent:
            yield "  " * depth + _line(run)
            yield from _tree(every, run.name, depth + 1)


def _line(run: Any) -> str:
    loss = "–" if run.held_out is None else f"{run.held_out:.3f}"
    forked = f" (from step {run.forked_at}: {run.changed})" if run.parent else ""
    return f"{run.name}{forked}: {run.step} steps, held out {loss} nats, {run.seconds:.1f} s, {run.state}"


def _steps(run: Any) -> str:
    return ", ".join(map(str, run.checkpoints)) or "the last only"
