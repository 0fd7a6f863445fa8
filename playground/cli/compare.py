"""`playground compare`: compare fine-tuning strategies side by side."""

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import replace
from importlib import import_module
from itertools import chain
from pathlib import Path

from tqdm import tqdm

from playground.cli.options import (
    Parser,
    common_options,
    number_of,
    parallelism,
    refuse_unused,
    say,
    training_options,
    warn,
    whole,
)
from playground.cli.prepare import add_decoder, check_runs, learn_second, open_task
from playground.cli.ready_made import base_there
from playground.cli.sequence import check_sequence, compare_in_turn
from playground.cli.train import train_one
from playground.devices import pick
from playground.errors import UserError, writing
from playground.finetuning import Comparison, TrialEvent
from playground.finetuning.comparing.budget_matching import list_published
from playground.finetuning.comparing.compare import compare, mixed_levels
from playground.finetuning.comparing.spec import ComparisonSpec
from playground.finetuning.data.files import file_task_name, is_file
from playground.finetuning.report.page import Origin, Report, ReportFacts, SequenceReportFacts, against, signed, write
from playground.finetuning.run.measure import Result
from playground.finetuning.run.record import TrialRecord
from playground.finetuning.run.tune import StepEvent
from playground.finetuning.strategy.extra_features import OtherVectors
from playground.finetuning.strategy.parse import read, spell, split
from playground.finetuning.strategy.strategy import Strategy
from playground.folders import run_folder
from playground.training import checkpoint
from playground.training.parallel.dask_cluster import connected
from playground.zoo import Entry, entry_to_train

FACTS = (ReportFacts, SequenceReportFacts)

TRAINED = "trained"
"""A file beside a base whose training is over, so that a comparison that is resumed does not train it again."""


def add(command: Parser) -> None:
    """The options of the command."""
    common_options(command, compare_strategies)
    option = command.add_argument
    option("base", type=run_folder, metavar="RUN|ENTRY", help="a run by its name or folder, or an entry to train first")
    option("--task", default="sentiment", metavar="TASK|FILE", help="a task, or your own labelled file")
    option("--then", action="append", metavar="TASK", help="a task to learn afterwards; may be repeated")
    option("--text-column", metavar="NAME", help="column of a table; guessed by default")
    option("--label-column", metavar="NAME", help="column of a table; guessed by default")
    option("--second-column", metavar="NAME", help="column of the second text in a table of pairs; guessed by default")
    option(
        "--encoding", dest="task_encoding", metavar="NAME", help="encoding of a file that is not UTF-8, such as cp1252"
    )
    option("--input-format", metavar="NAME", help="texts as rows: plain, last, BERT, GPT")
    option("--max-length", type=number_of(), metavar="N", help="maximum tokens of the texts in a row")
    option("--strategies", default="feature-based,full,gradual unfreezing", metavar="a,b,c")
    option(
        "--train-size", type=counts, default=(64,), metavar="N",
        help="labelled texts to learn from, 64 by default; or several: 16,64,256",
    )  # fmt: skip
    option("--seeds", type=whole, default=ComparisonSpec.seeds, metavar="K")
    option("--tuning-steps", type=whole, default=80, metavar="N", help="steps of each training")
    option("--workers", type=whole, default=1, metavar="N", help="number of worker processes")
    parallelism(command)
    option("--cluster", metavar="ADDRESS|local", help="run the trainings on a Dask cluster")
    option("--match", default="steps", help="what is equal in all trainings: steps, tokens or flops")
    option("--lr-policy", default="own", help="learning rates: own, fixed, published or tuned")
    option("--resume", action="store_true", help="continue with the trainings that --out has not finished")
    option(
        "--second-language", type=number_of("steps"), nargs="?", const=600, metavar="STEPS",
        help="first train word vectors of the second language for the base, with all else frozen",
    )  # fmt: skip
    option("--decoder", type=run_folder, metavar="same|new|RUN", help="first give the base a decoder")
    option(
        "--extra-encoder", type=run_folder, action="append", default=[], metavar="RUN",
        help="another run whose vectors the strategy 'static and contextual' reads too; may be repeated",
    )  # fmt: skip
    option("--corpus", help="the corpus of an entry that is trained first")
    training_options(command)


