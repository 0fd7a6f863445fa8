"""Rows of a table in plain text with commas, semicolons, bars or tabs between the cells."""

import csv
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from pathlib import Path

from playground.corpora.readers.decode import Progress, read_lines
from playground.corpora.readers.table import LABELS, TEXTS, Row
from playground.errors import UserError

DELIMITERS = (",", ";", "\t", "|")

LOOK = 200
"""Rows from which the delimiter is found, and whether the first row names the columns."""

LONGEST_NAME = 40
"""Letters of a column's name."""


def read_delimited(
    path: str | Path, encoding: str | None = None, progress: Progress | None = None, *, quoted: bool = True
) -> tuple[Iterator[Row], str]:
    """The rows of a file, and a notice about them.

    Where quotes do not pair up, `csv.Error` is raised while the rows are read; `quoted=False` takes them as letters.
    """
    name = Path(path).name
    reader = csv.reader(
        (line + "\n" for line in read_lines(path, encoding, progress)),
        delimiter=_delimiter(path, encoding, quoted),
        quoting=csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE,
        strict=quoted,
        skipinitialspace=True,
    )
    rows = ((reader.line_num, [cell.strip() for cell in row]) for row in reader if any(map(str.strip, row)))
    first = list(islice(rows, LOOK))
    if not first:
        raise UserError(f"{name} has no rows; it holds only white space.")
    cells = [row for _, row in first]
    headed = _has_header(cells)
    widths = list(map(len, cells))
    columns = _columns(name, cells[0] if headed else [""] * max(set(widths), key=widths.count))
    notice = "" if headed else "The first line names no columns, so they are numbered."
    every = chain(first[1:] if headed else first, rows)
    return (_fit(line, row, columns) for line, row in every), notice


def _fit(line: int, row: Sequence[str], columns: Sequence[str]) -> Row:
    return Row(line, dict(zip(columns, row, strict=True)) if len(row) == len(columns) else {})


def _delimiter(path: str | Path, encoding: str | None, quoted: bool) -> str:
    """A tab in a .tsv file, else the delimiter that gives most of the first rows as many cells as the first one."""
    if Path(path).suffix.lower() in (".tsv", ".tab"):
        return "\t"
    lines = list(islice(read_lines(path, encoding), LOOK))
    quoting = csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE

    def evenness(delimiter: str) -> float:
        rows = csv.reader(lines, delimiter=delimiter, quoting=quoting, skipinitialspace=True)
        widths = [len(row) for row in rows if row]
        return widths.count(widths[0]) / len(widths) if widths and widths[0] > 1 else 0.0

    return max(DELIMITERS, key=evenness)


def _has_header(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first row names the columns: by known names, or because it is unlike the rows below it."""
    head, *rest = rows
    if any(cell.lower() in TEXTS + LABELS for cell in head):
        return True
    columns = [[row[k] for row in rest if len(row) == len(head)] for k in range(len(head))]
    names = all(len(cell) <= LONGEST_NAME and not _number(cell) for cell in head)
    return names and any(_unlike(cell, column) for cell, column in zip(head, columns, strict=True))


def _unlike(cell: str, column: Sequence[str]) -> bool:
    """Whether a cell is above numbers, or above a few values that are repeated, and is none of them."""
    repeated = len(set(column)) <= len(column) / 2
    return bool(column) and cell not in column and (repeated or all(map(_number, column)))


def _number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _columns(name: str, head: Sequence[str]) -> list[str]:
    columns = [cell or f"column {k}" for k, cell in enumerate(head, 1)]
    twice = next((column for k, column in enumerate(columns) if column in columns[:k]), None)
    if twice is not None:
        raise UserError(f"{name} names the column {twice!r} twice; give each column a name of its own.")
    return columns
