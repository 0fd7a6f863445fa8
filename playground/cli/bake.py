"""`playground bake`: a run as one HTML file that replays it without kernel and network."""

import argparse
import importlib
import os
from pathlib import Path
from typing import Any

from playground.cli.options import KNOBS, command, pairs, path, say, training_options
from playground.cli.train import train_one, turned
from playground.errors import Refusal


def add(commands: Any) -> None:
    """The options of the command."""
    bake = command(commands, "bake", "a run as one HTML file that replays it offline", bake_run)
    bake.add_argument(
        "run_or_entry", metavar="RUN|ENTRY", help="a run by its name or folder, or an entry to train first"
    )  # fmt: skip
    bake.add_argument("-o", "--output", type=path, required=True, metavar="FILE.html", help="the file to write")
    bake.add_argument("--sentence", help="of an entry that is trained first: the probe sentence")
    bake.add_argument("--corpus", help="the corpus of an entry that is trained first")
    bake.add_argument("--set", action="append", default=[], metavar="KNOB=VALUE", help=KNOBS)
    bake.add_argument("--runs", type=path, default="runs", metavar="DIR", help="the folder with the list of runs")
    training_options(bake)


def bake_run(given: argparse.Namespace) -> int:
    """Write the page of a run, or of an entry that is trained first."""
    from playground.training.observe.replay import load

    output = Path(given.output)
    _check(output)
    replay = load(_folder(given))
    page = importlib.import_module("widgets.animation.replay").page(replay)
    try:
        output.write_text(page, encoding="utf-8")
    except OSError as error:
        raise Refusal(f"The page could not be written to {output}: {error.strerror or error}.") from error
    facts = {
        "output": str(output),
        "bytes": len(page.encode()),
        "moments": len(replay.moments),
        "steps": [moment["step"] for moment in replay.moments],
        "title": replay.record["title"],
    }
    lines = [f"{output}: {facts['moments']} moments in {facts['bytes'] / 1e6:.2f} MB; it opens without a network."]
    return say(given, facts, lines)


def _check(output: Path) -> None:
    """Refuse before anything is trained for nothing."""
    if output.is_dir() or not output.resolve().parent.is_dir():
        raise Refusal(f"{output} cannot be written; give the name of a file in a folder that is there.")


def _folder(given: argparse.Namespace) -> Path:
    """The folder of the run; an entry is trained first."""
    from playground.zoo import entry_named

    folder = _kept_folder(given) or Path(given.run_or_entry)
    if os.path.exists(folder):
        unused = [name for name in ("sentence", "corpus", "steps", "seconds", "out") if getattr(given, name)]
        if unused or given.set:
            name = f"--{(unused or ['set'])[0]}"
            raise Refusal(f"{name} is for an entry that is trained first; the run in {folder} is as it was trained.")
        return folder if folder.is_dir() else folder.parent
    entry = turned(entry_named(given.run_or_entry), pairs(given.set, "The setting"))
    return Path(train_one(given, entry, given.seed, 1)["out"])


def _kept_folder(given: argparse.Namespace) -> Path | None:
    """The folder of a run that is listed under this name."""
    from playground.training.store.runs import Runs

    kept = {run.name: run.out for run in Runs(given.runs).all()}
    out = None if os.path.exists(given.run_or_entry) else kept.get(given.run_or_entry)
    return None if out is None else Path(out)
