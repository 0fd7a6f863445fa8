"""`playground zoo build`: bases that are trained once and kept in the cache, for the pages and other commands."""

import argparse
import shlex
import shutil
import sys
from pathlib import Path
from typing import Literal, TypedDict

import torch
from tqdm import tqdm

from playground.cli.options import refuse_unused, say
from playground.corpora.sources import is_generated
from playground.devices import pick
from playground.errors import writing
from playground.training.events import Evaluated, Stepped
from playground.training.store import bundled, ready_made
from playground.training.store.ready_made import ReadyMade
from playground.zoo import entry_to_train

BUILD = "build"
"""The word behind `playground zoo` that builds."""


class BaseFacts(TypedDict):
    """A base model; what is known only of a finished one is null where it is missing."""

    name: str
    """Name of its folder."""
    entry: str
    corpus: str
    seed: int
    unit: str
    """Unit of its loss."""
    steps: int
    state: Literal["built", "ready", "missing"]
    """Built now, there before, or missing."""
    folder: str
    weights: str | None
    """Hash of the weights."""
    sha256: str | None
    """Hash of the file."""
    corpus_hash: str | None
    """Hash of the corpus."""
    held_out: float | None
    """Held-out loss for each scored position."""
    seconds: float | None
    """Training time."""


class BuiltFacts(TypedDict):
    """Base models that are built or there (`playground zoo build`)."""

    ready_made: list[BaseFacts]


def build(given: argparse.Namespace) -> int:
    """Build what is missing, or with --check say only what is there, with one bar over all steps."""
    home = None if given.cache is None else Path(given.cache)
    torch.set_num_threads(1)
    chosen = _chosen(given)
    there = [ready_made.facts(made, home) is not None for made in chosen]
    missing = [made for made, ready in zip(chosen, there, strict=True) if not ready]
    if not given.check:
        _build(missing, home)
        for one in chosen if given.bundled else ():
            print(f"Written: {bundled.bundle(one, home)}", file=sys.stderr)
    made = [_facts(one, home, "ready" if ready else "built") for one, ready in zip(chosen, there, strict=True)]
    say(given, BuiltFacts(ready_made=made), [_line(each) for each in made])
    return 1 if given.check and missing else 0


def _chosen(given: argparse.Namespace) -> tuple[ReadyMade, ...]:
    """The entries that are named, else what is bundled, or what the pages and the notebook begin with."""
    refuse_unused(given, f"`playground zoo {BUILD}` measures nothing", "measure")
    how = ("corpus", "steps", "seed")
    if given.bundled:
        refuse_unused(given, "--bundled builds what the package declares", "bases", *how)
        return bundled.recipes()
    if not given.bases:
        refuse_unused(given, "it says how entries are built; name them: playground zoo build BERT", *how)
    named = tuple(ready_made.ready_made(name, given.corpus, given.seed, given.steps) for name in given.bases)
    return named or ready_made.defaults()


def _build(missing: list[ReadyMade], home: Path | None) -> None:
    if not missing:
        return
    with tqdm(total=sum(made.steps for made in missing), unit="step", file=sys.stderr, mininterval=0.2) as bar:
        done = 0
        for made in missing:
            bar.set_description(made.title)
            for event in ready_made.build(made, home):
                if isinstance(event, Stepped):
                    bar.update(done + event.step - bar.n)
                if isinstance(event, Evaluated):
                    bar.set_postfix_str(f"held-out {event.held_out:.3f} {made.entry.unit()}", refresh=False)
            done += made.steps


def _facts(made: ReadyMade, home: Path | None, state: Literal["built", "ready"]) -> BaseFacts:
    found = ready_made.facts(made, home)
    return {
        "name": made.name,
        "entry": made.entry.name,
        "corpus": made.corpus,
        "seed": made.seed,
        "unit": made.entry.unit(),
        "steps": made.steps,
        "state": "missing" if found is None else state,
        "folder": str(made.folder(home)),
        "weights": None if found is None else found["weights"],
        "sha256": None if found is None else found["sha256"],
        "corpus_hash": None if found is None else found["corpus_hash"],
        "held_out": None if found is None else found["held_out"],
        "seconds": None if found is None else found["seconds"],
    }


def _line(made: BaseFacts) -> str:
    loss = ""
    if made["held_out"] is not None:
        loss = f", held out {made['held_out']:.3f} {made['unit']}, {made['seconds']:.1f} s"
    what = f"{made['entry']} on {made['corpus']}, seed {made['seed']}, {made['steps']:,} steps"
    return f"{made['state']:<8} {what}{loss}\n         {made['folder']}"


def base_there(given: argparse.Namespace, home: Path | None) -> Path | None:
    """The folder of the ready-made checkpoint of an entry that is to be trained; None where there is none, said so.

    With a `home` the checkpoint is copied there, so that the result is whole without the cache; so it is into the
    folder of runs where the base is changed first.
    """
    text = given.corpus or entry_to_train(given.base).corpus
    if given.seconds is not None or pick(given.device).type != "cpu" or not is_generated(text):
        return None
    made = ready_made.ready_made(given.base, given.corpus, given.seed)
    if given.steps not in (None, made.steps):
        return None
    if ready_made.facts(made) is None:
        options = (*_if("--corpus", given.corpus), *_if("--seed", given.seed))
        asked = shlex.join(["playground", "zoo", BUILD, given.base, *options])
        print(f"{made.title}, is trained first; `{asked}` makes it once for all comparisons.", file=sys.stderr)
        return None
    print(f"The base is the ready-made checkpoint {made.name}: {made.title}.", file=sys.stderr)
    if home is None and not (given.second_language or given.decoder):
        return made.folder()
    home = home or Path(given.runs, made.name)
    with writing(home):
        shutil.copytree(made.folder(), home, dirs_exist_ok=True)
    return home


def _if(option: str, value: object) -> list[str]:
    return [option, str(value)] if value else []
