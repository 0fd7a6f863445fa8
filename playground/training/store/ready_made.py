"""Ready-made checkpoints: bases that are trained once and kept in the user's cache folder, by recipe and by code."""

import json
import re
import shutil
from collections.abc import Generator
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TypedDict, get_type_hints

import torch

import playground
from playground.corpora import open_corpus
from playground.corpora.sources import read_name
from playground.errors import UserError, writing
from playground.folders import cache_folder
from playground.knob import turn
from playground.parsing import has_form, parse_json
from playground.training import checkpoint
from playground.training.checkpoint import Checkpoint
from playground.training.events import Event
from playground.training.loop import Run, train
from playground.training.observe.look import ProbeSentence, text_to_watch
from playground.training.observe.recording import Moment, with_moments
from playground.training.parallel.seeds import followed, resumed
from playground.training.store import lock
from playground.training.store.metrics import Summary, write_text
from playground.training.store.runs import Runs, settings
from playground.training.train_state import TrainState
from playground.zoo import Entry, entry_to_train
from playground.zoo.preset import FAST

FILE, CHECKPOINT = "ready.json", "checkpoint.safetensors"
"""What is written last, when a checkpoint is finished, and the checkpoint itself."""


class ReadyFacts(TypedDict):
    """What is known of a finished checkpoint."""

    weights: str
    """Hash of the weights."""
    sha256: str
    """Hash of the file."""
    corpus_hash: str
    """Hash of the corpus."""
    held_out: float
    """Held-out loss for each scored position."""
    seconds: float
    """Training time."""


FACTS = get_type_hints(ReadyFacts)
"""The form of what is written last."""

CODE = (
    "answers.py", "batch.py", "inplace_cross_entropy.py", "rng.py", "slicing.py", "corpora/**/*.py", "models/**/*.py",
    "objectives/**/*.py", "tokenizing/**/*.py", "training/*.py",
)  # fmt: skip
"""The sources on which the numbers of a run depend, beside its recipe."""

EVALUATE_EVERY, SAVES = 25, 4
"""Steps between evaluations, as on the Train page, and checkpoints from which a build that was cut off goes on."""

MOST_KEPT = 16
"""Checkpoints that stay in the cache; those of earlier recipes and code are removed, the oldest first."""

SHOWN, LONGEST = 12, 60
"""Digits of a hash and characters of an entry that stand in the name of a checkpoint."""


@dataclass(frozen=True)
class ReadyMade:
    """What a checkpoint is trained as: an entry with its recipe, so many tokens of a generated corpus, and a seed.

    With 0 tokens the corpus has its own size.
    """

    entry: Entry
    corpus: str
    seed: int = 0
    tokens: int = 0

    @property
    def steps(self) -> int:
        return self.entry.recipe.steps

    @property
    def title(self) -> str:
        return f"{self.entry.name} on {self.corpus}, seed {self.seed}, {self.steps:,} steps"

    @property
    def name(self) -> str:
        """The name of its folder: what a person asks for first, and a hash of the recipe and the code."""
        entry = self.entry
        text = [self.corpus, self.seed, self.tokens]
        asked = [entry.name, asdict(entry.model), settings(entry), entry.objective.name, *text]
        digest = sha256(f"{json.dumps(asked, sort_keys=True, default=str)} {code_hash()}".encode()).hexdigest()
        plain = re.sub(r"[^\w.-]+", "_", entry.name)[:LONGEST]
        return f"{plain}-seed{self.seed}-{self.steps}steps-{digest[:SHOWN]}"

    def folder(self, home: Path | None = None) -> Path:
        return (home or cache_folder("checkpoints")) / self.name


def ready_made(name: str, corpus: str | None = None, seed: int = 0, steps: int | None = None) -> ReadyMade:
    """An entry, or an objective on its own, as a checkpoint that can be built; by default on its own corpus.

    Its recipe is the fast one, with which so few steps teach a tiny model most.
    """
    entry = FAST(entry_to_train(name))
    read_name(corpus or entry.corpus)  # refuses a file, of which no name says what it holds
    if steps is not None:
        entry = replace(entry, recipe=turn(entry.recipe, {"steps": steps}))
    return ReadyMade(entry, corpus or entry.corpus, seed)


def defaults() -> tuple[ReadyMade, ...]:
    """What the pages and the notebook begin with: the Train page's run, the notebook's, and two other bases."""
    return (
        ready_made("RoBERTa"), ready_made("RoBERTa", steps=300), ready_made("BERT"), ready_made("GPT"),
    )  # fmt: skip


def kept() -> Runs:
    """The list of the runs in the cache."""
    return Runs(cache_folder("checkpoints"))


def facts(made: ReadyMade, home: Path | None = None) -> ReadyFacts | None:
    """What is known of a finished checkpoint; None where there is none or its file is not what was written."""
    folder = made.folder(home)
    found = _facts(folder)
    try:
        whole = found is not None and found["sha256"] == _hash(folder / CHECKPOINT)
    except OSError:
        return None
    return found if whole else None


