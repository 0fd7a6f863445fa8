"""`playground choose`: which of several runs suits which task? Each is tried, and compared with the task's texts."""

import argparse
import os
import sys
from typing import Any

from playground.cli.options import MOST_SEEDS, MOST_STEPS, MOST_TEXTS, command, positive, renamed, say
from playground.errors import Refusal


def add(commands: Any) -> None:
    """The options of the command."""
    made = command(commands, "choose", "which run suits which task", choose)
    made.add_argument("runs", nargs="+", metavar="RUN", help="folders of runs")
    made.add_argument("--tasks", default="sentiment,topic,entailment,part of speech", metavar="a,b,c")
    made.add_argument("--strategy", default="feature-based", metavar="NAME", help="how a task is learnt")
    renamed(made, "--labels", "--train-size", type=positive(int, MOST_TEXTS), default=64, metavar="N")
    made.add_argument("--seeds", type=positive(int, MOST_SEEDS), default=2, metavar="K")
    made.add_argument("--tuning-steps", type=positive(int, MOST_STEPS), default=80, metavar="N")


def choose(given: argparse.Namespace) -> int:
    """Try every run on every task, with a bar on standard error."""
    import torch
    from tqdm import tqdm

    from playground.finetuning import find_task
    from playground.finetuning.comparing.model_selection import facts, try_all
    from playground.finetuning.run.trainer import FinetuneConfig
    from playground.finetuning.strategy.parse import read
    from playground.training import checkpoint

    torch.set_num_threads(1)
    missing = next((run for run in given.runs if not os.path.exists(run)), None)
    if missing:
        raise Refusal(f"There is no run in {missing}; train one first: playground train BERT --out {missing}.")
    tasks = [find_task(name.strip()) for name in given.tasks.split(",")]
    saved = {run: checkpoint.load(run) for run in given.runs}
    tries = try_all(
        saved,
        tasks,
        read(given.strategy),
        given.train_size,
        given.seeds,
        given.seed,
        FinetuneConfig(given.tuning_steps),
    )
    found = list(tqdm(tries, total=len(saved) * len(tasks), desc="runs x tasks", file=sys.stderr))
    told = facts(found)
    return say(given, told, _table(told))


def _table(told: dict[str, Any]) -> list[str]:
    """Runs down, tasks across: accuracy, and in brackets how alike the texts are."""
    tasks = told["tasks"]
    wide, cell = max(len(run) for run in told["runs"]) + 2, max(16, *(len(name) + 2 for name in tasks))
    lines = ["accuracy (how alike the task's words and those of pre-training are, 0 to 1)"]
    lines.append(" " * wide + "".join(f"{name:>{cell}}" for name in tasks))
    for run in told["runs"]:
        cells = [next(c for c in told["cells"] if (c["run"], c["task"]) == (run, name)) for name in tasks]
        lines.append(f"{run:<{wide}}" + "".join(f"{_cell(c):>{cell}}" for c in cells))
    reasons = [f"{c['run']}, {c['task']}: {c['reason']}" for c in told["cells"] if c["reason"]]
    verdicts = [f"{task}: {said}" for task, said in told["verdicts"].items()]
    return [*lines, *reasons, *verdicts, *([told["said"]] if told["said"] else [])]


def _cell(found: dict[str, Any]) -> str:
    right = "–" if found["accuracy"] is None else f"{found['accuracy']:.3f}"
    return f"{right} ({found['alike']:.2f})"
