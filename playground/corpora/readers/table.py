"""Texts with a label each: which column is the text, which is the label, and what was left out."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import NamedTuple, Unpack

from playground.corpora.build import LIMIT, Labels, Options, Words, build
from playground.corpora.corpus import Corpus
from playground.errors import UserError
from playground.tokenizing.words import clean, split_words

TEXTS = tuple("text sentence review content comment document tweet message body article question premise title".split())
LABELS = tuple("label labels sentiment class category target polarity rating stars score topic intent emotion".split())
"""Names of columns that tell what they contain, the clearest first."""

LOOK = 1000
"""Rows from which the columns are guessed."""

MOST_LABELS = 200
"""Different values that a label may have; a column with more contains measurements or names."""

MOST_ROWS, MOST_LETTERS = 1_000_000, 60_000_000
"""Rows and letters of one table that are kept; more would fill the memory of a small computer."""


class Row(NamedTuple):
    """A row of a file and the line where it ends; a row with other columns than the rest has no cells."""

    line: int
    cells: Mapping[str, str]


@dataclass(frozen=True)
class Table:
    """Texts and the number of the label of each; without a label column there are no labels.

    `notice` says in sentences what was guessed and what was left out.
    """

    texts: tuple[str, ...]
    labels: tuple[int, ...]
    label_names: tuple[str, ...]
    text_column: str
    label_column: str | None
    columns: tuple[str, ...]
    notice: str = ""
    name: str = "table"


def from_table(table: Table, *, limit: int = LIMIT, **options: Unpack[Options]) -> Corpus:
    """A corpus with a document for each text; its label, under the name of its column, is that of all its words."""
    words = Words(limit)
    values = []
    for number, text in enumerate(table.texts):
        words.add(split_words(text))
        if words.close() and table.labels:
            values.append(table.labels[number])
        if words.cut:
            break
    column = table.label_column if values else None
    labels = {column: words.spread(values)} if column else {}
    label_names = {column: table.label_names} if column else {}
    return build(table.name, words, note=table.notice, labels=labels, label_names=label_names, **options)


def collect(name: str, rows: Iterator[Row], text: str | None = None, label: str | None = None, note: str = "") -> Table:
    """The rows as a table; columns that are not named are guessed."""
    sample = list(islice(rows, LOOK))
    if not sample:
        raise UserError(f"{name} has no rows; add some, each with a text.")
    columns = tuple(dict.fromkeys(chain.from_iterable(row.cells for row in sample)))
    for column in (text, label):
        if column is not None and column not in columns:
            known = ", ".join(map(repr, columns)) or "none"
            raise UserError(f"{name} has no column {column!r}; its columns are: {known}.")
    if text is not None and text == label:
        raise UserError(f"The column {text!r} cannot be both the text and the label; name two columns.")
    text_column = text or _guess_text(name, columns, sample, label)
    label_column = label or _guess_label(columns, sample, text_column)
    kept = _gather(chain(sample, rows), text_column, label_column)
    if not kept.texts:
        raise UserError(
            f"{name} has no row with something in the columns {text_column!r} and {label_column!r}; add rows."
        )
    if len(kept.labels.numbers) > MOST_LABELS:
        if label:
            raise UserError(f"The column {label!r} has more than {MOST_LABELS} different values; name a label column.")
        label_column = None
    numbers, names = kept.labels.sorted()
    guesses = [] if text else [f"the text is in the column {text_column!r}"]
    if not label:
        guesses.append(f"the label is in the column {label_column!r}" if label_column else "no column is a label")
    guessed = f"Guessed: {', '.join(guesses)}." if guesses else ""
    return Table(
        texts=tuple(kept.texts),
        labels=tuple(numbers.tolist()) if label_column else (),
        label_names=names if label_column else (),
        text_column=text_column,
        label_column=label_column,
        columns=columns,
        notice=" ".join(filter(None, [note, guessed, *_remarks(kept, label_column)])),
        name=name,
    )


@dataclass
class _Rows:
    """The texts and labels of complete rows, the number and first line of the others, and whether the rest is cut."""

    texts: list[str] = field(default_factory=list)
    labels: Labels = field(default_factory=Labels)
    missing: int = 0
    first_missing: int = 0
    cut: bool = False


def _gather(rows: Iterable[Row], text: str, label: str | None) -> _Rows:
    gathered = _Rows()
    letters = 0
    for line, cells in rows:
        words = clean(cells.get(text, "")).strip()
        value = clean(cells.get(label, "")).strip() if label else "-"
        if not words or not value:
            gathered.missing += 1
            gathered.first_missing = gathered.first_missing or line
            continue
        letters += len(words)
        if letters > MOST_LETTERS or len(gathered.texts) >= MOST_ROWS:
            gathered.cut = True
            break
        gathered.texts.append(words)
        if len(gathered.labels.numbers) <= MOST_LABELS:
            gathered.labels.add(value)
    return gathered


def _guess_text(name: str, columns: Sequence[str], sample: Sequence[Row], label: str | None) -> str:
    """A column with a known name, else the one with the longest cells."""
    others = [column for column in columns if column != label]
    if not others:
        raise UserError(f"{name} has no column with text; give every row the same columns, one of them with text.")
    letters = {column: sum(len(row.cells.get(column, "")) for row in sample) for column in others}
    return _first_named(TEXTS, [column for column in others if letters[column]]) or max(others, key=letters.__getitem__)


def _guess_label(columns: Sequence[str], sample: Sequence[Row], text: str) -> str | None:
    """A column with a known name, else the one with the fewest values, if those are repeated."""
    values = {c: {row.cells[c] for row in sample if row.cells.get(c, "").strip()} for c in columns if c != text}
    few = [column for column, different in values.items() if 1 <= len(different) <= MOST_LABELS]
    repeated = [column for column in few if 2 <= len(values[column]) <= len(sample) / 2]
    return _first_named(LABELS, few) or min(repeated, key=lambda column: len(values[column]), default=None)


def _first_named(names: Sequence[str], columns: Sequence[str]) -> str | None:
    """The column with the first of these names."""
    plain = {column.strip().lower(): column for column in reversed(columns)}
    return next((plain[name] for name in names if name in plain), None)


def _remarks(rows: _Rows, label: str | None) -> Iterator[str]:
    if rows.missing:
        number = "1 row is" if rows.missing == 1 else f"{rows.missing:,} rows are"
        yield (
            f"{number} left out, the first in line {rows.first_missing}: without a text or a label, or with other "
            "columns than the rest."
        )
    if len(rows.texts) == 1:
        yield "There is only one row."
    elif label and len(rows.labels.numbers) == 1:
        yield f"Every row has the label {next(iter(rows.labels.numbers))!r}, so there is nothing to tell apart."
    if rows.cut:
        yield f"The file is longer; only its first {len(rows.texts):,} texts are used."
