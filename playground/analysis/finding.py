"""What an instrument finds: a sentence, numbers beside what they compare to, tables that say how they are drawn."""

import csv
import io
import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, TypedDict

import numpy as np

__all__ = ["Bars", "Coded", "Curve", "Finding", "Matrix", "Number", "Rows", "Scatter", "Table", "Tree", "Words"]


@dataclass(frozen=True, eq=False)
class Coded:
    """A long column of a few `names`: the number of its name in each row."""

    names: tuple[str, ...]
    codes: np.ndarray

    def __len__(self) -> int:
        return len(self.codes)

    def tolist(self) -> list[str]:
        """The name in each row."""
        return [self.names[code] for code in self.codes.tolist()]


Column = Sequence[Any] | np.ndarray | Coded
"""One column of a table: plain values, one a row; an array, or names by their numbers, where there are many."""


@dataclass(frozen=True)
class Bars:
    """A bar for each row: `label` names it, `value` is its length, `group` its colour and its place beside others.

    `low` and `high` are the ends of a line over it, such as a standard deviation.
    """

    label: str
    value: str
    group: str = ""
    low: str = ""
    high: str = ""


@dataclass(frozen=True)
class Curve:
    """A line over `x` for each `group`; `low` and `high` are the edges of a band around it."""

    x: str
    y: str
    group: str = ""
    low: str = ""
    high: str = ""


@dataclass(frozen=True)
class Matrix:
    """A cell for each row of the table, in the order in which `row` and `column` first appear; `text` stands in a cell.

    With `panel_row` and `panel_column` there are many matrices, laid out in a grid (layers x heads); `panel_label` says
    of which kind each is. With `ring` a person drags one ring over all matrices of the same rows and columns and reads
    what its cell says in each.
    """

    row: str
    column: str
    value: str
    text: str = ""
    panel_row: str = ""
    panel_column: str = ""
    panel_label: str = ""
    ring: bool = False


@dataclass(frozen=True)
class Scatter:
    """A point for each row of the table, coloured by `group`; `label` is what it says under the mouse."""

    x: str
    y: str
    label: str = ""
    group: str = ""


@dataclass(frozen=True)
class Tree:
    """A sentence with an arc from each word to its `head` (-1: none); `gold` are the true ones.

    Each `group` of rows is a sentence.
    """

    word: str
    head: str
    gold: str = ""
    group: str = ""


@dataclass(frozen=True)
class Words:
    """Sentences, one a `group`, whose words are coloured by `value`; `note` is what a word says under the mouse."""

    word: str
    value: str
    note: str = ""
    group: str = ""


@dataclass(frozen=True)
class Rows:
    """A plain table."""


Drawing = Bars | Curve | Matrix | Scatter | Tree | Words | Rows
"""The ways in which a table can be drawn; their fields are the names of its columns."""


