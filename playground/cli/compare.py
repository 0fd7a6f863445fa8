"""`playground compare`: fine-tuning strategies side by side."""

import argparse
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from playground.cli.options import (
    MOST_AT_ONCE,
    MOST_SEEDS,
    MOST_STEPS,
    MOST_TEXTS,
    command,
    finite,
    parallelism,
    positive,
    renamed,
    say,
    training_options,
)
from playground.cli.prepare import add_decoder, check_runs, learn_second
from playground.cli.sequence import check_sequence, compare_in_turn
from playground.cli.train import train_one
from playground.errors import Refusal


def add(commands: Any) -> None:
    """The options of the command."""
    compare = command(commands, "compare", "fine-tuning strategies side by side", compare_strategies)
    compare.add_argument("base", metavar="RUN|ENTRY", help="the folder of a run, or an entry to train first")
    compare.add_argument("--task", default="sentiment", metavar="TASK|FILE", help="a task, or your own labelled file")
    compare.add_argument("--then", action="append", metavar="TASK", help="a task to learn afterwards; may come again")
    compare.add_argument("--text-column", metavar="NAME", help="of a table; guessed where it is not named")
    compare.add_argument("--label-column", metavar="NAME", help="of a table; guessed where it is not named")
    renamed(
        compare, "--packing", "--input-format", metavar="NAME", help="how texts become rows: plain, last, BERT, GPT"
    )
    compare.add_argument("--strategies", default="feature-based,full,gradual unfreezing", metavar="a,b,c")
    renamed(
        compare, "--labels", "--train-size", type=counts, default=(64,), metavar="N",
        help="labelled texts to learn from, 64 by default; or several: 16,64,256",
    )  # fmt: skip
    compare.add_argument("--seeds", type=positive(int, MOST_SEEDS), default=3, metavar="K")
    compare.add_argument(
        "--tuning-steps", type=positive(int, MOST_STEPS), default=80, metavar="N", help="steps of each lane"
    )
    compare.add_argument(
        "--workers", type=positive(int, MOST_AT_ONCE), default=1, metavar="N", help="processes for the lanes"
    )
    parallelism(compare)
    compare.add_argument("--cluster", metavar="ADDRESS|local", help="run the lanes on a Dask cluster")
    compare.add_argument("--match", default="steps", help="what lanes have alike: steps, tokens or flops")
    renamed(compare, "--rates", "--lr-policy", default="own", help="learning rates: own, fixed, published or tuned")
    compare.add_argument("--resume", action="store_true", help="go on with the lanes that --out has not finished")
    compare.add_argument(
        "--second-language", type=positive(int, MOST_STEPS), nargs="?", const=600, metavar="STEPS",
        help="first give the base word vectors of the second language, all else frozen",
    )  # fmt: skip
    compare.add_argument("--decoder", metavar="same|new|RUN", help="first give the base a decoder to write with")
    renamed(
        compare, "--beside", "--extra-encoder", action="append", default=[], metavar="RUN",
        help="another run whose vectors the strategy 'static and contextual' reads too; may come again",
    )  # fmt: skip
    compare.add_argument("--corpus", help="the corpus of an entry that is trained first")
    training_options(compare)


def compare_strategies(given: argparse.Namespace) -> int:
    """Compare, with a bar on standard error; what is written into a folder is written as soon as it is known."""
    from playground.finetuning import find_task
    from playground.finetuning.comparing.budget_matching import check_rules, said_of_published
    from playground.finetuning.data.files import named
    from playground.finetuning.data.input_format import packing_named
    from playground.finetuning.strategy.parse import read as read_strategy
    from playground.finetuning.strategy.parse import split

    what = named(given.task, given.text_column, given.label_column)
    task, chosen = find_task(what), [read_strategy(line) for line in split(given.strategies)]
    if task.notice:
        print(f"{task.name}: {task.notice}", file=sys.stderr)
    if given.lr_policy == "published":
        print(said_of_published(chosen), file=sys.stderr)
    check_rules(given.match, given.lr_policy)
    if given.input_format is not None:
        packing_named(given.input_format)
    check_sequence(given)
    check_runs(given)
    with _folder(given.out) as folder:
        return _compare(given, what, task, chosen, folder)


