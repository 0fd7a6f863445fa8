"""Open what is looked into by its name: a kept run, a checkpoint, a folder of transformers, a ready-made checkpoint."""

import os
from pathlib import Path

from playground.analysis.subject import Subject
from playground.corpora.respelling import IN_WORDS
from playground.corpora.sources import open_saved
from playground.folders import runs_folder
from playground.interop.folder import open_folder
from playground.interop.run import learner_of
from playground.training import checkpoint
from playground.training.observe.subjects import of_checkpoint, of_learner
from playground.training.own_text import TOKENS
from playground.training.store import ready_made
from playground.training.store.runs import Runs


def open_subject(name: str, runs: Path | str | None = None) -> Subject:
    """A kept run of the list in `runs`, the path of a checkpoint or of a folder of transformers, or an entry.

    The list is by default that of the user. An entry, such as BERT, is its ready-made checkpoint. The text of a folder
    is that of `world` in the words of the folder.
    """
    path = Path(name)
    if os.path.isfile(path / "config.json"):
        opened = open_folder(path)
        corpus = open_saved(f"world{IN_WORDS}{path.name}", opened.tokenizer, TOKENS)
        return of_learner(learner_of(opened), corpus, path.name)
    if os.path.exists(path):
        return of_checkpoint(checkpoint.load(path), path.stem if path.is_file() else path.name, path)
    known = Runs(runs or runs_folder())
    if name in {run.name for run in known.all()}:
        return of_checkpoint(known.load(name), name, Path(known.find(name).out or ""))
    made = ready_made.ready_made(name)
    return of_checkpoint(ready_made.load(made), made.title, made.folder())
