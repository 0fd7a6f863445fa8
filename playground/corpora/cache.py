"""Corpora as files: generated ones for a faster second start, where a file that cannot be used is made again."""

import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import CodeType
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.numpy import save
from torch import Tensor

from playground.corpora.corpus import Corpus
from playground.devices import arrays
from playground.folders import cache_folder
from playground.parsing import parse_json
from playground.tokenizing import tokenizer_json

MOST_FILES = 16
"""Corpora that are kept; the one with the oldest use is removed first."""

PACKAGES = ("catalog", "tinyworld")
"""The packages with the code that generates."""

ROWS = ("ids", "word_ids", "sentence_ids", "document_ids")
"""Fields of a corpus that are tensors."""

PLAIN = ("name", "description", "held_out_from", "label_names", "entropy_bound", "sections")
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
    with safe_open(path, framework="pt") as file:
        about = parse_json(file.metadata()["corpus"])
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (no mapping)
    corpus = from_tensors(tensors | {"ids": tensors["ids"].long()}, about)
    if corpus.hash != about["hash"]:
        raise ValueError(path)
    with suppress(OSError):
        path.touch()
    return corpus


def _write(path: Path, corpus: Corpus) -> None:
    """Save a corpus by replacing the file at once, so that two processes can write it at the same time."""
    tensors, about = to_tensors(corpus)
    about["hash"] = corpus.hash
    content = save(arrays(tensors | {"ids": corpus.ids.short()}), {"corpus": json.dumps(about)})
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, suffix=".part", delete=False) as file:
        file.write(content)
    os.replace(file.name, path)


def to_tensors(corpus: Corpus) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """A corpus as tensors by their names, and the rest of it as values of JSON."""
    tensors = {name: getattr(corpus, name) for name in ROWS} | {f"label.{k}": row for k, row in corpus.labels.items()}
    about = {name: getattr(corpus, name) for name in PLAIN}
    return tensors, about | {"tokenizer": json.loads(tokenizer_json.to_json(corpus.tokenizer))}


def from_tensors(tensors: Mapping[str, Tensor], about: Mapping[str, Any]) -> Corpus:
    """The corpus again; a ValueError where its rows do not belong together."""
    tokenizer = tokenizer_json.from_json(json.dumps(about["tokenizer"]))
    labels = {name.removeprefix("label."): row for name, row in tensors.items() if name.startswith("label.")}
    fields: dict[str, Any] = {name: tensors[name] for name in ROWS} | {name: about[name] for name in PLAIN}
    fields["label_names"] = {name: tuple(values) for name, values in about["label_names"].items()}
    fields["sections"] = tuple(about["sections"])
    corpus = Corpus(tokenizer=tokenizer, labels=labels, **fields)
    rows = [corpus.ids, corpus.word_ids, corpus.sentence_ids, corpus.document_ids, *labels.values()]
    fits = all(row.shape == corpus.ids.shape and int(row.min()) >= -1 for row in rows)
    if not fits or not 0 <= int(corpus.ids.min()) <= int(corpus.ids.max()) < len(tokenizer):
        raise ValueError("its rows do not belong together")
    return corpus
