"""`playground compare ... --then TASK`: the tasks are learnt one after another, and the earlier ones asked again."""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from playground.cli.options import finite, say
from playground.refusal import Refusal


def compare_in_turn(given: argparse.Namespace, run: Path, folder: Path | None) -> int:
    """Learn the tasks in turn with every strategy and seed; print what is left of each after each."""
    from dataclasses import replace

    from tqdm import tqdm

    from playground.finetuning import find_task
    from playground.finetuning.base import from_checkpoint
    from playground.finetuning.fair import rated
    from playground.finetuning.job import accompanied
    from playground.finetuning.sequence import Advanced, facts, in_turn, table
    from playground.finetuning.spelling import read, split
    from playground.finetuning.tune import Setting
    from playground.training import checkpoint

    tasks = [find_task(name) for name in (given.task, *given.then)]
    chosen = [rated(read(line), given.rates) for line in split(given.strategies)]
    saved = checkpoint.load(run)
    base = from_checkpoint(saved, rehearsed=any(strategy.rehearses for strategy in chosen))
    base = accompanied(base, saved.tokenizer, given.beside)
    setting = replace(Setting(), steps=given.tuning_steps, packing=given.packing)
    lanes = in_turn(
        base, saved.tokenizer, tasks, chosen,
        labels=given.labels[-1], seeds=given.seeds, seed=given.seed, setting=setting,
    )  # fmt: skip
    passed: list[Any] = []
    total = len(tasks) * len(chosen) * given.seeds * setting.steps
    with tqdm(total=total, desc="tasks in turn", unit="step", file=sys.stderr, mininterval=0.2) as bar:
        for event in lanes:
            if isinstance(event, Advanced):
                bar.set_postfix_str(f"{event.strategy.name}, seed {event.seed}, {tasks[event.task].name}", False)
                bar.update()
            else:
                passed.append(event)
    found = {"base": saved.learner.entry.name, "steps": setting.steps, **facts(tasks, given.labels[-1], passed)}
    if folder is not None:
        (folder / "sequence.json").write_text(json.dumps(finite(found), indent=1), encoding="utf-8")
        (folder / "sequence.csv").write_text(table(found), encoding="utf-8")
    return say(given, found, told(found))


def check_sequence(given: argparse.Namespace) -> None:
    """Refuse what is no sequence, and options that mean nothing for one, before anything is trained."""
    from playground.finetuning import find_task
    from playground.finetuning.sequence import check
    from playground.finetuning.spelling import read, split

    if not given.then:
        return
    check([find_task(name) for name in (given.task, *given.then)], list(map(read, split(given.strategies))))
    if len(given.labels) > 1:
        raise Refusal(f"--labels is {','.join(map(str, given.labels))}; with --then there is one number for all tasks.")
    if given.rates == "tuned":
        raise Refusal("--rates is tuned, but with --then nothing is searched; choose own, fixed or published.")
    if given.match != "steps" or given.cluster or given.workers > 1:
        raise Refusal(
            "With --then the lanes run here, one by one, with equal steps; leave out --match, --cluster and --workers."
        )


def told(found: dict[str, Any]) -> list[str]:
    """The matrix of every strategy as a table, and its means."""
    tasks = found["tasks"]
    wide = max(len(name) for name in tasks) + 2
    lines = [f"{' -> '.join(tasks)}: {found['labels']} labels each, {found['seeds']} seeds, from {found['base']}"]
    for one in found["strategies"]:
        lines += ["", one["name"], " " * (wide + 6) + "".join(f"{name:>{wide}}" for name in tasks)]
        for task, row in zip(tasks, one["matrix"], strict=True):
            lines.append(f"after {task:<{wide}}" + "".join(f"{cell:>{wide}.3f}" for cell in row))
        means = ((one[what]["mean"], one[what]["sd"]) for what in ("accuracy", "backward", "forgetting"))
        right, back, lost = means
        lines.append(
            f"in the end {right[0]:.3f} ± {right[1]:.3f} on average; earlier tasks {back[0]:+.3f} ± {back[1]:.3f}; "
            f"pre-training loss {lost[0]:+.3f} ± {lost[1]:.3f} nats"
        )
    return lines
