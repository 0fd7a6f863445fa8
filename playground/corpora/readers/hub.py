"""Data sets in the Hugging Face layout, by name or from a folder; the library is imported only when it is needed."""

import importlib
from collections.abc import Iterable, Iterator, Mapping
from itertools import count
from pathlib import Path
from typing import Any

from playground.corpora.readers.jsonlines import as_cells
from playground.corpora.readers.table import FileRow, Table, collect
from playground.errors import UserError


def read_hub(name: str, text: str | None = None, label: str | None = None, split: str = "train") -> Table:
    """A data set by its name, with a comma before its part ("glue,sst2"), or by the path of a folder; texts stream."""
    try:
        datasets = importlib.import_module("datasets")
    except ImportError as error:
        raise UserError(
            "Data sets of the Hugging Face hub need the library datasets; install it with: pip install "
            "'pretraining-playground[hub]'."
        ) from error
    try:
        data = _open(datasets, name, split)
        return collect(Path(name).name or name, _rows(data), text, label)
    except UserError:
        raise
    except Exception as error:  # every error of the library or the network becomes one sentence
        why = next(iter(str(error).strip().splitlines()), "") or type(error).__name__
        raise UserError(
            f"The data set {name!r} cannot be read: {why[:200].rstrip('.')}. Check its name and the network."
        ) from error


def _open(datasets: Any, name: str, split: str) -> Iterable[Mapping]:
    """A folder that `save_to_disk` wrote, a folder with files, or a name on the hub."""
    folder = Path(name)
    if not folder.is_dir():
        dataset, _, part = name.partition(",")
        return datasets.load_dataset(dataset, part or None, split=split, streaming=True)
    if not any((folder / mark).exists() for mark in ("state.json", "dataset_dict.json")):
        return datasets.load_dataset(name, split=split, streaming=True)
    saved = datasets.load_from_disk(name)
    if not (folder / "dataset_dict.json").exists():
        return saved
    if split not in saved:
        raise UserError(f"{name} has no split {split!r}; its parts are: {', '.join(saved)}.")
    return saved[split]


def _rows(data: Iterable[Mapping]) -> Iterator[FileRow]:
    """The rows with the names of their classes instead of the numbers."""
    features = getattr(data, "features", None) or {}
    names = {column: kind.names for column, kind in features.items() if getattr(kind, "names", None)}
    for number, row in zip(count(1), data, strict=False):
        named = {c: names[c][v] for c, v in row.items() if c in names and isinstance(v, int) and v >= 0}
        yield FileRow(number, as_cells({**row, **named}))
