"""`playground bake`: a run as one HTML file that replays it without kernel and network."""

import argparse
import os
from importlib import import_module
from pathlib import Path
from typing import TypedDict

from playground.cli.options import (
    KNOBS,
    Parser,
    common_options,
    list_of_runs,
    pairs,
    path,
    refuse_unused,
    say,
    training_options,
)
from playground.cli.train import train_one
from playground.errors import UserError
from playground.training.observe.replay import load
from playground.training.store.runs import Runs
from playground.zoo import entry_to_train


class BakeFacts(TypedDict):
    """The page that was written."""

    output: str
    """The file."""
    bytes: int
    """Its size."""
    moments: int
    """Moments of the run that it replays."""
    steps: list[int]
    """The step of each moment."""
    title: str


FACTS = (BakeFacts,)


def add(command: Parser) -> None:
    """The options of the command."""
    common_options(command, bake_run)
    option = command.add_argument
    option("run_or_entry", metavar="RUN|ENTRY", help="a run by its name or folder, or an entry to train first")
    option("-o", "--output", type=path, required=True, metavar="FILE.html", help="the file to write")
    option("--sentence", help="the probe sentence, if an entry is trained first")
    option("--corpus", help="the corpus of an entry that is trained first")
    option("--set", action="append", default=[], metavar="KNOB=VALUE", help=KNOBS)
    list_of_runs(command)
    training_options(command)


def bake_run(given: argparse.Namespace) -> int:
    """Write the page of a run, or of an entry that is trained first."""
    output = Path(given.output)
    if output.is_dir() or not output.resolve().parent.is_dir():  # before anything is trained
        raise UserError(f"{output} cannot be written; give the name of a file in an existing folder.")
    replay = load(_folder(given))
    page = import_module("widgets.animation.replay").page(replay)
    try:
        output.write_text(page, encoding="utf-8")
    except OSError as error:
        raise UserError(f"The page could not be written to {output}: {error.strerror or error}.") from error
    facts: BakeFacts = {
        "output": str(output),
        "bytes": len(page.encode()),
        "moments": len(replay.moments),
        "steps": [moment["step"] for moment in replay.moments],
        "title": replay.record["title"],
    }
    lines = [
        f"{output}: {facts['moments']} recorded steps in {facts['bytes'] / 1e6:.2f} MB; it opens without a network."
    ]
    return say(given, facts, lines)


def _folder(given: argparse.Namespace) -> Path:
    """The folder of the run; an entry is trained first."""
    folder = Path(given.run_or_entry)
    listed = {run.name: run.out for run in Runs(given.runs).all()}
    if not os.path.exists(folder) and (out := listed.get(given.run_or_entry)) is not None:
        folder = Path(out)
    if os.path.exists(folder):
        unused = ("sentence", "corpus", "steps", "seconds", "out", "set", "device", "seed")
        refuse_unused(given, f"it is for an entry to train first; the run in {folder} is as it was trained", *unused)
        return folder if folder.is_dir() else folder.parent
    entry = entry_to_train(given.run_or_entry)
    settings = pairs(given.set, "The setting")
    return Path(train_one(given, entry.turned(settings), settings)["out"] or "")
