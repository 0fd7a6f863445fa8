"""What instruments look into: the model of a checkpoint, or of a learner that does not train now."""

from collections.abc import Callable
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
    learner = saved.learner
    return Subject(
        name, learner.model, corpus_or_kept_rows(saved), learner.objective, saved.corpus.held_out, learner.seed,
        learner.step, _earlier(folder, learner.step),
    )  # fmt: skip


def of_learner(learner: TrainState, corpus: Corpus, name: str = "", folder: Path | None = None) -> Subject:
    """The model of a learner that does not train now; its held-out rows are those on which training evaluates it.

    Earlier checkpoints that were kept in the folder of its run can be loaded too.
    """
    sampler = BatchSampler.of_learner(learner, corpus)
    name = name or f"{learner.entry.title} on {corpus.name}, seed {learner.seed}"
    return Subject(
        name, learner.model, corpus, learner.objective, sampler.evaluation(), learner.seed, learner.step,
        _earlier(folder, learner.step),
    )  # fmt: skip


def _earlier(folder: Path | None, step: int) -> dict[int, Callable[[], LanguageModel]]:
    there = {} if folder is None else kept(folder)
    return {earlier: partial(_model, path) for earlier, path in there.items() if earlier <= step}


def _model(path: Path) -> LanguageModel:
    return checkpoint.load(path).learner.model