def load(made: ReadyMade) -> Checkpoint:
    """A finished checkpoint; one that is not there is refused with the command that builds it."""
    if facts(made) is None:
        raise UserError(f"{made.title} is not ready-made; `playground zoo build` builds it.")
    return checkpoint.load(made.folder())


def named(learner: TrainState) -> str:
    """The name of the ready-made checkpoint that has the very weights of a learner; empty where none has."""
    digest = weights_hash(learner)
    with suppress(OSError, RuntimeError):
        for path in sorted(cache_folder("checkpoints").glob(f"*/{FILE}")):
            found = _facts(path.parent)
            if found is not None and found["weights"] == digest:
                return path.parent.name
    return ""


def weights_hash(learner: TrainState) -> str:
    """A hash of the weights of a model, by their names."""
    hashed = sha256()
    for name, weight in sorted(learner.model.state_dict().items()):
        hashed.update(f"{name} {tuple(weight.shape)} ".encode() + weight.detach().cpu().contiguous().numpy().tobytes())
    return hashed.hexdigest()


def build(
    made: ReadyMade, home: Path | None = None, saves: int = SAVES, most_kept: int | None = None, wait: float = 0
) -> Generator[Event | Moment]:
    """Train a checkpoint with its events, from where an earlier build was cut off; one that is damaged anew.

    Its curve and its moments are kept as those of any run, in a list of runs beside the folders; `saves` are the steps
    of which a checkpoint is kept, `most_kept` the finished ones that stay, by default `MOST_KEPT`. What another process
    builds is waited for so many seconds.
    """
    folder = made.folder(home)
    if facts(made, home) is not None:
        return
    with writing(folder):
        if (folder / FILE).exists():
            shutil.rmtree(folder)
    ours = lock.acquire(folder / lock.FILE, wait)
    if ours is None:
        raise UserError(f"{made.title} is being built by another process; wait until it is done.")
    try:
        if not wait or facts(made, home) is None:  # which another process may have built meanwhile
            yield from _train(made, folder, saves, most_kept or MOST_KEPT)
    finally:
        ours.release()


def _train(made: ReadyMade, folder: Path, saves: int, most_kept: int) -> Generator[Event | Moment]:
    corpus = open_corpus(made.corpus, tokens=made.tokens or None)
    run = Run(
        made.entry, corpus, made.seed, torch.device("cpu"), made.steps, out=folder, evaluate_every=EVALUATE_EVERY,
        save_every=max(1, made.steps // saves), sizes_every=EVALUATE_EVERY,
    )  # fmt: skip
    learner, runs = _cut_off(run), Runs(folder.parent)
    earlier = runs.moments(made.name) if learner else ()
    text, origin = text_to_watch(corpus, made.entry.watched, made.entry.recipe.seq_len)
    moments = with_moments(run, train(run, learner), ProbeSentence(text, origin), earlier)
    summary, last = Summary(run), None
    for event in followed(run, moments, learner, runs, replayed=True, text=text):
        summary.read(event)
        last = summary.learner
        yield event
    if last is None or summary.step < made.steps:
        raise UserError(f"{made.title} ended at step {summary.step} ({summary.reason}) and is not ready-made.")
    found = {
        "weights": weights_hash(last), "sha256": _hash(folder / CHECKPOINT), "corpus_hash": corpus.hash,
        "held_out": summary.held_out, "seconds": summary.seconds,
    }  # fmt: skip
    about = {"entry": made.entry.name, "corpus": made.corpus, "seed": made.seed, "steps": made.steps}
    with writing(folder):
        write_text(folder / FILE, json.dumps({**about, "code": code_hash(), **found}, indent=1))
    for old in [run for run in runs.all() if run.name != made.name and run.state != "running"][: -(most_kept - 1)]:
        runs.delete(old.name)


def _cut_off(run: Run) -> TrainState | None:
    """The learner of a build that was cut off; None where it kept nothing that can be read."""
    assert run.out is not None
    if not (run.out / CHECKPOINT).exists():
        return None
    with suppress(UserError):
        return resumed(run)
    return None


def _facts(folder: Path) -> ReadyFacts | None:
    try:
        found = parse_json((folder / FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found if has_form(found, FACTS) else None


def _hash(path: Path) -> str:
    return sha256(path.read_bytes()).hexdigest()


@cache
def code_hash() -> str:
    """A hash of the sources on which numbers depend, and of torch."""
    home, hashed = Path(playground.__file__).parent, sha256(torch.__version__.encode())
    for path in sorted(path for pattern in CODE for path in home.glob(pattern)):
        hashed.update(path.relative_to(home).as_posix().encode() + path.read_bytes())
    return hashed.hexdigest()
