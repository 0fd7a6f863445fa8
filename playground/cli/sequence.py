"""`playground compare ... --then TASK`: tasks are learnt one after another, and the earlier ones are tested again."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import torch
from tqdm import tqdm

from playground.cli.options import say
from playground.cli.prepare import open_task
from playground.errors import UserError
from playground.finetuning import find_task
from playground.finetuning.comparing.continual import Advanced, ContinualResult, check, continual
from playground.finetuning.comparing.spec import ComparisonSpec
from playground.finetuning.report.page import ContinualReport, Origin, SequenceReportFacts, signed, write
from playground.finetuning.strategy.strategy import Strategy
from playground.training import checkpoint


def compare_in_turn(given: argparse.Namespace, asked: ComparisonSpec, folder: Path | None, device: torch.device) -> int:
    """Learn the tasks in turn with every strategy and seed; print what is left of each after each."""
    saved, tasks = checkpoint.load(asked.base, device), asked.tasks
    results: list[ContinualResult] = []
    total = len(tasks) * len(asked.strategies) * given.seeds * given.tuning_steps
    with tqdm(total=total, desc="tasks in turn", unit="step", file=sys.stderr, mininterval=0.2) as bar:
        for event in continual(asked.start(saved), saved.tokenizer, asked):
            if isinstance(event, Advanced):
                bar.set_postfix_str(f"{event.strategy.name}, seed {event.seed}, {tasks[event.task].name}", False)
                bar.update()
            else:
                results.append(event)
    report = ContinualReport(tuple(results), asked, Origin.of(saved.learner, saved.corpus.name, saved.corpus.hash))
    facts = report.facts()
    if folder is not None:
        write(report, folder)
    return say(given, facts, _tables(facts))


def check_sequence(given: argparse.Namespace, task: str, strategies: Sequence[Strategy]) -> None:
    """Refuse what is no sequence, and options that mean nothing for one, before anything is trained."""
    if not given.then:
        return
    check([find_task(task), *map(open_task, given.then)], strategies)
    if len(given.train_size) > 1:
        sizes = ",".join(map(str, given.train_size))
        raise UserError(f"--train-size is {sizes}; with --then there is one number for all tasks.")
    if given.lr_policy == "tuned":
        raise UserError("--lr-policy is tuned, but --then has no search for rates; choose own, fixed or published.")
    if given.match != "steps":
        raise UserError(f"--match is {given.match}; with --then all trainings have the same number of steps.")


def _tables(facts: SequenceReportFacts) -> list[str]:
    """The matrix of every strategy as a table, and its means."""
    tasks = facts["tasks"]
    wide = max(len(name) for name in tasks) + 2
    lines = [f"{' -> '.join(tasks)}: {facts['labels']} labels each, {facts['seeds']} seeds, from {facts['base']}"]
    for one in facts["strategies"]:
        lines += ["", one["name"], " " * (wide + 6) + "".join(f"{name:>{wide}}" for name in tasks)]
        for task, row in zip(tasks, one["matrix"], strict=True):
            lines.append(f"after {task:<{wide}}" + "".join(f"{cell:>{wide}.3f}" for cell in row))
        accuracy = one["accuracy"]
        lines.append(
            f"in the end {accuracy['mean']:.3f} ± {accuracy['sd']:.3f} on average; earlier tasks "
            f"{signed(one['backward'])}; pre-training loss {signed(one['forgetting'], facts['unit'])}"
        )
    return lines + facts["notices"]
