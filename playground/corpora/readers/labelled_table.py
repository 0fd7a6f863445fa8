"""Labelled texts from a file."""

import csv
from contextlib import suppress
from pathlib import Path

from playground.corpora.readers.decode import Progress
from playground.corpora.readers.delimited import read_delimited
from playground.corpora.readers.jsonlines import read_jsonlines
from playground.corpora.readers.table import Table, collect
from playground.errors import UserError

JSON = (".jsonl", ".ndjson", ".json")


def read_table(
    path: str | Path,
    text: str | None = None,
    label: str | None = None,
    second: str | None = None,
    *,
    encoding: str | None = None,
    progress: Progress | None = None,
) -> Table:
    """The table in a .csv, .tsv or .jsonl file; columns that are not named are guessed, and the note says which."""
    name = Path(path).name
    if Path(path).suffix.lower() in JSON:
        return collect(name, read_jsonlines(path, encoding, progress), text, label, second)

    def read(*, quoted: bool = True, strict: bool = True) -> Table:
        rows, note = read_delimited(path, encoding, progress, quoted=quoted, strict=strict)
        return collect(name, rows, text, label, second, note)

    with suppress(csv.Error):
        return read()
    tables, failures = list[Table](), list[Exception]()
    for quoted in (False, True):  # what leaves out fewer rows
        try:
            tables.append(read(quoted=quoted, strict=False))
        except (csv.Error, UserError) as error:
            failures.append(error)
    if tables:
        return max(tables, key=lambda table: len(table.texts))
    if isinstance(failures[0], UserError):
        raise failures[0]
    raise UserError(
        f"{name} holds a cell of more than {csv.field_size_limit():,} letters; save long texts as .jsonl or .txt."
    ) from failures[0]
