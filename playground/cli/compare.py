"""`playground compare`: fine-tuning strategies side by side."""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from playground.cli.options import command, finite, positive, say, training_options
from playground.cli.train import train_one
from playground.refusal import Refusal


def add(commands: Any) -> None:
    """The options of the command."""
    compare = command(commands, "compare", "fine-tuning strategies side by side", compare_strategies)
    compare.add_argument("base", metavar="RUN|ENTRY", help="the folder of a run, or an entry to train first")
    compare.add_argument("--task", default="sentiment", metavar="TASK|FILE", help="a task, or your own labelled file")
    compare.add_argument("--text-column", metavar="NAME", help="of a table; guessed where it is not named")
    compare.add_argument("--label-column", metavar="NAME", help="of a table; guessed where it is not named")
    compare.add_argument("--packing", metavar="NAME", help="how texts become rows: plain, last, BERT or GPT")
    compare.add_argument("--strategies", default="feature-based,full,gradual unfreezing", metavar="a,b,c")
    compare.add_argument("--labels", type=positive(int), default=64, metavar="N")
    compare.add_argument("--seeds", type=positive(int), default=3, metavar="K")
    compare.add_argument("--tuning-steps", type=positive(int), default=80, metavar="N", help="steps of each lane")
    compare.add_argument("--workers", type=positive(int), default=1, metavar="N", help="processes for the lanes")
    compare.add_argument("--corpus", help="the corpus of an entry that is trained first")
    training_options(compare)


def compare_strategies(given: argparse.Namespace) -> int:
    """Compare, with a bar on standard error."""
    from playground.finetuning import Comparison, compare, find_strategy, find_task
    from playground.finetuning.base import from_checkpoint
    from playground.finetuning.files import named
    from playground.finetuning.packing import packing_named
    from playground.finetuning.tune import Setting
    from playground.training import checkpoint

    task = find_task(named(given.task, given.text_column, given.label_column))
    if task.notice:
        print(f"{task.name}: {task.notice}", file=sys.stderr)
    chosen = [find_strategy(name.strip()) for name in given.strategies.split(",") if name.strip()]
    if given.packing is not None:
        packing_named(given.packing)
    folder = _folder(given.out)
    saved = checkpoint.load(_base(given))
    base = from_checkpoint(saved, rehearsed=any(strategy.rehearses for strategy in chosen))
    setting = Setting(steps=given.tuning_steps, packing=given.packing)
    events = compare(
        base, saved.tokenizer, task, chosen, labels=given.labels, seeds=given.seeds, seed=given.seed, setting=setting,
        workers=given.workers,
    )  # fmt: skip
    *_, last = _lane_bar(events, len(chosen) * given.seeds * given.tuning_steps)
    assert isinstance(last, Comparison)
    facts = last.facts() | {"base": saved.learner.entry.name, "corpus": saved.corpus.name}
    if folder is not None:
        (folder / "comparison.json").write_text(json.dumps(finite(facts), indent=1), encoding="utf-8")
    return say(given, facts, _compared(facts))


def _folder(out: str | None) -> Path | None:
    """The folder of a result, made before the work begins, so that nothing is computed for nothing."""
    if out is None:
        return None
    try:
        Path(out).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Refusal(f"The folder {out} cannot be written ({error.strerror or error}); choose another.") from error
    return Path(out)


def _base(given: argparse.Namespace) -> Path:
    """The folder of the run to start from; an entry is trained first."""
    from playground.zoo import entry_named

    if Path(given.base).exists():
        return Path(given.base)
    entry = entry_named(given.base)
    inner = argparse.Namespace(**{**vars(given), "out": None, "resume": False})
    return Path(train_one(inner, entry, given.seed, 1)["out"])


def _lane_bar(events: Any, total: int) -> Any:
    from tqdm import tqdm

    from playground.finetuning import Lane
    from playground.finetuning.tune import Tuned

    with tqdm(total=total, desc="fine-tuning", file=sys.stderr, mininterval=0.2) as bar:
        for event in events:
            if isinstance(event, Lane):
                bar.set_postfix_str(f"{event.strategy.name}, seed {event.seed}")
                bar.update(isinstance(event.event, Tuned))
            yield event


def _compared(facts: dict[str, Any]) -> list[str]:
    wide = max(20, *(len(s["name"]) for s in facts["strategies"]))
    lines = [
        f"{facts['task']}, {facts['labels']} labels, {facts['seeds']} seeds, from {facts['base']} on {facts['corpus']}",
        f"{'strategy':<{wide}} {'accuracy':>16} {'forgetting (nats)':>20} {'trainable':>10} {'seconds':>8}",
    ]
    for s in facts["strategies"]:
        right, forgot = s["accuracy"], s["forgetting"]
        lines.append(
            f"{s['name']:<{wide}} {right['mean']:>8.3f} ± {right['sd']:.3f}"
            f" {forgot['mean']:>+12.3f} ± {forgot['sd']:.3f} {s['trainable']:>10} {s['seconds']:>8.1f}"
        )
    return [*lines, *_measured(facts), facts["verdict"]]


def _measured(facts: dict[str, Any]) -> list[str]:
    """What accuracy is in this task, where it is something else, and the means of what was measured beside it."""
    lines = [] if facts["metric"] == "accuracy" else [f"accuracy is here: {facts['metric']}"]
    for name in facts["strategies"][0]["measured"]:
        if name not in ("accuracy", facts["metric"]):
            means = ", ".join(f"{s['name']} {s['measured'][name]['mean']:.3f}" for s in facts["strategies"])
            lines.append(f"{name}: {means}")
    return lines
