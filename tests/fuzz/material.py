"""What the damage is done to: small whole runs, records and texts, made once and kept as bytes."""

import io
import os
from collections.abc import Iterator, Mapping
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from playground import cli
from playground.analysis.predictions import sentence_of
from playground.corpora import open_corpus
from playground.training import train
from playground.training.observe import replay
from playground.training.observe.look import ProbeSentence
from playground.training.observe.recording import with_moments
from playground.training.store.metrics import recorded
from playground.training.store.runs import Runs
from tests.runs import reviews, run_of

RUNS = ("BERT", "XLNet", "ELECTRA", "NSP")
TINY = [a for knob in ("width=16", "heads=2", "layers=1", "seq_len=16", "batch_size=4") for a in ("--set", knob)]
COMPARE = (
    *("compare", "runs/run", "--train-size", "4", "--seeds", "1", "--tuning-steps", "2", "--strategies", "full,BitFit"),
    *("--task", "table.csv", "--out", "found"),
)

Folder = Mapping[str, bytes]
"""The files of a folder by their paths in it."""


@cache
def text() -> str:
    """A small text that speaks the language of the tasks about reviews; a hundred documents."""
    corpus = reviews(4_000)
    return corpus.tokenizer.join(corpus.ids.tolist()).replace("[SEP]", "\n\n")


@cache
def table() -> str:
    """A small labelled table."""
    texts = [line.replace(",", ";").strip() for line in text().split("\n\n") if line.strip()]
    return "text,label\n" + "".join(f"{line},{'good' if k % 2 else 'bad'}\n" for k, line in enumerate(texts[:120]))


@cache
def run(name: str) -> Folder:
    """The folder of a run of four steps, as the command line leaves it."""
    return _made(
        "train",
        name,
        "--corpus",
        "text.txt",
        "--steps",
        "4",
        "--save-every",
        "2",
        *TINY,
        "--out",
        "runs/run",
        "--runs",
        "runs",
    )


@cache
def story() -> Folder:
    """The folder of a run of four steps with its story, as the Train page leaves it."""
    with TemporaryDirectory() as folder, chdir(folder), without_cache():
        Path("text.txt").write_text(text(), encoding="utf-8")
        corpus = open_corpus("text.txt")
        run = run_of(corpus=corpus, steps=4, evaluate_every=2, sizes_every=2, save_every=2, out=Path("runs/run"))
        events = recorded(run, with_moments(run, train(run), ProbeSentence(sentence_of(corpus))))
        list(Runs("runs").recorded("run", run, replay.watched(run, events)))
        return _taken()


@cache
def comparison() -> Folder:
    """The folder of a small finished comparison."""
    return _made(*COMPARE, before=run("BERT"))


def _made(*line: str, before: Folder = {}) -> Folder:  # noqa: B006
    with TemporaryDirectory() as folder, chdir(folder), without_cache():
        put(before, Path())
        Path("text.txt").write_text(text(), encoding="utf-8")
        Path("table.csv").write_text(table(), encoding="utf-8")
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()) as said:
            assert cli.main(line) == 0, said.getvalue()
        return _taken()


def _taken() -> Folder:
    return {str(p): p.read_bytes() for p in Path().rglob("*") if p.is_file()}


def put(folder: Folder, home: Path) -> None:
    """The files of a folder on the disk again."""
    for name, content in folder.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_bytes(content)


@contextmanager
def without_cache() -> Iterator[None]:
    """Nothing is read from the cache of the person who runs the tests, and nothing is put there."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", os.devnull)
        yield
