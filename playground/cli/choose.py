"""`playground choose`: which of several runs suits which task? Each is tried, and compared with the task's texts."""

import argparse
import os
import sys

from tqdm import tqdm

from playground.cli.options import Parser, common_options, say, whole
from playground.cli.prepare import open_task
from playground.errors import UserError
from playground.finetuning.comparing.model_selection import SAMPLE, TESTS, ChoiceFacts, TriedRun, facts, try_all
from playground.finetuning.comparing.spec import ComparisonSpec
from playground.finetuning.strategy.parse import read, spell
from playground.folders import run_folder
from playground.training import checkpoint

FACTS = (ChoiceFacts,)


def add(command: Parser) -> None:
    """The options of the command."""
    common_options(command, choose)
    option = command.add_argument
    option("runs", nargs="+", type=run_folder, metavar="RUN", help="runs by their names or folders")
    option("--tasks", default="sentiment,topic,entailment,part of speech", metavar="a,b,c")
    option("--strategy", default="feature-based", metavar="NAME", help="the fine-tuning strategy")
    option("--train-size", type=whole, default=64, metavar="N")
    option("--seeds", type=whole, default=2, metavar="K")
    option("--tuning-steps", type=whole, default=80, metavar="N")


def choose(given: argparse.Namespace) -> int:
    """Try every run on every task, with a bar on standard error."""
    missing = next((run for run in given.runs if not os.path.exists(run)), None)
    if missing:
        raise UserError(f"There is no run in {missing}; train one first: playground train BERT --out {missing}.")
    tasks = [open_task(name.strip()) for name in given.tasks.split(",")]
    saved = {run: checkpoint.load(run) for run in given.runs}
    spec = ComparisonSpec(
        strategies=(spell(read(given.strategy)),), train_sizes=(given.train_size,), seeds=given.seeds, seed=given.seed,
        steps=given.tuning_steps,
    )  # fmt: skip
    tries = try_all(saved, tasks, spec)
    found = facts(list(tqdm(tries, total=len(saved) * len(tasks), desc="runs x tasks", file=sys.stderr)))
    return say(given, found, _table(found))


def _table(found: ChoiceFacts) -> list[str]:
    """Runs down, tasks across: accuracy, and in brackets how alike the texts are."""
    tasks = found["tasks"]
    wide, cell = max(len(run) for run in found["runs"]) + 2, max(16, *(len(name) + 2 for name in tasks))
    lines = [
        f"accuracy on at most {TESTS} unseen texts (vocabulary overlap of at most {SAMPLE} texts and those of "
        "pre-training are, 0 to 1)"
    ]
    lines.append(" " * wide + "".join(f"{name:>{cell}}" for name in tasks))
    for run in found["runs"]:
        cells = [next(c for c in found["cells"] if (c["run"], c["task"]) == (run, name)) for name in tasks]
        lines.append(f"{run:<{wide}}" + "".join(f"{_cell(c):>{cell}}" for c in cells))
    cells = [(c, why) for c in found["cells"] for why in (c["reason"], *c["notices"]) if why]
    reasons = [f"{c['run']}, {c['task']}: {why}" for c, why in cells]
    verdicts = [f"{task}: {verdict}" for task, verdict in found["verdicts"].items()]
    return [*lines, *reasons, *verdicts, *([found["said"]] if found["said"] else [])]


def _cell(cell: TriedRun) -> str:
    accuracy = "–" if cell["accuracy"] is None else f"{cell['accuracy']:.3f}"
    return f"{accuracy} ({cell['alike']:.2f})"
