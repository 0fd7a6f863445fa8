"""Texts with a label each: which column is the text, which is the label, and what was left out."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import NamedTuple, Unpack

from playground.corpora.build import LIMIT, Labels, Vocabulary, Words, build
from playground.corpora.corpus import Corpus
from playground.errors import Refusal
from playground.tokenizing.words import clean, split_words

TEXTS = tuple("text sentence review content comment document tweet message body article question premise title".split())
LABELS = tuple("label labels sentiment class category target polarity rating stars score topic intent emotion".split())
"""Names of columns that say what is in them, the clearest first."""

LOOK = 1000
"""Rows that are looked at to guess the columns."""

MOST_LABELS = 200
"""Different values that a label may have; a column with more holds measurements or names."""

MOST_ROWS, MOST_LETTERS = 1_000_000, 60_000_000
"""Rows and letters of one table that are kept; more would fill the memory of a small computer."""


class Row(NamedTuple):
    """A row of a file and the line where it ends; a row that does not fit the others has no cells."""

    line: int
    cells: Mapping[str, str]


@dataclass(frozen=True)
class Table:
    """Texts and the number of the label of each; without a label column there are no labels.

    `notice` says in sentences for a person what was guessed and what was left out.
    """

    texts: tuple[str, ...]
    labels: tuple[int, ...]
    label_names: tuple[str, ...]
    text_column: str
    label_column: str | None
    columns: tuple[str, ...]
    notice: str = ""
    name: str = "table"


def from_table(table: Table, *, limit: int = LIMIT, **wishes: Unpack[Vocabulary]) -> Corpus:
    """A corpus with a document for each text; its label, under the name of its column, is that of all its words."""
    words = Words(limit)
    values = []
    for number, text in enumerate(table.texts):
        words.add(split_words(text))
        if words.close() and table.labels:
            values.append(table.labels[number])
        if words.cut:
            break
    if not (table.label_column and values):
        return build(table.name, words, note=table.notice, **wishes)
    labels, names = {table.label_column: words.spread(values)}, {table.label_column: table.label_names}
    return build(table.name, words, note=table.notice, labels=labels, label_names=names, **wishes)


def collect(name: str, rows: Iterator[Row], text: str | None = None, label: str | None = None, said: str = "") -> Table:
    """The rows as a table; columns that are not named are guessed."""
    sample = list(islice(rows, LOOK))
    if not sample:
        raise Refusal(f"{name} has no rows; add some, each with a text.")
    columns = tuple(dict.fromkeys(chain.from_iterable(row.cells for row in sample)))
    for column in (text, label):
        if column is not None and column not in columns:
            known = ", ".join(map(repr, columns)) or "none"
            raise Refusal(f"{name} has no column {column!r}; its columns are: {known}.")
    if text is not None and text == label:
        raise Refusal(f"The column {text!r} cannot be both the text and the label; name two columns.")
    chosen = text or _guess_text(name, columns, sample, label)
    wanted = label or _guess_label(columns, sample, chosen)
    found = _gather(chain(sample, rows), chosen, wanted)
    if not found.texts:
        raise Refusal(f"{name} has no row with something in the columns {chosen!r} and {wanted!r}; add rows.")
    if len(found.labels.numbers) > MOST_LABELS:
        if label:
            raise Refusal(f"The column {label!r} has more than {MOST_LABELS} different values; name a label column.")
        wanted = None
    numbers, names = found.labels.sorted()
    return Table(
        texts=tuple(found.texts),
        labels=tuple(numbers.tolist()) if wanted else (),
        label_names=names if wanted else (),
        text_column=chosen,
        label_column=wanted,
        columns=columns,
        notice=" ".join(filter(None, [said, _guessed(text, label, chosen, wanted), *_remarks(found, wanted)])),
        name=name,
    )


@dataclass
class _Found:
    """The rows that have all they need, and what can be said of the others."""

    texts: list[str]
    labels: Labels
    missing: int = 0
    first_missing: int = 0
    cut: bool = False


def _gather(rows: Iterable[Row], text: str, label: str | None) -> _Found:
    found = _Found([], Labels())
    letters = 0
    for line, cells in rows:
        words = clean(cells.get(text, "")).strip()
        value = clean(cells.get(label, "")).strip() if label else "-"
        if not words or not value:
            found.missing += 1
            found.first_missing = found.first_missing or line
            continue
        letters += len(words)
        if letters > MOST_LETTERS or len(found.texts) >= MOST_ROWS:
            found.cut = True
            break
        found.texts.append(words)
        if len(found.labels.numbers) <= MOST_LABELS:
            found.labels.add(value)
    return found


def _guess_text(name: str, columns: Sequence[str], sample: Sequence[Row], label: str | None) -> str:
    """A column with a telling name, else the one with the longest cells."""
    others = [column for column in columns if column != label]
    if not others:
        raise Refusal(f"{name} has no column with text; give every row the same columns, one of them with text.")
    letters = {column: sum(len(row.cells.get(column, "")) for row in sample) for column in others}
    return _telling(TEXTS, [column for column in others if letters[column]]) or max(others, key=letters.__getitem__)


def _guess_label(columns: Sequence[str], sample: Sequence[Row], text: str) -> str | None:
    """A column with a telling name, else the one with the fewest values, if those come again and again."""
    values = {c: {row.cells[c] for row in sample if row.cells.get(c, "").strip()} for c in columns if c != text}
    few = [column for column, different in values.items() if 1 <= len(different) <= MOST_LABELS]
    again = [column for column in few if 2 <= len(values[column]) <= len(sample) / 2]
    return _telling(LABELS, few) or min(again, key=lambda column: len(values[column]), default=None)


def _telling(names: Sequence[str], columns: Sequence[str]) -> str | None:
    """The column with the first of these names."""
    plain = {column.strip().lower(): column for column in reversed(columns)}
    return next((plain[name] for name in names if name in plain), None)


def _guessed(text: str | None, label: str | None, chosen: str, wanted: str | None) -> str:
    """What a person should look at before the table is used."""
    places = [] if text else [f"the text is in the column {chosen!r}"]
    if not label:
        places.append(f"the label is in the column {wanted!r}" if wanted else "no column is a label")
    return f"Guessed: {', '.join(places)}." if places else ""


def _remarks(found: _Found, label: str | None) -> Iterator[str]:
    if found.missing:
        rows = "1 row is" if found.missing == 1 else f"{found.missing:,} rows are"
        yield (
            f"{rows} left out, the first in line {found.first_missing}: without a text or a label, or with other "
            "columns than the rest."
        )
    if len(found.texts) == 1:
        yield "There is only one row."
    elif label and len(found.labels.numbers) == 1:
        yield f"Every row has the label {next(iter(found.labels.numbers))!r}, so there is nothing to tell apart."
    if found.cut:
        yield f"The file is longer; only its first {len(found.texts):,} texts are used."
