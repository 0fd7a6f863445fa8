"""Numbers and JSON out of untrusted text; whatever is wrong with it is a ValueError."""

import json
from dataclasses import fields, is_dataclass
from itertools import chain
from math import isfinite
from types import NoneType
from typing import Any, get_args, get_origin, get_type_hints, is_typeddict

LARGEST = 2**53 - 1
"""The largest whole number that JSON in a browser, SQLite and a tensor all hold."""

LIMITS = {"seeds": 1_000, "steps": 100_000, "texts": 1_000_000, "processes": 256}
"""The largest numbers that one call takes; threads are limited like processes."""

DEEPEST = 64
"""Most levels of nested lists and objects."""


def parse_int(text: str, low: int = -LARGEST, high: int = LARGEST) -> int:
    """A whole number between two limits."""
    value = int(text)
    if not low <= value <= high:
        raise ValueError(f"{value} is not between {low} and {high}")
    return value


def parse_json(text: str | bytes) -> Any:
    """A value of JSON that is nested at most `DEEPEST` deep, so that it can be printed and compared."""
    try:
        value = json.loads(text)
    except RecursionError as error:
        raise ValueError("it is nested too deep") from error
    level = [value]
    for _ in range(DEEPEST):
        inside = (part.values() if isinstance(part, dict) else part for part in level if isinstance(part, dict | list))
        level = list(chain.from_iterable(inside))
        if not level:
            return value
    raise ValueError(f"it is nested more than {DEEPEST} deep")


def dump_json(value: Any, **options: Any) -> str:
    """A value as JSON, with null for NaN and infinity, which strict readers refuse, and a dataclass as an object."""
    return json.dumps(_finite(value), **options)


def _finite(value: Any) -> Any:
    if is_dataclass(value):
        value = {field.name: getattr(value, field.name) for field in fields(value)}
    if isinstance(value, dict):
        return {k: _finite(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(v) for v in value]
    return None if isinstance(value, float) and not isfinite(value) else value


Form = Any
"""What a value of JSON must look like.

`str`, `bool`, `int`, `float` (any number) or `Any`; `[form]` for a list, `(form, form)` for a list of just these parts;
`{"name": form}` for an object with this part ("name?": it may be missing or null), `{str: form}` for any names.
"""


def form_of(kind: Any) -> Form:
    """The form of a TypedDict, a dataclass, or a type in it: plain, a list, a tuple, `dict[str, X]` or `X | None`."""
    if is_typeddict(kind) or is_dataclass(kind):
        hints = get_type_hints(kind)
        missing = {name for name, part in hints.items() if NoneType in get_args(part)}
        missing |= getattr(kind, "__optional_keys__", frozenset())
        return {f"{name}?" if name in missing else name: form_of(part) for name, part in hints.items()}
    origin, parts = get_origin(kind), [form_of(part) for part in get_args(kind) if part is not ...]
    if origin is tuple:
        return parts if ... in get_args(kind) else tuple(parts)
    if origin is dict:
        return {str: parts[1]}
    if origin is list:
        return parts
    return parts[0] if parts else kind


def has_form(value: Any, form: Form) -> bool:
    """Whether a value of JSON has the parts that a form names, each of its type; it may have more parts."""
    match form:
        case tuple():
            return isinstance(value, list) and len(value) == len(form) and all(map(has_form, value, form))
        case [each]:
            return isinstance(value, list) and all(has_form(part, each) for part in value)
        case dict() if str in form:
            return isinstance(value, dict) and all(has_form(part, form[str]) for part in value.values())
        case dict():
            return isinstance(value, dict) and all(_has(value, name, each) for name, each in form.items())
    fits = form is Any or type(value) is form or (form is float and type(value) is int)
    return fits and not (type(value) is int and abs(value) > LARGEST)


def _has(value: dict[str, Any], name: str, form: Form) -> bool:
    part = value.get(name.removesuffix("?"))
    return name.endswith("?") if part is None else has_form(part, form)