def counts(text: str) -> tuple[int, ...]:
    """The type of an option: one number of labelled texts, or several with commas between them."""
    return tuple(sorted({whole(part) for part in text.split(",")}))


def compare_strategies(given: argparse.Namespace) -> int:
    """Check the request, train or change the base where that is asked for, then compare."""
    what = file_task_name(given.task, given.text_column, given.label_column, given.second_column, given.task_encoding)
    if not is_file(given.task):
        columns = ("text_column", "label_column", "second_column", "task_encoding")
        refuse_unused(given, f"the task {given.task!r} is not a file of yours", *columns)
    task, chosen = open_task(what), list(dict.fromkeys(read(line) for line in split(given.strategies)))
    asked = ComparisonSpec(
        given.base, what, tuple(map(spell, chosen)), given.train_size, given.seeds, given.seed, given.tuning_steps,
        given.match, given.lr_policy, given.workers, given.input_format, given.parallelism,
        tuple(given.extra_encoder), tuple(given.then or ()), given.max_length,
    )  # fmt: skip
    asked.check(chosen)
    _refuse_unused(given, chosen)
    if given.lr_policy == "published":
        print(list_published(chosen), file=sys.stderr)
    check_sequence(given, what, chosen)
    check_runs(given)
    device = pick("cpu" if given.cluster and given.device == "auto" else given.device)  # workers may have no GPU
    with _folder(given.out) as folder:
        run = _base(given, folder)
        if given.second_language:
            run = learn_second(run, given.second_language, folder, device)
        if given.decoder:
            run = add_decoder(run, given.decoder, folder, device)
        asked = replace(asked, base=str(run))
        if asked.then:
            return compare_in_turn(given, asked, folder, device)
        saved = checkpoint.load(run, device)
        base, record = asked.start(saved), TrialRecord.of(folder, given.resume) if folder else None
        with connected(given.cluster) if given.cluster else nullcontext() as executor:
            events = compare(base, saved.tokenizer, asked, task=task, chosen=chosen, record=record, executor=executor)
            *_, last = _with_bar(events, asked)
        assert isinstance(last, Comparison)
        warn(*last.notices)
        origin = Origin.of(saved.learner, saved.corpus.name, saved.corpus.hash)
        report = Report(last, asked, origin, import_module("widgets.static.svg").outcomes)
        facts = report.facts()
        if folder is not None:
            write(report, folder)
        return say(given, facts, _table(facts))


def _refuse_unused(given: argparse.Namespace, chosen: Sequence[Strategy]) -> None:
    """Refuse what has no part where nothing is trained first, nothing is kept, or another machine does the work."""
    if os.path.exists(given.base):
        training = ("steps", "seconds", "corpus")
        reason = f"it is for an entry to train first; the run in {given.base} is as it was trained"
        refuse_unused(given, f"{reason} (--tuning-steps sets the steps of each training)", *training)
    if given.out is None:
        refuse_unused(given, "nothing is saved; name a folder with --out DIR", "resume")
    if given.then:
        refuse_unused(given, "with --then trainings run one by one", "cluster", "workers", "parallelism", "resume")
    if given.cluster:
        refuse_unused(given, "a cluster has workers of its own", "workers", "parallelism")
    if not any(isinstance(each, OtherVectors) for strategy in chosen for each in strategy.extra_features):
        refuse_unused(given, "only the strategy 'static and contextual' reads other runs", "extra_encoder")


