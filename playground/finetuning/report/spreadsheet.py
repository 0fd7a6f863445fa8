"""Tables as comma-separated values that a spreadsheet opens without taking a name in them for a formula."""

import csv
import re
from collections.abc import Iterable
from io import StringIO

FORMULA = re.compile(r"[=+\-@\t\r]")
NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?(e[+-]?[0-9]+)?", re.IGNORECASE)


def csv_text(rows: Iterable[Iterable[object]]) -> str:
    """Rows of words and numbers as the text of a file."""
    text = StringIO()
    csv.writer(text, lineterminator="\r\n").writerows(map(guarded, row) for row in rows)
    return text.getvalue()


def guarded(value: object) -> object:
    """A cell; words that a spreadsheet would take for a formula begin with an apostrophe, numbers stay numbers."""
    if isinstance(value, str) and FORMULA.match(value) and not NUMBER.fullmatch(value):
        return f"'{value}"
    return value