@dataclass(frozen=True, eq=False)
class Number:
    """One number with its unit, and what it compares to by name, such as "chance", "control task" or "gold"."""

    name: str
    value: float
    unit: str = ""
    baselines: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Table:
    """Columns of one length and how they are drawn; `lines` are values to compare with, `note` explains in words.

    `scale` are the lowest and the highest value of several tables that are drawn on one scale. `paths` are lines
    through a matrix whose rows and columns are numbers, as (column, row) from point to point.
    """

    title: str
    columns: Mapping[str, Column]
    drawing: Drawing = Rows()
    unit: str = ""
    lines: Mapping[str, float] = field(default_factory=dict)
    note: str = ""
    scale: tuple[float, ...] = ()
    paths: Mapping[str, Sequence[tuple[float, float]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        lengths = {name: len(column) for name, column in self.columns.items()}
        if len(set(lengths.values())) > 1:
            raise ValueError(f"the columns of {self.title!r} have several lengths: {lengths}")
        named = {name for f in fields(self.drawing) if isinstance(name := getattr(self.drawing, f.name), str) and name}
        if unknown := named - set(self.columns):
            raise ValueError(f"{self.title!r} is drawn by columns that it lacks: {', '.join(sorted(unknown))}")

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    def to_csv(self) -> str:
        """The table as comma-separated values under the names of its columns."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows(zip(*map(plain, self.columns.values()), strict=True))
        return text.getvalue()


class NumberFacts(TypedDict):
    """A number, and what it compares to."""

    name: str
    value: float | None
    """Null where it is not finite."""
    unit: str
    baselines: dict[str, float | None]
    """What it compares to, such as chance or a control task."""


class TableFacts(TypedDict):
    """A table."""

    title: str
    unit: str
    note: str
    """An explanation."""
    lines: dict[str, float | None]
    """Values to compare with."""
    columns: dict[str, list[Any]]
    """Columns of one length by their names."""


class FindingFacts(TypedDict):
    """What an instrument finds."""

    headline: str
    """The result in a sentence."""
    notes: list[str]
    """Sentences on what was not read as it was asked for."""
    n: dict[str, int]
    """How many were measured, by what they are, such as sentences."""
    numbers: list[NumberFacts]
    tables: list[TableFacts]


SHOWN = 6
"""Kinds of things that were measured, of those that are named on screen."""


@dataclass(frozen=True, eq=False)
class Finding:
    """What an instrument says of one subject: a `headline` in a sentence, numbers, tables, and how much was measured.

    `n` is how many there were of each kind, such as sentences; `notes` say what was not read as it was asked for.
    """

    headline: str
    numbers: tuple[Number, ...] = ()
    tables: tuple[Table, ...] = ()
    n: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def number(self, name: str) -> float:
        """The value of a number by its name."""
        return next(number.value for number in self.numbers if number.name == name)

    def facts(self) -> FindingFacts:
        """The finding as values that JSON knows; what is not finite is null."""
        return {
            "headline": self.headline,
            "notes": list(self.notes),
            "n": dict(self.n),
            "numbers": [
                {
                    "name": n.name,
                    "value": _finite(n.value),
                    "unit": n.unit,
                    "baselines": {name: _finite(value) for name, value in n.baselines.items()},
                }
                for n in self.numbers
            ],
            "tables": [
                {
                    "title": t.title,
                    "unit": t.unit,
                    "note": t.note,
                    "lines": {name: _finite(value) for name, value in t.lines.items()},
                    "columns": {
                        name: [_finite(value) for value in plain(column)] for name, column in t.columns.items()
                    },
                }
                for t in self.tables
            ],
        }

    def lines(self) -> Iterator[str]:
        """The finding as lines of text: the headline, a line for each number, n, and the notes."""
        yield self.headline
        for n in self.numbers:
            beside = ", ".join(f"{name} {value:.4g}" for name, value in n.baselines.items())
            yield f"  {n.name}: {n.value:.4g} {n.unit}".rstrip() + (f" ({beside})" if beside else "")
        if self.n:
            yield f"  n: {self.sample}"
        yield from (f"  note: {note}" for note in self.notes)

    @property
    def sample(self) -> str:
        """How many were measured, in words; of many kinds the first few."""
        shown = [f"{number:,} {what}" for what, number in self.n.items()]
        return ", ".join(shown[:SHOWN]) + (f" and {len(shown) - SHOWN} more" if len(shown) > SHOWN else "")


def difference(first: Table, second: Table) -> Table | None:
    """What the second table has more than the first, cell by cell; None where their rows are not the same."""
    named = same_rows([first, second])
    if named is None:
        return None
    drawn = getattr(first.drawing, VALUES[type(first.drawing)])
    more = np.asarray(second.columns[drawn], dtype=float) - np.asarray(first.columns[drawn], dtype=float)
    columns = {**{name: first.columns[name] for name in named}, drawn: more}
    kept = {f.name: name for f in fields(first.drawing) if (name := getattr(first.drawing, f.name)) in columns}
    return Table(f"Difference: {first.title}", columns, type(first.drawing)(**kept), first.unit, {"no difference": 0.0})


def same_rows(tables: Sequence[Table]) -> list[str] | None:
    """The columns that say which row is which, where they are the same in all tables; else None."""
    first = tables[0]
    value = VALUES.get(type(first.drawing), "")
    if not value or any(t.drawing != first.drawing or len(t) != len(first) for t in tables):
        return None
    drawn = getattr(first.drawing, value)
    named = [
        c for f in fields(first.drawing) if (c := getattr(first.drawing, f.name)) and f.name in NAMES and c != drawn
    ]
    same = all(_same(first.columns[name], other.columns[name]) for other in tables[1:] for name in named)
    return named if same else None


def _same(first: Column, second: Column) -> bool:
    if isinstance(first, Coded) and isinstance(second, Coded):
        return first.names == second.names and np.array_equal(first.codes, second.codes)
    return plain(first) == plain(second)


def columns_of(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> dict[str, list[Any]]:
    """Rows of values as the columns of a table."""
    return {name: [row[k] for row in rows] for k, name in enumerate(names)}


def melt(x: str, at: Collection[Any], y: str, series: Mapping[str, Iterable[Any]], group: str) -> dict[str, list[Any]]:
    """Series of values over the same `at` as the columns of a table, a row for each value, one series after another."""
    values = [value for each in series.values() for value in each]
    return {x: [*at] * len(series), y: values, group: [name for name in series for _ in at]}


VALUES: Mapping[type, str] = {Bars: "value", Curve: "y", Matrix: "value"}
"""The part of each drawing that holds its numbers, of those of which a difference can be drawn."""

NAMES = ("label", "group", "x", "row", "column", "panel_row", "panel_column")
"""The parts of a drawing that say which row is which."""


def plain(column: Column) -> list[Any]:
    """The values of a column as Python's own."""
    return column.tolist() if isinstance(column, np.ndarray | Coded) else list(column)


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value