@contextmanager
def _folder(out: str | None) -> Iterator[Path | None]:
    """The folder of a result, made before any work; where the work is refused, the folders that it made are removed."""
    folder = None if out is None else Path(out)
    new = [] if folder is None else [each for each in (folder, *folder.parents) if not os.path.exists(each)]
    with writing(out):
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
    try:
        yield folder
    except UserError:
        with suppress(OSError):  # one that is not empty stays
            for each in new:
                each.rmdir()
        raise


def _base(given: argparse.Namespace, folder: Path | None) -> Path:
    """The folder of the run to start from; an entry is trained first, into the folder of the result if there is one."""
    if os.path.exists(given.base):
        return Path(given.base)
    entry = entry_to_train(given.base)
    home = None if folder is None else folder / "base"
    if given.resume and home is not None and (home / TRAINED).exists():
        _check_base(given, entry, home)
        return home
    if (ready := base_there(given, home)) is not None:
        if home is not None:
            (home / TRAINED).touch()
        return ready
    inner = argparse.Namespace(**{**vars(given), "out": home and str(home), "resume": False})
    trained = Path(train_one(inner, entry, {})["out"] or "")
    if home is not None:
        (home / TRAINED).touch()
    return trained


def _check_base(given: argparse.Namespace, entry: Entry, home: Path) -> None:
    """Refuse to go on from a base that was trained otherwise than is now asked for."""
    saved = checkpoint.load(home)
    learner, asked = saved.learner, {name: getattr(given, name) for name in ("seed", "steps", "corpus")}
    there = {"ENTRY": learner.entry.name, "seed": learner.seed, "steps": learner.step, "corpus": saved.corpus.name}
    for name, value in ({"ENTRY": entry.name} | asked).items():
        if value not in (None, there[name]):
            raise UserError(
                f"{name} is {value}, but the base in {home} has {there[name]}, from which --resume continues; give "
                "the same or another --out."
            )


def _with_bar(events: Iterator[TrialEvent | Comparison], asked: ComparisonSpec) -> Iterator[TrialEvent | Comparison]:
    """The same events, with a bar that shows which trial runs and how far it is."""
    first = next(events)  # what cannot be compared is refused here, before a bar is drawn
    warn(asked.power)
    total = len(asked.strategies) * asked.seeds * len(asked.train_sizes)
    with tqdm(total=total, desc="fine-tuning", unit="trial", file=sys.stderr, mininterval=0.2) as bar:
        for event in chain([first], events):
            if isinstance(event, TrialEvent):
                step = f", step {event.event.step}" if isinstance(event.event, StepEvent) else ""
                bar.set_postfix_str(f"{event.strategy.name}, seed {event.seed}{step}", refresh=False)
                bar.update(isinstance(event.event, Result))
            yield event


def _table(facts: ReportFacts) -> list[str]:
    """The comparison as a table, with its other measures and its verdict."""
    strategies = facts["strategies"]
    wide = max(20, *(len(s["name"]) for s in strategies))
    heading = f"forgetting ({facts['unit']})"
    lines = [
        f"{facts['task']}, {facts['labels']} labels, {facts['seeds']} seeds, from {facts['base']} on {facts['corpus']}",
        f"{'strategy':<{wide}} {'accuracy':>16} {heading:>20} {'trainable':>10} {'seconds':>8}",
    ]
    for s in strategies:
        accuracy = s["accuracy"]
        lines.append(
            f"{s['name']:<{wide}} {accuracy['mean']:>8.3f} ± {accuracy['sd']:.3f} {signed(s['forgetting']):>20}"
            f" {s['trainable']:>10} {s['seconds']:>8.1f}"
        )
    lines += [] if facts["metric"] == "accuracy" else [f"accuracy is here: {facts['metric']}"]
    for name in strategies[0]["measured"]:
        if name not in ("accuracy", facts["metric"]):
            lines.append(f"{name}: " + ", ".join(f"{s['name']} {s['measured'][name]['mean']:.3f}" for s in strategies))
    return [*lines, *mixed_levels(facts), facts["verdict"], *map(against, facts["against_first"])]
