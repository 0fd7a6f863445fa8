"""Generated corpora on the disk, so that the second start is faster; whatever is wrong with a file, it is made anew."""

import json
import os
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save

from playground.corpora.corpus import Corpus
from playground.parsing import parse_json
from playground.tokenizing.tokenizer import Tokenizer

MOST_FILES = 16
"""Corpora that are kept; the one that was used longest ago makes room."""


def folder() -> Path:
    """Where generated corpora are kept: the user's own cache folder."""
    home = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA") or Path.home() / ".cache"
    return Path(home) / "pretraining-playground" / "corpora"


def remembered(key: str, make: Callable[[], Corpus]) -> Corpus:
    """The corpus kept under a key; if there is none, or it is damaged, it is made and kept."""
    try:
        path = folder() / f"{key}.safetensors"
        return _read(path)
    except (OSError, RuntimeError, SafetensorError, ValueError, KeyError, TypeError, AttributeError):
        corpus = make()
    with suppress(OSError, RuntimeError):
        _write(path, corpus)
        _tidy(path.parent)
    return corpus


def _read(path: Path) -> Corpus:
    with safe_open(path, framework="pt") as file:
        known = parse_json(file.metadata()["corpus"])
        rows = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (no mapping)
    corpus = _widen(known, rows)
    if corpus.hash != known["hash"]:
        raise ValueError(path)
    with suppress(OSError):
        path.touch()
    return corpus


def _widen(known: dict, rows: dict[str, torch.Tensor]) -> Corpus:
    """A corpus from its narrow rows; every token of a generated corpus is a word of its own."""
    return Corpus(
        name=known["name"],
        description=known["description"],
        tokenizer=Tokenizer.from_json(known["tokenizer"]),
        ids=rows["ids"].long(),
        word_ids=torch.arange(len(rows["ids"]), dtype=torch.int32),
        sentence_ids=rows["sentence"],
        document_ids=rows["document"],
        held_out_from=known["held_out_from"],
        labels={name.removeprefix("label "): row for name, row in rows.items() if name.startswith("label ")},
        label_names={name: tuple(values) for name, values in known["label_names"].items()},
        entropy_bound=known["entropy_bound"],
        sections=tuple(known["sections"]),
    )


def _write(path: Path, corpus: Corpus) -> None:
    """All at once or not at all, so that two starts at the same time do no harm."""
    rows = {"ids": corpus.ids.short(), "sentence": corpus.sentence_ids, "document": corpus.document_ids}
    rows |= {f"label {name}": row for name, row in corpus.labels.items()}
    content = save(rows, {"corpus": json.dumps(_known(corpus))})
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, suffix=".part", delete=False) as file:
        file.write(content)
    os.replace(file.name, path)


def _known(corpus: Corpus) -> dict:
    return {
        "name": corpus.name,
        "description": corpus.description,
        "tokenizer": corpus.tokenizer.to_json(),
        "held_out_from": corpus.held_out_from,
        "label_names": corpus.label_names,
        "entropy_bound": corpus.entropy_bound,
        "sections": corpus.sections,
        "hash": corpus.hash,
    }


def _tidy(home: Path) -> None:
    """Remove the corpora that were used longest ago."""
    files = sorted(home.glob("*.safetensors"), key=lambda file: file.stat().st_mtime, reverse=True)
    for file in files[MOST_FILES:]:
        file.unlink(missing_ok=True)
