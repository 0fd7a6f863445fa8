"""`playground inspect`: look inside a model with an instrument."""

import argparse
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import NotRequired, TypedDict

import torch

from playground.analysis.finding import Finding, FindingFacts
from playground.analysis.instrument import Instrument, instrument_named, instruments
from playground.analysis.subject import Subject
from playground.cli.options import Parser, common_options, list_of_runs, number_of, pairs, path, refuse_unused, say
from playground.errors import unwritable
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
    """The instruments (`--list`, or without `--probe`)."""

    subject: NotRequired[str]
    """The model, where one is named."""
    instruments: list[InstrumentFacts]


class InspectFacts(FindingFacts):
    """What an instrument finds in a model."""

    subject: str
    """The model."""
    step: int
    """Its training step."""
    instrument: str
    settings: dict[str, KnobValue]
    """The knobs of the instrument."""


FACTS = (InspectFacts, InstrumentList)


def add(command: Parser) -> None:
    """The options of the command."""
    common_options(command, inspect_model, seeded=False)
    option = command.add_argument
    option("subject", nargs="?", metavar="RUN", help="a saved run, a checkpoint, a folder of transformers, or an entry")
    option("--probe", metavar="NAME", help="the instrument; by default all are listed, with what the model lacks")
    option("--set", action="append", default=[], metavar="KNOB=VALUE", help="a knob of the instrument")
    option("--list", action="store_true", help="list the instruments with their questions and knobs")
    option("--csv", type=path, metavar="DIR", help="write every table of the result into a folder")
    list_of_runs(command)
    option("--threads", type=number_of("processes"), default=2, metavar="N", help="threads of torch; 2 by default")


def inspect_model(given: argparse.Namespace) -> int:
    """Print what an instrument finds, or what instruments there are."""
    torch.set_num_threads(given.threads)
    if given.list or given.subject is None:
        unused = given.typed.keys() - {"list", "json"}
        refuse_unused(given, "the instruments are listed; name a RUN and an instrument, without --list", *unused)
        listed = [_about(each) for each in instruments().values()]
        return say(given, InstrumentList(instruments=listed), list(_listed()))
    if given.probe is None:
        refuse_unused(given, "no instrument is named; name one with --probe NAME", "set", "csv")
    instrument = None if given.probe is None else instrument_named(given.probe)
    subject = open_subject(given.subject, given.runs)
    if instrument is None:
        listed: list[InstrumentFacts] = [
            {**_about(each), "missing": each.missing(subject)} for each in instruments().values()
        ]
        return say(given, InstrumentList(subject=subject.name, instruments=listed), list(_listed(subject)))
    settings = turn(instrument.settings, pairs(given.set, "The setting"))
    found = instrument.look(subject, settings)
    files = _write(found, Path(given.csv)) if given.csv else []
    facts: InspectFacts = {
        "subject": subject.name,
        "step": subject.step,
        "instrument": instrument.name,
        "settings": asdict(settings),
        **found.facts(),
    }
    lines = [f"{subject.name}: {instrument.question}", *found.lines(), *(f"  table     {file}" for file in files)]
    return say(given, facts, lines)


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
    """A line for each instrument with its knobs and, for a subject, what this lacks."""
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


def _write(found: Finding, folder: Path) -> list[Path]:
    """Write every table as a CSV file named after it."""
    files = [folder / f"{table.title.replace('/', '-')}.csv" for table in found.tables]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file, table in zip(files, found.tables, strict=True):
            file.write_text(table.to_csv(), encoding="utf-8")
    except OSError as error:
        raise unwritable(folder, error) from error
    return files
