"""Knobs: dataclass fields that a person may turn, with their limits, unit and reason beside them."""

import re
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields, replace
from functools import cache
from typing import Any

from playground.errors import UserError
from playground.parsing import LARGEST

KnobValue = bool | float | str
"""What a knob may be set to: on or off, a number or a word."""


@dataclass(frozen=True)
class Knob:
    """What a slider, a switch or a `--set name=value` needs to know about one field; text may have several `lines`."""

    name: str
    default: Any
    low: float | None
    high: float | None
    choices: tuple[Any, ...]
    unit: str
    why: str
    lines: int = 1


def knob(
    default: Any, low: float | None = None, high: float | None = None, *, choices: tuple[Any, ...] = (),
    unit: str = "", why: str = "", lines: int = 1,
) -> Any:  # fmt: skip
    """A dataclass field with limits; numbers give `low` and `high`, words give `choices`, switches neither."""
    return field(default=default, metadata={"knob": (low, high, choices, unit, why, lines)})


def knobs(part: Any) -> tuple[Knob, ...]:
    """The knobs of one dataclass, in the order in which they are written."""
    return _knobs_of(part if isinstance(part, type) else type(part))


@cache
def _knobs_of(kind: type) -> tuple[Knob, ...]:
    return tuple(
        Knob(f.name, None if f.default is MISSING else f.default, *f.metadata["knob"])
        for f in fields(kind)
        if "knob" in f.metadata
    )


def turn(part: Any, settings: Mapping[str, Any]) -> Any:
    """The same part with some knobs turned; values may be text as typed on a command line."""
    known = {k.name: k for k in knobs(part)}
    for name in settings:
        if name not in known:
            raise UserError(f"There is no knob {name!r}; the knobs are: {', '.join(known) or 'none'}.")
    return replace(part, **{name: check(known[name], value) for name, value in settings.items()})


CALL = re.compile(r"(?P<name>[^()]+)\((?P<settings>[^()]*)\)")


def spelt(text: str) -> tuple[str, dict[str, str]]:
    """The name and the settings of `name(knob=1, other=yes)`; a text of another form is a name alone."""
    call = CALL.fullmatch(text.strip())
    if call is None:
        return text, {}
    name, settings = call["name"].strip(), [part for part in call["settings"].split(",") if part.strip()]
    wrong = [part.strip() for part in settings if "=" not in part]
    if wrong:
        raise UserError(f"{wrong[0]!r} sets no knob; write {name}(knob=value, ...).")
    return name, {knob.strip(): value.strip() for knob, _, value in (part.partition("=") for part in settings)}


def written(part: Any, between: str, unlike: Any = None) -> str:
    """The knobs of a part as `spelt` reads them, or only those that have another value in the part `unlike`."""
    values = {k.name: getattr(part, k.name) for k in knobs(part)}
    return between.join(
        f"{name}={as_written(value)}"
        for name, value in values.items()
        if unlike is None or value != getattr(unlike, name)
    )


def as_written(value: Any) -> str:
    """A value of a knob as it is typed."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)


def as_saved(part: Any, values: Mapping[str, Any]) -> Any:
    """The same part with the values that a file holds, which must have the right types and may exceed the limits."""
    for k in knobs(part):
        if k.name in values and not _fits(k, values[k.name]):
            raise ValueError(f"{k.name} is {values[k.name]!r}")
    return replace(part, **values)


def _fits(k: Knob, value: Any) -> bool:
    """Whether a value has the type of a knob; numbers are finite and not negative, counts from 1 on not 0."""
    kind = type(k.default)
    if kind in (int, float) and not isinstance(value, bool):
        low = 1 if kind is int and (k.low or 0) >= 1 else 0
        return isinstance(value, (int, kind)) and low <= value <= LARGEST
    return type(value) is kind and (not k.choices or value in k.choices)


def check(k: Knob, value: Any) -> Any:
    """The value in the knob's own type, or a refusal that names it and says what would be right."""
    value = _convert(k, value)
    if k.choices and value not in k.choices:
        raise UserError(f"{k.name} is {value!r}; choose one of {', '.join(map(str, k.choices))}.")
    if not ((k.high is None or value <= k.high) and (k.low is None or value >= k.low)):  # so NaN is refused too
        raise UserError(f"{k.name} is {value}; it must lie between {k.low} and {k.high} {k.unit}".strip() + ".")
    return value


def check_knobs(part: Any) -> None:
    """Refuse a part of which a knob has a value that cannot be."""
    for k in knobs(part):
        check(k, getattr(part, k.name))


SWITCH = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}


def _convert(k: Knob, value: Any) -> Any:
    kind = type(k.default)
    try:
        if kind is bool:
            return value if isinstance(value, bool) else SWITCH[str(value).lower()]
        if isinstance(value, bool) or (kind is str and not isinstance(value, str)):
            raise TypeError
        if kind is int and float(value) != int(float(value)):
            raise ValueError
        return kind(float(value)) if kind is int else kind(value)
    except (TypeError, ValueError, KeyError, OverflowError) as error:
        expected = {bool: "yes or no", int: "a whole number", float: "a number", str: "a word"}[kind]
        raise UserError(f"{k.name} is {value!r}; it must be {expected}.") from error
