"""Texts, or pairs of texts, with a label each: which columns these are, and what was left out."""

import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import NamedTuple, Unpack

from playground.corpora.build import LIMIT, NO_LABELS, DocumentWords, Labels, Options, WordLabels, build
from playground.corpora.corpus import Corpus
from playground.errors import UserError
from playground.tokenizing.words import clean, split_words

TEXTS = tuple("text sentence review content comment document tweet message body article question premise title".split())
LABELS = tuple("label labels sentiment class category target polarity rating stars score topic intent emotion".split())
"""Names of columns that tell what they contain, the clearest first."""

PAIRS = tuple(
    tuple(pair.split())
    for pair in (
        "premise hypothesis", "question passage", "question context", "question sentence", "question answer",
        "query passage", "query document", "claim evidence", "context response", "prompt response",
        "text hypothesis", "text text_pair",
    )
)  # fmt: skip
"""Names of two columns whose texts belong together, as in the tasks of GLUE (arXiv:1804.07461, table 1).

Columns such as "sentence1" and "sentence2", or "text_a" and "text_b", are a pair too.
"""

NUMBERS = tuple((f"{mark}{a}", f"{mark}{b}") for mark in ("", "_", " ", "-") for a, b in ("12", "ab"))
"""How the names of two such columns end."""

LOOK = 1000
"""Rows from which the columns are guessed."""

MOST_LABELS = 200
"""Different values that a label may have; a column with more contains measurements or names."""

MOST_ROWS, MOST_LETTERS = 1_000_000, 60_000_000
"""Rows and letters of one table that are kept; more would fill the memory of a small computer."""


class FileRow(NamedTuple):
    """A row of a file, the line where it ends and how many it takes; with other columns than the rest it is empty."""

    line: int
    cells: Mapping[str, str]
    lines: int = 1


@dataclass(frozen=True)
class Table:
    """Texts, each with a second one where they are pairs, and the numbers of their labels, if there is a label column.

    `note` says in sentences what was guessed, `warning` what was left out.
    """

    texts: tuple[str, ...]
    labels: tuple[int, ...]
    label_names: tuple[str, ...]
    text_column: str
    label_column: str | None
    columns: tuple[str, ...]
    note: str = ""
    warning: str = ""
    name: str = "table"
    second_column: str | None = None
    seconds: tuple[str, ...] = ()

    @property
    def notice(self) -> str:
        """The note and the warning."""
        return f"{self.note} {self.warning}".strip()


def from_table(table: Table, *, limit: int = LIMIT, **options: Unpack[Options]) -> Corpus:
    """A corpus with a document for each text; its label, under the name of its column, is that of all its words."""
    words = DocumentWords(limit)
    values = []
    for number, texts in enumerate(zip(*filter(None, (table.texts, table.seconds)), strict=True)):
        for text in texts:
            words.add(split_words(text))
        if words.close() and table.labels:
            values.append(table.labels[number])
        if words.cut:
            break
    column = table.label_column if values else None
    labels = WordLabels({column: words.spread(values)}, names={column: table.label_names}) if column else NO_LABELS
    return build(table.name, words, note=table.note, warning=table.warning, labels=labels, **options)


def collect(
    name: str,
    rows: Iterator[FileRow],
    text: str | None = None,
    label: str | None = None,
    second: str | None = None,
    note: str = "",
) -> Table:
    """The rows as a table; columns that are not named are guessed, also a second text ("" for none)."""
    sample = list(islice(rows, LOOK))
    if not sample:
        raise UserError(f"{name} has no rows; add some, each with a text.")
    columns = tuple(dict.fromkeys(chain.from_iterable(row.cells for row in sample)))
    _check_named(name, columns, [column for column in (text, second or None, label) if column is not None])
    pair = _guess_pair(columns, sample, text, label) if second is None else None
    text_column, second_column = pair or (text or _guess_text(name, columns, sample, (second, label)), second or None)
    label_column = label or _guess_label(columns, sample, (text_column, second_column))
    kept = _gather(chain(sample, rows), text_column, second_column, label_column)
    if not kept.texts:
        read = " and ".join(repr(column) for column in (text_column, second_column, label_column) if column)
        raise UserError(
            f"{name} has no row with something in the columns {read}, where a list or an object counts as nothing; "
            "add rows."
        )
    if len(kept.labels.numbers) > MOST_LABELS:
        if label:
            raise UserError(f"The column {label!r} has more than {MOST_LABELS} different values; name a label column.")
        label_column = None
    numbers, names = kept.labels.sorted()
    labels, label_names = (tuple(numbers.tolist()), names) if label_column else ((), ())
    guesses = [] if text else [f"the text is in the column {text_column!r}"]
    guesses += [f"the second text is in the column {second_column!r}"] if pair else []
    if not label:
        guesses.append(f"the label is in the column {label_column!r}" if label_column else "no column is a label")
    others = [column for column in columns if column not in (text_column, second_column, label_column)]
    return Table(
        tuple(kept.texts), labels, label_names, text_column, label_column, columns, name=name,
        note=f"{note} Guessed: {', '.join(guesses)}.".strip() if guesses else note,
        warning=" ".join(_remarks(kept, label_column, others)),
        second_column=second_column, seconds=tuple(kept.seconds),
    )  # fmt: skip


