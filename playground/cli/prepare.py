"""What comes before anything is compared: a task is opened, a base is changed, which leaves a run of its own."""

import argparse
import os
import sys
from pathlib import Path

import torch
from tqdm import tqdm

from playground.corpora.readers.decode import WrongEncoding
from playground.errors import UserError
from playground.finetuning import Task, find_task
from playground.finetuning.apply.add_decoder import with_decoder
from playground.finetuning.apply.crosslingual import learn_words, second_language, with_words_of
from playground.tokenizing import Tokenizer
from playground.training import checkpoint
from playground.training.checkpoint import CorpusInfo
from playground.training.train_state import TrainState

OWN = ("same", "new")
"""Decoders that need no other run: of the base's own layers, or of new ones."""


def open_task(name: str) -> Task:
    """A task; what was guessed of its file and what is left out goes to standard error."""
    try:
        task = find_task(name)
    except WrongEncoding as wrong:
        how = " Or name its encoding, as in 'reviews.csv?encoding=cp1252'."
        raise UserError(f"{wrong}{(not wrong.named) * how}") from wrong
    if task.notice:
        print(f"{task.name}: {task.notice}", file=sys.stderr)
    return task


def check_runs(given: argparse.Namespace) -> None:
    """Refuse a run that does not exist, before anything is trained."""
    asked = [("--extra-encoder", run) for run in given.extra_encoder]
    asked += [("--decoder", given.decoder)] if given.decoder not in (None, *OWN) else []
    for option, run in asked:
        if not os.path.exists(run):
            also = f", or one of {', '.join(OWN)}" if option == "--decoder" else ""
            raise UserError(f"{option} is {run}, where no run is; name the folder of a run{also}.")


def learn_second(run: Path, steps: int, folder: Path | None, device: torch.device) -> Path:
    """Train word vectors of the second language for the model of a run; the folder of the new run."""
    saved, corpus = checkpoint.load(run, device), second_language()
    made = with_words_of(saved.learner, saved.tokenizer, corpus)
    with tqdm(total=steps, desc="words of the second language", file=sys.stderr, mininterval=0.2) as bar:
        for loss in learn_words(made, corpus, steps):
            bar.set_postfix_str(f"loss {loss:.3f} nats", refresh=False)
            bar.update()
    return _save(made.learner, made.tokenizer, saved.corpus, run, folder, "second-language")


def add_decoder(run: Path, source: str, folder: Path | None, device: torch.device) -> Path:
    """Give the model of a run a decoder, of its own layers, of those of another run or of new ones."""
    saved = checkpoint.load(run, device)
    donor = {"same": saved, "new": None}[source] if source in OWN else checkpoint.load(source, device)
    made = with_decoder(saved.learner, saved.tokenizer, donor and donor.learner, donor and donor.tokenizer)
    return _save(made, saved.tokenizer, saved.corpus, run, folder, "with-decoder")


def _save(
    learner: TrainState, tokenizer: Tokenizer, corpus: CorpusInfo, run: Path, folder: Path | None, name: str
) -> Path:
    """The folder of a changed base: in the folder of the result, else beside the run it was made of."""
    home = run.with_name(f"{run.name}-{name}") if folder is None else folder / name
    checkpoint.save(home / "checkpoint.safetensors", learner, tokenizer, corpus)
    return home
