"""Cases, answers and grades: a case is a fault under a number, and an answer is checked without the name of the fault.

The key of the answers holds a hash for each case. It is plain JSON, so a notebook can carry it in its metadata and a
page without a server can grade with it.
"""

import ast
import csv
import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playground.catalog import fold
from playground.errors import UserError
from playground.hunt.fault import Fault, faults
from playground.hunt.questions import QUESTIONS
from playground.parsing import parse_json

Key = Mapping[str, str]
"""The hash of the right answer of each case and question, by its name: "case 3", "question 5"."""

METADATA, CODE = "bug hunt", "answers"
"""Where the key is in the metadata of a notebook, and the variable of its answers."""


def mark(text: str) -> str:
    """A hash (FNV-1a, 32 bits) of a text in small letters without spaces and marks, which a script can compute too."""
    value = 0x811C9DC5
    for byte in fold(text).encode():
        value = (value ^ byte) * 0x01000193 & 0xFFFFFFFF
    return f"{value:08x}"


def cases() -> dict[int, Fault]:
    """The faults by number, in an order that says nothing of them."""
    return dict(enumerate(sorted(faults().values(), key=lambda fault: mark(fault.name)), 1))


def case_of(number: int) -> Fault:
    """The fault of a case."""
    known = cases()
    if number not in known:
        raise UserError(f"There is no case {number}; the cases are 1 to {len(known)}.")
    return known[number]


def answer_key() -> dict[str, str]:
    """The key of all cases and questions."""
    hunted = {f"case {number}": _sealed(f"case {number}", fault.name) for number, fault in cases().items()}
    asked = {f"question {k}": _sealed(f"question {k}", each.right) for k, each in enumerate(QUESTIONS, 1)}
    return hunted | asked


def _sealed(name: str, answer: str) -> str:
    return mark(f"{name}: {answer}")


def is_right(key: Key, name: str, answer: str) -> bool:
    """Whether an answer to a case or a question is the right one."""
    if name not in key:
        raise UserError(f"There is no {name!r}; there are {', '.join(key)}.")
    return key[name] == _sealed(name, answer)


@dataclass(frozen=True)
class Grade:
    """How one learner did: right answers by name, so many of the cases, of the questions before and of those after."""

    learner: str
    right: Mapping[str, bool]

    def count(self, kind: str) -> tuple[int, int]:
        """Right answers, and answers in all, to what begins so."""
        found = [right for name, right in self.right.items() if name.startswith(kind)]
        return sum(found), len(found)


def grade(learner: str, answers: Mapping[str, Any], key: Key | None = None) -> Grade:
    """Grade answers such as {"case 3": "...", "before question 1": "...", "after question 1": "..."}."""
    key = key or answer_key()
    right: dict[str, bool] = {}
    for name, answer in answers.items():
        asked = name.removeprefix("before ").removeprefix("after ")
        right[name] = isinstance(answer, str) and is_right(key, asked, answer)
    return Grade(learner, right)


def read_answers(path: Path) -> Grade:
    """Grade a file of answers as JSON, or a notebook, whose cells set `answers` and whose metadata has the key.

    Nothing is run.
    """
    try:
        content = parse_json(path.read_text(encoding="utf-8"))
        if not isinstance(content, dict):
            raise TypeError("not an object")
        if "cells" not in content:
            return grade(path.stem, content)
        key = content["metadata"][METADATA]
        sources = ["".join(cell["source"]) for cell in content["cells"] if cell["cell_type"] == "code"]
    except (OSError, UnicodeDecodeError, ValueError, LookupError, TypeError) as error:
        raise UserError(f"{path} holds no answers of the bug hunt ({error}).") from error
    return grade(path.stem, _answers(sources, path), key)


def _answers(sources: Iterable[str], path: Path) -> dict[str, Any]:
    """What the cells assign to `answers`, the last one of each name; other code is not looked at."""
    found: dict[str, Any] = {}
    for source in sources:
        try:
            statements = ast.parse(source).body
        except SyntaxError:
            continue
        for each in statements:
            if isinstance(each, ast.Assign) and any(getattr(target, "id", "") == CODE for target in each.targets):
                try:
                    found |= ast.literal_eval(each.value)
                except (ValueError, TypeError) as error:
                    raise UserError(f"{path}: the answers are not plain texts ({error}).") from error
    return found


COLUMNS = (
    "learner",
    "cases right",
    "cases answered",
    "before right",
    "before answered",
    "after right",
    "after answered",
)


def table(grades: Iterable[Grade]) -> str:
    """The grades as CSV, for a teacher."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(COLUMNS)
    for each in grades:
        rows.writerow([each.learner, *each.count("case"), *each.count("before"), *each.count("after")])
    return text.getvalue()
