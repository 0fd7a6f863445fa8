"""Generated corpora on the disk, for a faster second start; a file that cannot be used is generated anew."""

import hashlib
import json
import os
import tempfile
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import CodeType

import torch
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from playground.corpora.corpus import Corpus
from playground.devices import arrays
from playground.folders import cache_folder
from playground.parsing import parse_json
from playground.tokenizing import tokenizer_json

MOST_FILES = 16
"""Corpora that are kept; the one with the oldest use is removed first."""

PACKAGES = ("catalog", "tinyworld")
"""The packages with the code that generates."""

PLAIN = ("name", "description", "held_out_from", "label_names", "entropy_bound", "sections", "hash")
"""Fields of a corpus that are saved as JSON as they are."""


def remembered(key: str, make: Callable[[], Corpus]) -> Corpus:
    """The corpus saved under a key in the user's cache folder; a missing or damaged one is made and saved."""
    try:
        path = cache_folder("corpora") / f"{key}-{version()}.safetensors"
        return _read(path)
    except (OSError, RuntimeError, SafetensorError, ValueError, KeyError, TypeError, AttributeError):
        corpus = make()
    with suppress(OSError, RuntimeError):
        _write(path, corpus)
        files = sorted(path.parent.glob("*.safetensors"), key=lambda file: file.stat().st_mtime, reverse=True)
        for file in files[MOST_FILES:]:
            file.unlink(missing_ok=True)
    return corpus


@cache
def version() -> str:
    """A hash of the compiled code of the catalogue and of TinyWorld, on which what is generated depends."""
    digest = hashlib.blake2b(digest_size=8)
    for file in sorted(file for package in PACKAGES for file in (Path(__file__).parent / package).rglob("*.py")):
        digest.update(_instructions(compile(file.read_bytes(), file.name, "exec", optimize=2)).encode())
    return digest.hexdigest()


def _instructions(code: CodeType) -> str:
    """The instructions and constants of compiled code, without comments, docstrings and line numbers."""
    inner = [_instructions(value) for value in code.co_consts if isinstance(value, CodeType)]
    values = [
        sorted(map(repr, v)) if isinstance(v, frozenset) else v for v in code.co_consts if not isinstance(v, CodeType)
    ]
    return repr((code.co_name, code.co_code, code.co_names, values, inner))


def _read(path: Path) -> Corpus:
    """The saved corpus; every token of a generated corpus is a word of its own."""
    with safe_open(path, framework="pt") as file:
        saved = parse_json(file.metadata()["corpus"])
        rows = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (no mapping)
    corpus = Corpus(
        name=saved["name"],
        description=saved["description"],
        tokenizer=tokenizer_json.from_json(saved["tokenizer"]),
        ids=rows["ids"].long(),
        word_ids=torch.arange(len(rows["ids"]), dtype=torch.int32),
        sentence_ids=rows["sentence"],
        document_ids=rows["document"],
        held_out_from=saved["held_out_from"],
        labels={name.removeprefix("label "): row for name, row in rows.items() if name.startswith("label ")},
        label_names={name: tuple(values) for name, values in saved["label_names"].items()},
        entropy_bound=saved["entropy_bound"],
        sections=tuple(saved["sections"]),
    )
    if corpus.hash != saved["hash"]:
        raise ValueError(path)
    with suppress(OSError):
        path.touch()
    return corpus


def _write(path: Path, corpus: Corpus) -> None:
    """Save a corpus by replacing the file at once, so that two processes can write it at the same time."""
    rows = {"ids": corpus.ids.short(), "sentence": corpus.sentence_ids, "document": corpus.document_ids}
    rows |= {f"label {name}": row for name, row in corpus.labels.items()}
    saved = {name: getattr(corpus, name) for name in PLAIN} | {"tokenizer": tokenizer_json.to_json(corpus.tokenizer)}
    content = save(arrays(rows), {"corpus": json.dumps(saved)})
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, suffix=".part", delete=False) as file:
        file.write(content)
    os.replace(file.name, path)
