"""Rows of a table in plain text with commas, semicolons, bars or tabs between the cells."""

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any

from playground.corpora.readers.decode import Progress, read_lines
from playground.corpora.readers.table import LABELS, PAIRS, TEXTS, FileRow
from playground.errors import UserError

DELIMITERS = (",", ";", "\t", "|")

LOOK = 200
"""Rows from which the delimiter is found, and whether the first row names the columns."""

LONGEST_NAME = 40
"""Letters of a column's name."""

_SEP = re.compile(r'"?sep=([^\w\s"]|\t)\W*', re.IGNORECASE)
"""The first line of a file of Excel that names the delimiter."""

_ENCLOSED = re.compile(r'\s*"(?:[^"]|"")*"\s*')


def read_delimited(
    path: str | Path,
    encoding: str | None = None,
    progress: Progress | None = None,
    *,
    quoted: bool = True,
    strict: bool = True,
) -> tuple[Iterator[FileRow], str]:
    """The rows of a file, and a note on how they are read.

    Where quotes do not pair up, `csv.Error` is raised while the rows are read; `quoted=False` takes them as letters,
    and `strict=False` leaves out those that enclose a part of a cell.
    """
    name, delimiter = Path(path).name, _delimiter(path, encoding, quoted)
    quoted = quoted and (delimiter != "\t" or _encloses(_lines(path, encoding)))
    reader = csv.reader(
        (line + "\n" for line in _lines(path, encoding, progress)),
        delimiter=delimiter,
        quoting=csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE,
        strict=quoted and strict,
        skipinitialspace=True,
    )
    rows = _filled(reader)
    first = list(islice(rows, LOOK))
    if not first:
        raise UserError(f"{name} has no rows; it holds only white space.")
    cells = [row for _, _, row in first]
    width = _usual(map(len, cells))
    start = 0 if _known(cells[0]) and len(cells[0]) >= min(2, width) else list(map(len, cells)).index(width)
    headed = _has_header(cells[start:])
    head = cells[start] if headed else []
    columns = _columns(name, head or [""] * width)
    notes = [] if headed else ["The first line names no columns, so they are numbered."]
    unpaired = "read as letters" if not quoted else "" if strict else "left out where they enclose a part of one"
    notes += [f"Its quotation marks do not enclose cells throughout, so they are {unpaired}."] if unpaired else []
    every = chain(first[:start], first[start + 1 :], rows) if headed else chain(first, rows)
    no_row = (head, ["---" if cell else "" for cell in head])  # the names come again; the rule below them in Markdown
    filled = (FileRow(line, {} if row in no_row else _fit(row, columns), lines) for line, lines, row in every)
    return filled, " ".join(notes)


def _lines(path: str | Path, encoding: str | None, progress: Progress | None = None) -> Iterator[str]:
    """The lines of a file; the first one is empty where it names the delimiter."""
    for number, line in enumerate(read_lines(path, encoding, progress)):
        yield "" if number == 0 and _SEP.fullmatch(line) else line


def _filled(reader: Any) -> Iterator[tuple[int, int, list[str]]]:
    """The rows that are not blank, each with the line where it ends and how many lines it takes."""
    before = 0
    for row in reader:
        lines, before = reader.line_num - before, reader.line_num
        if any(map(str.strip, row)):
            yield before, lines, [cell.strip() for cell in row]


def _fit(row: Sequence[str], columns: Sequence[str]) -> dict[str, str]:
    """The cells by their columns, without empty ones at the end; none of a row with other columns."""
    if any(row[len(columns) :]) or len(row) < len(columns):
        return {}
    return dict(zip(columns, row, strict=False))


def _encloses(lines: Iterator[str]) -> bool:
    """Whether quotes enclose cells throughout: each of the first line, or every cell that one begins.

    Else they are quotation marks of the text, which may be closed only some rows later.
    """
    head = next(filter(str.strip, lines), "").split("\t")
    if all(map(_ENCLOSED.fullmatch, head)):
        return True
    cells = chain(head, chain.from_iterable(line.split("\t") for line in lines if '"' in line))
    return all(_ENCLOSED.fullmatch(cell) for cell in cells if cell.lstrip().startswith('"'))


def _delimiter(path: str | Path, encoding: str | None, quoted: bool) -> str:
    """The one that is named, a tab in a .tsv file, or what gives most of the first rows as many cells as the first.

    Where the first row is a title of one cell for each of them, it is what gives most rows as many cells.
    """
    named = _SEP.fullmatch(next(read_lines(path, encoding), ""))
    if named:
        return named[1]
    if Path(path).suffix.lower() in (".tsv", ".tab"):
        return "\t"
    lines = list(islice(read_lines(path, encoding), LOOK))
    quoting = csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE

    def evenness(delimiter: str) -> tuple[int, ...]:
        rows = csv.reader(lines, delimiter=delimiter, quoting=quoting, skipinitialspace=True)
        widths = [len(row) for row in rows if row] or [0]
        return tuple(widths.count(width) if width > 1 else 0 for width in (widths[0], _usual(widths)))

    return max(DELIMITERS, key=evenness)


def _usual(widths: Iterable[int]) -> int:
    """The most frequent number of cells."""
    return Counter(widths).most_common(1)[0][0]


def _known(row: Sequence[str]) -> bool:
    """Whether a cell is a known name of a column."""
    return any(cell.lower() in (*TEXTS, *LABELS, *chain.from_iterable(PAIRS)) for cell in row)


def _has_header(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first row names the columns: by known names, or because it is unlike the rows below it."""
    head, *rest = rows
    if _known(head):
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
