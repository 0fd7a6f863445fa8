"""Open what is looked into by its name: a kept run, a checkpoint, a folder of transformers, a ready-made checkpoint."""

import os
from dataclasses import replace
from functools import partial
from pathlib import Path

import torch
from torch import Tensor

from playground.analysis.subject import Subject
from playground.batch import Tokens
from playground.corpora import Corpus, open_corpus, pick
from playground.corpora.respelling import IN_WORDS
from playground.errors import UserError
from playground.folders import runs_folder
from playground.interop.folder import open_folder
from playground.interop.run import learner_of
from playground.models import LanguageModel
from playground.training import checkpoint
from playground.training.checkpoint import Checkpoint, kept
from playground.training.data import BatchSampler
from playground.training.store import ready_made
from playground.training.store.runs import Runs
from playground.training.text import corpus_of
from playground.training.train_state import TrainState

TOKENS = 60_000
"""Tokens of the corpus in which a model of another vocabulary is looked into."""


def open_subject(name: str, runs: Path | str | None = None) -> Subject:
    """A kept run of the list in `runs`, the path of a checkpoint or of a folder of transformers, or an entry.

    The list is by default that of the user. An entry, such as BERT, is its ready-made checkpoint.
    """
    path = Path(name)
    if os.path.isfile(path / "config.json"):
        return open_imported(path)
    if os.path.exists(path):
        return of_checkpoint(checkpoint.load(path), path.stem if path.is_file() else path.name, path)
    known = Runs(runs or runs_folder())
    if name in {run.name for run in known.all()}:
        return of_checkpoint(known.load(name), name, Path(known.find(name).out or ""))
    made = ready_made.ready_made(name)
    return of_checkpoint(ready_made.load(made), made.title, made.folder())


def of_checkpoint(saved: Checkpoint, name: str, folder: Path | None = None) -> Subject:
    """The model of a checkpoint; earlier checkpoints that were kept in its folder can be loaded too."""
    earlier = {} if folder is None or not folder.is_dir() else kept(folder)
    return Subject(
        name, saved.learner.model, _corpus(saved), saved.learner.objective, saved.corpus.held_out, saved.learner.seed,
        saved.learner.step, {step: partial(_model, path) for step, path in earlier.items()},
    )  # fmt: skip


def of_learner(learner: TrainState, corpus: Corpus, name: str = "") -> Subject:
    """The model of a learner that does not train now; its held-out rows are those on which training evaluates it."""
    sampler = BatchSampler.of_learner(learner, corpus)
    name = name or f"{learner.entry.name} on {corpus.name}, seed {learner.seed}"
    return Subject(name, learner.model, corpus, learner.objective, sampler.evaluation(), learner.seed, learner.step)


def open_imported(folder: Path) -> Subject:
    """A folder of transformers; its text is that of `world` in the words of the folder."""
    opened = open_folder(folder)
    corpus = open_corpus("world", tokens=TOKENS, tokenizer=opened.tokenizer)
    corpus = replace(corpus, name=f"{corpus.name}{IN_WORDS}{folder.name}")
    return of_learner(learner_of(opened), corpus, folder.name)


def _model(path: Path) -> LanguageModel:
    return checkpoint.load(path).learner.model


def _corpus(saved: Checkpoint) -> Corpus:
    """The corpus of a checkpoint; a part of it where it is spelt in the words of an imported folder.

    Where it can be opened no more, as a file of one's own, its text is the rows that the checkpoint keeps.
    """
    name, spelt, _ = saved.corpus.name.partition(IN_WORDS)
    if spelt:
        return replace(open_corpus(name, tokens=TOKENS, tokenizer=saved.tokenizer), name=saved.corpus.name)
    try:
        return corpus_of(saved)
    except UserError:
        return kept_text(saved)


def kept_text(saved: Checkpoint) -> Corpus:
    """The rows that a checkpoint keeps, without gold labels: first those for rehearsal, or half of the held-out."""
    held_out, known = saved.corpus.held_out, saved.corpus.rehearsal
    if known is None and len(held_out.ids) > 1:
        number = torch.arange(len(held_out.ids))
        known, held_out = (pick(held_out, rows) for rows in number.split((len(number) + 1) // 2))
    known = held_out if known is None else known
    first, second = (_flat(rows) for rows in (known, held_out))
    ids, words, sentences, documents = (
        torch.cat([a, b + (int(a.max()) + 1 if counted else 0)]).int()
        for a, b, counted in zip(first, second, (False, True, True, True), strict=True)
    )
    name = f"{saved.corpus.name} (rows of the checkpoint)"
    return Corpus(name, "", saved.tokenizer, ids, words, sentences, documents, len(first[0]))


def _flat(rows: Tokens) -> tuple[Tensor, ...]:
    """The ids of all rows one after the other, and the running numbers of their words, sentences and rows."""
    row = torch.arange(len(rows.ids))[:, None].expand_as(rows.ids)
    wide = rows.ids.shape[1]
    return tuple(
        each[rows.valid] for each in (rows.ids, row * wide + rows.word_ids, row * wide + rows.sentence_ids, row)
    )
