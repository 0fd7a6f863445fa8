"""`playground inspect`: look inside models with instruments."""

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NotRequired, TypedDict

import torch

from playground.analysis.inspection import (
    ALL,
    BATTERY,
    OVER,
    Inspection,
    InspectionFacts,
    Over,
    arranged,
    battery,
    inspect_each,
    instruments_of,
)  # fmt: skip
from playground.analysis.instrument import Instrument, instruments
from playground.analysis.subject import Subject
from playground.cli.options import Parser, common_options, list_of_runs, number_of, pairs, path, refuse_unused, say
from playground.errors import UserError, writing
from playground.interop.subjects import open_subject
from playground.knob import KnobValue, knobs, turn, written


class InstrumentFacts(TypedDict):
    """An instrument."""

    name: str
    group: str
    """Its kind."""
    question: str
    """What it answers."""
    source: str
    """The paper."""
    rows: list[str]
    """What it is in the inventory of the survey."""
    knobs: dict[str, KnobValue]
    """Its knobs with their defaults."""
    missing: NotRequired[str]
    """Why it cannot measure the model, in a sentence; empty where it can. Left out where no model is named."""


class InstrumentList(TypedDict):
    """The instruments (`--list`, or no RUN)."""

    subject: NotRequired[str]
    """The model, where one is named."""
    instruments: list[InstrumentFacts]


class SubjectFacts(TypedDict):
    """A model."""

    name: str
    step: int
    """Its training step."""
    seed: int
    corpus: str


class InspectFacts(TypedDict):
    """What instruments find in models."""

    subjects: list[SubjectFacts]
    over: Over
    """How several findings are compared: models side by side, training steps, or a mean over seeds."""
    inspections: list[InspectionFacts]
    missing: dict[str, str]
    """The instruments that cannot measure the models, each with the reason in a sentence."""


FACTS = (InspectFacts, InstrumentList)


def add(command: Parser) -> None:
    """The options of the command."""
    common_options(command, inspect_models, seeded=False)
    option = command.add_argument
    opened = "a saved run, a checkpoint, a folder of transformers, or an entry; several are measured side by side"
    option("subjects", nargs="*", metavar="RUN", help=opened)
    named = f"instruments or groups of them, or {ALL}; by default the groups {', '.join(BATTERY)}"
    option("--with", dest="instruments", metavar="NAME,...", help=named)
    option("--over", choices=OVER, default=OVER[0], help="models side by side, training steps, or a mean over seeds")
    option("--set", action="append", default=[], metavar="KNOB=VALUE", help="a knob of the instrument")
    option("--list", action="store_true", help="list the instruments with their questions, knobs and what RUN lacks")
    option("--csv", type=path, metavar="DIR", help="write every table of the results into a folder")
    list_of_runs(command)
    option("--threads", type=number_of("processes"), default=2, metavar="N", help="threads of torch; 2 by default")


def inspect_models(given: argparse.Namespace) -> int:
    """Print what instruments find, or what instruments there are."""
    torch.set_num_threads(given.threads)
    if given.list or not given.subjects:
        used = {"list", "json", "subjects", *(["runs"] if given.subjects else [])}
        unused = given.typed.keys() - used
        refuse_unused(given, "the instruments are listed; name a RUN, without --list, to measure it", *unused)
        return _list(given)
    chosen = battery() if given.instruments is None else instruments_of(given.instruments)
    if given.set and len(chosen) != 1:
        raise UserError(f"--set turns the knobs of one instrument, not of {len(chosen)}; name one with --with NAME.")
    turned = {each.name: turn(each.settings, pairs(given.set, "The setting")) for each in chosen}
    subjects = arranged([open_subject(name, given.runs) for name in given.subjects], given.over)
    made, missing = list[Inspection](), dict[str, str]()
    for instrument, found in inspect_each(chosen, subjects, turned, given.over, _progress(given, chosen)):
        if isinstance(found, str):
            missing[instrument.name] = found
        else:
            made.append(found)
    if not made:
        raise UserError(next(iter(missing.values())))
    files = _write(made, Path(given.csv)) if given.csv else []
    facts: InspectFacts = {
        "subjects": [
            {"name": name, "step": each.step, "seed": each.seed, "corpus": each.corpus.name}
            for name, each in subjects.items()
        ],
        "over": given.over,
        "inspections": [each.facts() for each in made],
        "missing": missing,
    }
    return say(given, facts, [*_found(subjects, made, missing), *(f"  table     {file}" for file in files)])


def _progress(given: argparse.Namespace, chosen: Sequence[Instrument]) -> Callable[[int, int], None]:
    """Names the instrument that measures now, on one line, where several are asked before a person."""

    def report(done: int, total: int) -> None:
        name = chosen[min(len(chosen) - 1, done * len(chosen) // total)].name
        print(f"\r{done / total:4.0%}  {name:<60}", end="", file=sys.stderr, flush=True)

    return report if len(chosen) > 1 and sys.stderr.isatty() and not given.json else lambda done, total: None


def _found(
    subjects: Mapping[str, Subject], made: Sequence[Inspection], missing: Mapping[str, str]
) -> Iterator[str]:  # fmt: skip
    names = ", ".join(subjects)
    for each in made:
        yield f"{names}: {each.instrument.question}" if len(made) == 1 else f"{each.instrument.name}"
        yield from (line if len(made) == 1 else f"  {line}" for line in each.lines())
    if missing:
        yield "Not measured"
        yield from (f"  {name}: {sentence}" for name, sentence in missing.items())


def _list(given: argparse.Namespace) -> int:
    """Print the instruments, and what each of them lacks in a model."""
    if not given.subjects:
        listed = [_about(each) for each in instruments().values()]
        return say(given, InstrumentList(instruments=listed), list(_listed()))
    if len(given.subjects) > 1:
        raise UserError(f"--list says what one model lacks, not {len(given.subjects)}; name one RUN.")
    subject = open_subject(given.subjects[0], given.runs)
    listed: list[InstrumentFacts] = [
        {**_about(each), "missing": each.missing(subject)} for each in instruments().values()
    ]
    return say(given, InstrumentList(subject=subject.name, instruments=listed), list(_listed(subject)))


def _about(instrument: Instrument) -> InstrumentFacts:
    return {
        "name": instrument.name,
        "group": instrument.group,
        "question": instrument.question,
        "source": instrument.source,
        "rows": list(instrument.rows),
        "knobs": {k.name: k.default for k in knobs(instrument.settings)},
    }


def _listed(subject: Subject | None = None) -> Iterator[str]:
    """A line for each instrument with its knobs and, for a model, what this lacks."""
    group = ""
    for each in instruments().values():
        if each.group != group:
            group = each.group
            yield group
        yield f"  {each.name:<24} {each.question}"
        if turned := written(each.settings, ", "):
            yield f"{'':<27}{turned}"
        if subject is not None and (sentence := each.missing(subject)):
            yield f"{'':<27}not here: {sentence}"


def _write(made: Sequence[Inspection], folder: Path) -> list[Path]:
    """Write every table as a CSV file named after it, in a folder for each instrument where there are several."""
    files: list[Path] = []
    for each in made:
        for name, text in each.files():
            file = folder / (name if len(made) == 1 else f"{each.instrument.name}/{name}")
            with writing(folder):
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text, encoding="utf-8")
            files.append(file)
    return files
