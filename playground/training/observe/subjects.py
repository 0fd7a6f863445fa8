"""What instruments look into: the model of a checkpoint, or of a learner that does not train now."""

from functools import partial
from pathlib import Path

from playground.analysis.subject import Subject
from playground.corpora import Corpus
from playground.models import LanguageModel
from playground.training import checkpoint
from playground.training.checkpoint import Checkpoint, kept
from playground.training.data import BatchSampler
from playground.training.own_text import corpus_or_kept_rows
from playground.training.train_state import TrainState


def of_checkpoint(saved: Checkpoint, name: str, folder: Path | None = None) -> Subject:
    """The model of a checkpoint; earlier checkpoints that were kept in its folder can be loaded too."""
    earlier = {} if folder is None or not folder.is_dir() else kept(folder)
    return Subject(
        name, saved.learner.model, corpus_or_kept_rows(saved), saved.learner.objective, saved.corpus.held_out,
        saved.learner.seed, saved.learner.step, {step: partial(_model, path) for step, path in earlier.items()},
    )  # fmt: skip


def of_learner(learner: TrainState, corpus: Corpus, name: str = "") -> Subject:
    """The model of a learner that does not train now; its held-out rows are those on which training evaluates it."""
    sampler = BatchSampler.of_learner(learner, corpus)
    name = name or f"{learner.entry.title} on {corpus.name}, seed {learner.seed}"
    return Subject(name, learner.model, corpus, learner.objective, sampler.evaluation(), learner.seed, learner.step)


def _model(path: Path) -> LanguageModel:
    return checkpoint.load(path).learner.model