def _check_named(name: str, columns: Sequence[str], named: Sequence[str]) -> None:
    """Refuse a named column that the table lacks, or that is named twice."""
    for column in named:
        if column not in columns:
            known = ", ".join(map(repr, columns)) or "none"
            raise UserError(f"{name} has no column {column!r}; its columns are: {known}.")
    if len(set(named)) < len(named):
        raise UserError(f"The column {named[0]!r} is named twice; name different columns for the texts and the label.")


@dataclass
class _Rows:
    """The texts and labels of complete rows, the number and first line of the others, and whether the rest is cut.

    `read` are all rows that were read, `lines` the lines that they take.
    """

    texts: list[str] = field(default_factory=list)
    seconds: list[str] = field(default_factory=list)
    labels: Labels = field(default_factory=Labels)
    missing: int = 0
    first_missing: int = 0
    read: int = 0
    lines: int = 0
    cut: bool = False


def _gather(rows: Iterable[FileRow], text: str, second: str | None, label: str | None) -> _Rows:
    gathered = _Rows()
    letters = 0
    for line, cells, lines in rows:
        gathered.read, gathered.lines = gathered.read + 1, gathered.lines + lines
        words, other, value = (clean(cells.get(c, "")).strip() if c else "-" for c in (text, second, label))
        if not (words and other and value):
            gathered.missing += 1
            gathered.first_missing = gathered.first_missing or line
            continue
        letters += len(words) + len(other)
        if letters > MOST_LETTERS or len(gathered.texts) >= MOST_ROWS:
            gathered.cut = True
            break
        gathered.texts.append(words)
        gathered.seconds += [other] if second else []
        if len(gathered.labels.numbers) <= MOST_LABELS:
            gathered.labels.add(value)
    return gathered


def _guess_pair(
    columns: Sequence[str], sample: Sequence[FileRow], text: str | None, label: str | None
) -> tuple[str, str] | None:
    """Two columns whose names belong together, the text first, unless one is all that can be the label."""
    plain = {column.strip().lower(): column for column in reversed(columns) if column != label}
    numbered = [(f"{name}{a}", f"{name}{b}") for name in (*TEXTS, "query") for a, b in NUMBERS]
    pairs = [(plain[a], plain[b]) for a, b in (*PAIRS, *numbered) if a in plain and b in plain]
    pair = next((pair for pair in pairs if text is None or text in pair), None)
    if pair is None:
        return None
    if label is None and not _guess_label(columns, sample, pair) and _guess_label(columns, sample, pair[:1]):
        return None
    return (pair[1], pair[0]) if text == pair[1] else pair


def _guess_text(name: str, columns: Sequence[str], sample: Sequence[FileRow], taken: Container[str | None]) -> str:
    """A column with a known name, else the one with the longest cells that is not named as a label."""
    others = [column for column in columns if column not in taken]
    if not others:
        raise UserError(f"{name} has no column with text; give every row the same columns, one of them with text.")
    letters = {column: sum(len(row.cells.get(column, "")) for row in sample) for column in others}
    return _first_named(TEXTS, [column for column in others if letters[column]]) or max(
        others, key=lambda column: (not _first_named(LABELS, [column]), letters[column])
    )


def _guess_label(columns: Sequence[str], sample: Sequence[FileRow], taken: Container[str | None]) -> str | None:
    """A column with a known name, or one that ends with it, else the one with the fewest repeated values."""
    free = [column for column in columns if column not in taken]
    values = {c: {row.cells[c] for row in sample if row.cells.get(c, "").strip()} for c in free}
    few = [column for column, different in values.items() if 1 <= len(different) <= MOST_LABELS]
    repeated = [column for column in few if 2 <= len(values[column]) <= len(sample) / 2]
    ends = {
        re.split(r"[\W_]+", column.lower())[-1]: column for column in reversed(few)
    }  # airline_sentiment, gold_label
    named = _first_named(LABELS, few) or next((ends[name] for name in LABELS if name in ends), None)
    return named or min(repeated, key=lambda column: len(values[column]), default=None)


def _first_named(names: Sequence[str], columns: Sequence[str]) -> str | None:
    """The column with the first of these names."""
    plain = {column.strip().lower(): column for column in reversed(columns)}
    return next((plain[name] for name in names if name in plain), None)


def count(number: int, what: str) -> str:
    """So many things with their verb, as a sentence begins: "1 row is", "2 rows are"."""
    return f"1 {what} is" if number == 1 else f"{number:,} {what}s are"


def _remarks(rows: _Rows, label: str | None, others: Sequence[str]) -> Iterator[str]:
    """What of a file was left out, its columns `others` for example, in sentences."""
    if others:
        yield f"{count(len(others), 'column')} left out: {', '.join(map(repr, others))}."
    if rows.lines != rows.read:
        yield f"{rows.lines:,} lines make {rows.read:,} rows, as cells in quotation marks go over several lines."
    if rows.missing:
        yield (
            f"{count(rows.missing, 'row')} left out, the first in line {rows.first_missing}: without a text or a "
            "label, or with other columns than the rest."
        )
    if len(rows.texts) == 1:
        yield "There is only one row."
    elif label and len(rows.labels.numbers) == 1:
        yield f"Every row has the label {next(iter(rows.labels.numbers))!r}, so there is nothing to tell apart."
    if rows.cut:
        yield f"The file is longer; only its first {len(rows.texts):,} texts are used."
