"""The text of a run beside its checkpoints, where its name alone does not make it again: a text of a person's own."""

from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from playground.batch import Tokens
from playground.corpora import Corpus, pick
from playground.corpora.cache import from_tensors, to_tensors
from playground.corpora.respelling import IN_WORDS
from playground.corpora.sources import is_generated, open_saved
from playground.errors import UserError
from playground.training import checkpoint
from playground.training.checkpoint import FORMAT, Checkpoint, CorpusInfo, read, write_whole
from playground.training.train_state import TrainState

TOKENS = 60_000
"""Tokens of the corpus in which a model of another vocabulary is looked into."""


def save_run(folder: Path, learner: TrainState, corpus: Corpus, held_out: Tokens) -> Path:
    """Write the checkpoint of a run into its folder, and its text once."""
    _keep_text(_path(folder, corpus.hash), corpus)
    info = CorpusInfo(corpus.name, corpus.hash, corpus.unigram_entropy, held_out)
    return checkpoint.save(folder / "checkpoint.safetensors", learner, corpus.tokenizer, info)


def _keep_text(path: Path, corpus: Corpus) -> None:
    if path.exists() or is_generated(corpus.name.partition(IN_WORDS)[0]):
        return
    tensors, about = to_tensors(corpus)
    write_whole(path, tensors, {"format": FORMAT, **about})


def corpus_of(saved: Checkpoint) -> Corpus:
    """The corpus of a saved run, which must still hold the same text."""
    path, (name, content) = _path(saved.folder, saved.corpus.hash), (saved.corpus.name, saved.corpus.hash)
    corpus = _restored(path, *read(path)) if path.exists() else open_saved(name, saved.tokenizer)
    if corpus.hash != content:
        raise UserError(
            f"The run was trained on other text than {name} holds now (content {content[:8]}, not {corpus.hash[:8]}); "
            "restore the same text to continue."
        )
    return corpus


def corpus_or_kept_rows(saved: Checkpoint) -> Corpus:
    """The corpus of a checkpoint to look into; a part of it where it is spelt in the words of an imported folder.

    Where it can be opened no more, as a file of one's own, its text is the rows that the checkpoint keeps.
    """
    if IN_WORDS in saved.corpus.name:
        return open_saved(saved.corpus.name, saved.tokenizer, TOKENS)
    try:
        return corpus_of(saved)
    except UserError:
        return _kept_rows(saved)


def _kept_rows(saved: Checkpoint) -> Corpus:
    """The rows that a checkpoint keeps, without gold labels: first those for rehearsal, or half of the held-out."""
    held_out, known = saved.corpus.held_out, saved.corpus.rehearsal
    if known is None and len(held_out.ids) > 1:
        number = torch.arange(len(held_out.ids))
        known, held_out = (pick(held_out, rows) for rows in number.split((len(number) + 1) // 2))
    known = held_out if known is None else known
    wide = max(known.ids.shape[1], held_out.ids.shape[1])
    first, second = _flat(known, 0, wide), _flat(held_out, len(known.ids), wide)
    rows = (torch.cat(pair).int() for pair in zip(first, second, strict=True))
    name = f"{saved.corpus.name} (rows of the checkpoint)"
    return Corpus(name, "", saved.tokenizer, *rows, held_out_from=len(first[0]))


def _flat(rows: Tokens, before: int, wide: int) -> tuple[Tensor, ...]:
    """The ids of all rows one after the other, and the running numbers of their words, sentences and rows."""
    row = (before + torch.arange(len(rows.ids)))[:, None].expand_as(rows.ids)
    numbers = (rows.ids, row * wide + rows.word_ids, row * wide + rows.sentence_ids, row)
    return tuple(each[rows.valid] for each in numbers)


def _path(folder: Path, content: str) -> Path:
    return folder / f"text-{content}.safetensors"


def _restored(path: Path, about: dict[str, Any], tensors: dict[str, Tensor]) -> Corpus:
    try:
        return from_tensors(tensors, about)
    except (LookupError, TypeError, ValueError, AttributeError, RuntimeError) as error:
        raise UserError(f"The text {path} is damaged ({error}); train again on the text that it was.") from error
