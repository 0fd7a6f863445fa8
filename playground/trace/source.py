"""The lines of code that made a frame: a stage's own source, read from where it is written, never copied."""

import inspect
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from textwrap import dedent
from typing import Any

from playground.batch import begin
from playground.objectives.stage import Stage

ROOT = Path(__file__).parents[2]


def opening() -> dict[str, Any]:
    """How a text begins, before any stage has acted."""
    return {"call": "begin(tokens)", "parts": [_source(begin)]}


def code_of(stage: Stage) -> dict[str, Any]:
    """What a stage is called with, and the source of its plan (all the chance) and its build (none)."""
    kind = type(stage)
    assert is_dataclass(stage)
    given = [f"{f.name}={getattr(stage, f.name)!r}" for f in fields(stage) if _short(getattr(stage, f.name))]
    acts = [getattr(kind, name) for name in ("plan", "build") if hasattr(kind, name)]
    says = " ".join((inspect.getdoc(kind) or "").split("\n\n")[0].split())
    return {"call": f"{kind.__name__}({', '.join(given)})", "says": says, "parts": [_source(act) for act in acts]}


def _short(value: Any) -> bool:
    return isinstance(value, bool | int | float | str)


@cache
def _source(act: Callable[..., Any]) -> dict[str, Any]:
    """The text of a function, the file below the repository and the line where it begins."""
    lines, line = inspect.getsourcelines(act)
    file = Path(inspect.getsourcefile(act) or "").relative_to(ROOT).as_posix()
    return {"file": file, "line": line, "text": dedent("".join(lines)).rstrip()}