def _compare(given: argparse.Namespace, what: str, task: Any, chosen: list[Any], folder: Path | None) -> int:
    """The lanes from a base, which is trained or changed first where that is asked for, and the files of the result."""
    from playground.finetuning import Comparison
    from playground.finetuning.comparing.spec import ComparisonSpec, accompanied
    from playground.finetuning.report.page import Origin, Report, write
    from playground.finetuning.run.base import from_checkpoint
    from playground.finetuning.run.record import Record
    from playground.finetuning.strategy.parse import spell
    from playground.training import checkpoint

    run = _base(given, folder)
    if given.second_language:
        run = learn_second(run, given.second_language, folder)
    if given.decoder:
        run = add_decoder(run, given.decoder, folder)
    if given.then:
        return compare_in_turn(given, run, folder)
    asked = ComparisonSpec(
        str(run), what, tuple(map(spell, chosen)), given.train_size, given.seeds, given.seed, given.tuning_steps,
        given.match, given.lr_policy, given.workers, given.input_format, given.parallelism, tuple(given.extra_encoder),
    )  # fmt: skip
    saved = checkpoint.load(run)
    base = from_checkpoint(saved, rehearsed=any(strategy.rehearses for strategy in chosen))
    base = accompanied(base, saved.tokenizer, given.extra_encoder)
    record = Record.of(folder, given.resume) if folder else None
    with _elsewhere(given.cluster) as elsewhere:
        lanes = asked.run(base, saved.tokenizer, task=task, chosen=chosen, record=record, elsewhere=elsewhere)
        *_, last = _lane_bar(lanes, asked)
    assert isinstance(last, Comparison)
    print(*last.told, sep="\n", end="\n" * bool(last.told), file=sys.stderr)
    learner, corpus = saved.learner, saved.corpus
    origin = Origin(learner.entry.name, learner.seed, learner.step, corpus.name, corpus.hash)
    made = Report(last, asked, origin)
    lacking = write(made, folder) if folder else []
    if folder is not None:
        (folder / "comparison.json").write_text(json.dumps(finite(made.facts()), indent=1), encoding="utf-8")
    return say(given, made.facts(), [*_compared(made.facts()), *lacking])


@contextmanager
def _elsewhere(address: str | None) -> Iterator[Any]:
    """What runs lanes on a cluster, None where they run here."""
    if address is None:
        yield None
        return
    from playground.cluster import connected, lanes

    with connected(address) as client:
        yield partial(lanes, client)


def counts(text: str) -> tuple[int, ...]:
    """One number of labelled texts, or several with commas between them."""
    return tuple(sorted({positive(int, MOST_TEXTS)(part) for part in text.split(",")}))


@contextmanager
def _folder(out: str | None) -> Iterator[Path | None]:
    """The folder of a result, made before the work begins, so that nothing is computed for nothing.

    Where the work is refused, what was made of it and is empty goes again.
    """
    folder = None if out is None else Path(out)
    new = [] if folder is None else [each for each in (folder, *folder.parents) if not os.path.exists(each)]
    try:
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Refusal(f"The folder {out} cannot be written ({error.strerror or error}); choose another.") from error
    try:
        yield folder
    except Refusal:
        with suppress(OSError):
            for each in new:
                each.rmdir()
        raise


def _base(given: argparse.Namespace, folder: Path | None) -> Path:
    """The folder of the run to start from; an entry is trained first, into the folder of the result if there is one."""
    from playground.zoo import entry_named

    if os.path.exists(given.base):
        return Path(given.base)
    entry = entry_named(given.base)
    home = None if folder is None else folder / "base"
    if given.resume and home is not None and (home / TRAINED).exists():
        return home
    inner = argparse.Namespace(**{**vars(given), "out": home and str(home), "resume": False})
    trained = Path(train_one(inner, entry, given.seed, 1)["out"])
    if home is not None:
        (home / TRAINED).touch()
    return trained


TRAINED = "trained"
"""Stands beside a base whose training is over, so that a comparison that goes on does not train it again."""


def _lane_bar(events: Any, asked: Any) -> Any:
    """The same events, with a bar that says which lane runs and how far it is."""
    from tqdm import tqdm

    from playground.finetuning import TrialEvent
    from playground.finetuning.run.trainer import Result, StepEvent

    events = iter(events)
    first = next(events)  # what cannot be compared is refused here, before a bar is drawn
    total = len(asked.strategies) * asked.seeds * len(asked.train_sizes)
    with tqdm(total=total, desc="fine-tuning", unit="lane", file=sys.stderr, mininterval=0.2) as bar:
        for event in chain([first], events):
            if isinstance(event, TrialEvent):
                step = f", step {event.event.step}" if isinstance(event.event, StepEvent) else ""
                bar.set_postfix_str(f"{event.strategy.name}, seed {event.seed}{step}", refresh=False)
                bar.update(isinstance(event.event, Result))
            yield event


def _compared(facts: dict[str, Any]) -> list[str]:
    from playground.finetuning.comparing.compare import mixed_levels
    from playground.finetuning.report.page import against

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
    return [*lines, *_measured(facts), *mixed_levels(facts), facts["verdict"], *map(against, facts["against_first"])]


def _measured(facts: dict[str, Any]) -> list[str]:
    """What accuracy is in this task, where it is something else, and the means of what was measured beside it."""
    lines = [] if facts["metric"] == "accuracy" else [f"accuracy is here: {facts['metric']}"]
    for name in facts["strategies"][0]["measured"]:
        if name not in ("accuracy", facts["metric"]):
            means = ", ".join(f"{s['name']} {s['measured'][name]['mean']:.3f}" for s in facts["strategies"])
            lines.append(f"{name}: {means}")
    return lines
