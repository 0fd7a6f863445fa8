"""The source code of each stage, which a record shows beside its frame."""

import inspect
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from textwrap import dedent
from typing import Any

from playground.batch import begin
from playground.objectives.stage import Stage
from playground.trace.json_schema import Code, SourceText

ROOT = Path(__file__).parents[2]


def opening() -> Code:
    """The source of how a text begins, before any stage."""
    return {"call": "begin(tokens)", "parts": [_source(begin)]}


def code_of(stage: Stage) -> Code:
    """What a stage is called with, and the source of its plan (all the chance) and its build (none)."""
    kind = type(stage)
    assert is_dataclass(stage)
    values = {f.name: getattr(stage, f.name) for f in fields(stage)}
    given = [f"{name}={value!r}" for name, value in values.items() if isinstance(value, bool | int | float | str)]
    acts = [getattr(kind, name) for name in ("plan", "build") if hasattr(kind, name)]
    says = " ".join((inspect.getdoc(kind) or "").split("\n\n")[0].split())
    return {"call": f"{kind.__name__}({', '.join(given)})", "says": says, "parts": [_source(act) for act in acts]}


@cache
def _source(act: Callable[..., Any]) -> SourceText:
    """The text of a function, the file below the repository and the line where it begins."""
    lines, line = inspect.getsourcelines(act)
    file = Path(inspect.getsourcefile(act) or "").relative_to(ROOT).as_posix()
    return {"file": file, "line": line, "text": dedent("".join(lines)).rstrip()}
