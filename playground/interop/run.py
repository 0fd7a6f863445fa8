"""A model that was read from a folder as the checkpoint of a run, with the held-out text of a corpus."""

import math
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import torch

from playground.corpora import pick
from playground.corpora.respelling import IN_WORDS
from playground.corpora.sources import open_saved
from playground.errors import NoHead, UserError
from playground.interop.folder import OpenedFolder
from playground.objectives.bind import with_generator
from playground.rng import generator
from playground.training import Run, Started, checkpoint
from playground.training.events import Evaluated, Stopped
from playground.training.store.runs import Runs
from playground.training.train_state import TrainState, optimisers
from playground.zoo.entry import Entry, entry_named

FAR = 1.0
"""Nats above ln V from which a model is worse than none."""

HELD_OUT = 64
"""Most rows of text that are saved."""


def save_run(
    opened: OpenedFolder, folder: Path | str, corpus: str = "world", runs: Runs | None = None
) -> tuple[Path, str]:
    """Write a checkpoint that has learnt for no step here; its text is that of a corpus, in the words of the folder.

    In a list of `runs` it stands like every kept run, with its held-out loss. With the path comes a sentence where
    this is worse than that of no model at all.
    """
    learner = learner_of(opened)
    text = open_saved(f"{corpus}{IN_WORDS}{opened.family.name}", opened.tokenizer)
    rows = text.windows(learner.entry.recipe.seq_len, "held_out")
    kept = torch.randperm(len(rows.ids), generator=generator(0, "held out"))[:HELD_OUT].sort().values
    info = checkpoint.CorpusInfo(text.name, text.hash, text.unigram_entropy, pick(rows, kept))
    path = checkpoint.save(Path(folder) / "checkpoint.safetensors", learner, opened.tokenizer, info)
    started, evaluated = Started(learner, info.unigram_entropy, info.held_out), [*_evaluated(learner, info)]
    if runs is not None:
        run = Run(learner.entry, text, out=Path(folder))
        for _ in runs.recorded(runs.name_of(Path(folder)), run, [started, *evaluated, Stopped(0, "steps", 0.0)]):
            pass
    return path, _doubt(evaluated[0], learner, info) if evaluated else ""


def _evaluated(learner: TrainState, corpus: checkpoint.CorpusInfo) -> Iterator[Evaluated]:
    """The evaluation of a run that has taken no step; none of a model without a head for it."""
    with suppress(NoHead):
        terms, accuracy, gauges = learner.measure(corpus.held_out)
        yield Evaluated(0, next(iter(terms.values())), terms, accuracy, gauges)


def _doubt(evaluated: Evaluated, learner: TrainState, corpus: checkpoint.CorpusInfo) -> str:
    """A sentence where the loss of words is far above ln V, that of the same probability for all; else nothing."""
    parts = learner.batch(corpus.held_out, "import").with_auxiliary
    asked = [target.name for part in parts for target in part.targets if target.kind.names_words]
    worst = max((evaluated.terms[name] for name in asked if name in evaluated.terms), default=0.0)
    size = len(corpus.held_out.vocabulary)
    if worst <= math.log(size) + FAR:
        return ""
    text = corpus.name.partition(IN_WORDS)[0]
    return (
        f"The held-out loss is {worst:,.2f} nats, far above that of guessing (ln {size:,} = {math.log(size):.2f}): the "
        f"model was not trained on text like that of {text}, or the words have other ids there. Name text of its kind "
        "with --corpus."
    )


def learner_of(opened: OpenedFolder) -> TrainState:
    """A model of a folder as a learner that has learnt for no step here."""
    entry = replace(_entry(opened), model=opened.model.shape)
    entry = replace(entry, recipe=replace(entry.recipe, optimiser="adamw", seq_len=_length(opened, entry)))
    objective = with_generator(entry.objective, opened.model.propose)
    return TrainState(entry, objective, opened.model, tuple(optimisers(opened.model, entry.recipe)), 0)


def _entry(opened: OpenedFolder) -> Entry:
    """The entry of the zoo that trains this family on plain text, else an objective on its own."""
    family = opened.family
    silent = family.companion and not opened.model.shape.generator_ratio  # nothing proposes words
    with suppress(UserError):  # the zoo has no DistilBERT
        entry = entry_named(family.entry)
        if not silent and not entry.objective.needs:
            return entry
    return entry_named("text infilling" if family.name == "BART" else "MLM")


def _length(opened: OpenedFolder, entry: Entry) -> int:
    """The length of a row, with room for special tokens."""
    shape, length = opened.model.shape, entry.recipe.seq_len
    return min(length, max(4, shape.max_position_embeddings - 4)) if shape.positions == "learned" else length
