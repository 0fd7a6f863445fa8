"""`playground compare ... --then TASK`: the tasks are learnt one after another, and the earlier ones asked again."""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from playground.cli.options import finite, say
from playground.errors import Refusal


def compare_in_turn(given: argparse.Namespace, run: Path, folder: Path | None) -> int:
    """Learn the tasks in turn with every strategy and seed; print what is left of each after each."""
    from tqdm import tqdm

    from playground.finetuning.comparing.continual import Advanced
    from playground.finetuning.comparing.spec import ComparisonSpec
    from playground.finetuning.data.files import named
    from playground.finetuning.report.page import ContinualReport, Origin, write
    from playground.finetuning.strategy.parse import read, spell, split
    from playground.training import checkpoint

    lines = tuple(spell(read(line)) for line in split(given.strategies))
    asked = ComparisonSpec(
        str(run), named(given.task, given.text_column, given.label_column), lines, given.train_size, given.seeds,
        given.seed, given.tuning_steps, lr_policy=given.lr_policy, input_format=given.input_format,
        extra_encoders=tuple(given.extra_encoder), then=tuple(given.then),
    )  # fmt: skip
    saved, tasks = checkpoint.load(run), asked.tasks
    lanes = asked.run_in_turn(asked.start(saved), saved.tokenizer)
    passed: list[Any] = []
    total = len(tasks) * len(lines) * given.seeds * given.tuning_steps
    with tqdm(total=total, desc="tasks in turn", unit="step", file=sys.stderr, mininterval=0.2) as bar:
        for event in lanes:
            if isinstance(event, Advanced):
                bar.set_postfix_str(f"{event.strategy.name}, seed {event.seed}, {tasks[event.task].name}", False)
                bar.update()
            else:
                passed.append(event)
    learner, corpus = saved.learner, saved.corpus
    origin = Origin(learner.entry.name, learner.seed, learner.step, corpus.name, corpus.hash)
    made = ContinualReport(tuple(passed), asked, origin)
    lacking = write(made, folder) if folder is not None else []
    found = made.facts()
    if folder is not None:
        (folder / "sequence.json").write_text(json.dumps(finite(found), indent=1), encoding="utf-8")
    return say(given, found, [*told(found), *lacking])


def check_sequence(given: argparse.Namespace) -> None:
    """Refuse what is no sequence, and options that mean nothing for one, before anything is trained."""
    from playground.finetuning import find_task
    from playground.finetuning.comparing.continual import check
    from playground.finetuning.strategy.parse import read, split

    if not given.then:
        return
    check([find_task(name) for name in (given.task, *given.then)], list(map(read, split(given.strategies))))
    if len(given.train_size) > 1:
        raise Refusal(
            f"--train-size is {','.join(map(str, given.train_size))}; with --then there is one number for all tasks."
        )
    if given.lr_policy == "tuned":
        raise Refusal("--lr-policy is tuned, but with --then nothing is searched; choose own, fixed or published.")
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
