"""Whether JSON is what its declaration says: TypedDicts and dataclasses, strictly typed, without another key."""

import json
from dataclasses import fields, is_dataclass
from functools import cache, reduce
from importlib import import_module
from operator import or_
from types import UnionType
from typing import Any, NotRequired, Union, get_args, get_origin, get_type_hints, is_typeddict

import typing_extensions
from pydantic import ConfigDict, TypeAdapter

from playground.cli import COMMANDS, parser


def strict(kind: Any) -> Any:
    """A declaration as pydantic reads it on Python 3.11, in which no object has another key."""
    if is_typeddict(kind) or is_dataclass(kind):
        hints = get_type_hints(kind, include_extras=True)
        names = [field.name for field in fields(kind)] if is_dataclass(kind) else hints
        made = typing_extensions.TypedDict(kind.__name__, {name: strict(hints[name]) for name in names})
        made.__pydantic_config__ = ConfigDict(extra="forbid", strict=True)
        return made
    origin, parts = get_origin(kind), tuple(strict(part) for part in get_args(kind))
    if origin in (Union, UnionType):
        return reduce(or_, parts)
    if origin is NotRequired:
        return NotRequired[parts[0]]
    return origin[parts] if origin in (list, tuple, dict) else kind


@cache
def adapter(*kinds: Any) -> TypeAdapter:
    return TypeAdapter(reduce(or_, map(strict, kinds)))


def check(text: str, *kinds: Any) -> Any:
    """The value of a JSON text; a value that is of none of these kinds is a ValidationError."""
    return adapter(*kinds).validate_json(text, strict=True)


def answers_in_json() -> list[str]:
    """The commands that have `--json`."""
    [commands] = parser()._subparsers._group_actions
    return [name for name in COMMANDS if "--json" in commands.choices[name]._option_string_actions]


def read(command: str, text: str) -> Any:
    """What a command printed with `--json`, which must be as it declares."""
    assert text.count("\n") == 1, "nothing else may stand on standard output"
    check(text, *facts_of(command))
    return json.loads(text)


def facts_of(command: str) -> tuple[Any, ...]:
    """What a command declares to print with `--json`, one for each of its forms."""
    return import_module(f"playground.cli.{command}").FACTS
