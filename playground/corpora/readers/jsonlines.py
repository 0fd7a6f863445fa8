"""Rows of a file with one JSON object in each line."""

import json
from collections.abc import Iterator
from pathlib import Path

from playground.corpora.readers.decode import Progress, read_lines
from playground.corpora.readers.table import FileRow
from playground.errors import UserError

RIGHT = '; each line must be an object such as {"text": "..."}.'
"""How a refusal of a line ends."""


def read_jsonlines(
    path: str | Path, encoding: str | None = None, progress: Progress | None = None
) -> Iterator[FileRow]:
    """The objects of a file; a list or an object inside them is an empty cell."""
    name = Path(path).name
    for number, line in enumerate(read_lines(path, encoding, progress), 1):
        if line.strip():
            yield FileRow(number, as_cells(_read(name, number, line)))


def as_cells(row: dict) -> dict[str, str]:
    """Text, numbers and truth values as text; what is missing (as NaN too), a list or an object, is empty."""
    return {str(key): _cell(value) for key, value in row.items()}


def _cell(value: object) -> str:
    if value is None or value != value or isinstance(value, dict | list):
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _read(name: str, number: int, line: str) -> dict:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        why = error.msg if isinstance(error, json.JSONDecodeError) else "it is too deep or holds too long a number"
        raise UserError(
            f"Line {number} of {name} is not a JSON object ({why}): {line.strip()[:40]!r}{RIGHT}"
        ) from error
    if not isinstance(row, dict):
        kind = "a list" if isinstance(row, list) else "a single value"
        raise UserError(f"Line {number} of {name} is {kind}{RIGHT}")
    return row
