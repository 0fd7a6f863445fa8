"""Bundled checkpoints: small models inside the package, in half precision, so that a page shows numbers at once."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

import playground
from playground.corpora.corpus import pick
from playground.errors import UserError
from playground.objectives import find_objective
from playground.parsing import has_form
from playground.training import checkpoint
from playground.training.checkpoint import Checkpoint
from playground.training.store.ready_made import ReadyMade, weights_hash
from playground.zoo.entry import entry_for

FOLDER = Path(playground.__file__).parent / "bundled"

OBJECTIVES = ("MLM", "LM", "PLM", "RTD", "text infilling", "masked diffusion")
"""Objectives of which a model is bundled."""

CORPUS, STEPS, WIDTH, SEQ_LEN = "everyday", 4_000, 40, 16

HELD_OUT_ROWS = 4
"""Held-out rows that are kept, for a checkpoint has some; the loss is measured on all of them before."""

FACTS = {"weights": str, "held_out": {str: float}}
"""What the header adds to that of every checkpoint: a hash of the weights, and the held-out loss of each target."""


@dataclass(frozen=True)
class Bundled:
    """A checkpoint of the package, with the size of its file in bytes."""

    saved: Checkpoint
    held_out: Mapping[str, float]
    weights: str
    size: int

    @property
    def card(self) -> str:
        """What it is, in one line."""
        learner, corpus = self.saved.learner, self.saved.corpus
        layers = f"{learner.entry.model.layers} layers"
        losses = ", ".join(
            f"{loss:.2f} {learner.entry.unit(target)} ({target})" for target, loss in self.held_out.items()
        )
        return (
            f"{learner.entry.name}, {layers}, {learner.step:,} steps on the corpus {corpus.name}, seed {learner.seed}: "
            f"held-out loss {losses}; comes with the app ({self.size / 1000:,.0f} kB)"
        )


def recipes(steps: int = STEPS) -> tuple[ReadyMade, ...]:
    """What is bundled, as checkpoints that can be built."""
    turned = {"width": WIDTH, "seq_len": SEQ_LEN, "steps": steps}
    return tuple(ReadyMade(entry_for(find_objective(name)).turned(turned), CORPUS) for name in OBJECTIVES)


def bundle(made: ReadyMade, home: Path | None = None, folder: Path = FOLDER) -> Path:
    """Write a checkpoint that was built into the package: half precision, no optimiser state, nothing of the clock."""
    saved = checkpoint.load(made.folder(home))
    learner, held_out = saved.learner, saved.corpus.held_out
    learner.model.half().float()  # the weights are what the file will hold
    facts = {"weights": weights_hash(learner), "held_out": learner.evaluate(held_out)}
    learner.enter_phase()  # optimisers that know no gradient yet
    learner.model.half()
    learner.seconds = 0.0
    few = pick(held_out, torch.arange(min(HELD_OUT_ROWS, len(held_out.ids))))
    corpus = replace(saved.corpus, held_out=few, rehearsal=None)
    path = checkpoint.save(folder / f"{made.entry.name}.safetensors", learner, saved.tokenizer, corpus, facts)
    path.chmod(0o644)  # whoever uses an installed package may read it
    return path


def bundled(folder: Path = FOLDER) -> dict[str, Path]:
    """The files of the package by the names of their objectives."""
    return {path.stem: path for path in sorted(folder.glob("*.safetensors"))}


def load(name: str, folder: Path = FOLDER) -> Bundled:
    """A bundled checkpoint; one that is not there, or does not fit this version, is refused."""
    path = bundled(folder).get(name)
    if path is None:
        raise UserError(f"No model of {name!r} is bundled; there are {', '.join(bundled(folder)) or 'none'}.")
    facts: Any = checkpoint.read(path)[0].get("facts")
    if not has_form(facts, FACTS):
        raise UserError(f"The header of {path} lacks its facts; `playground zoo build --bundled` writes it again.")
    return Bundled(checkpoint.load(path), facts["held_out"], facts["weights"], path.stat().st_size)
