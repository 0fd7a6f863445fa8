"""Knobs: dataclass fields that a person may turn, with their limits, unit and reason beside them."""

import re
from collections.abc import Mapping
from dataclasses import MISSING, Field, dataclass, field, fields, replace
from functools import cache
from typing import Any

from playground.errors import Refusal
from playground.parsing import LARGEST


@dataclass(frozen=True)
class Knob:
    """What a slider, a switch or a `--set name=value` needs to know about one field."""

    name: str
    default: Any
    low: float | None
    high: float | None
    choices: tuple[Any, ...]
    unit: str
    why: str


def knob(
    default: Any,
    low: float | None = None,
    high: float | None = None,
    *,
    choices: tuple[Any, ...] = (),
    unit: str = "",
    why: str = "",
) -> Any:
    """A dataclass field with limits; numbers give `low` and `high`, words give `choices`, switches neither."""
    return field(default=default, metadata={"knob": (low, high, choices, unit, why)})


def knobs(part: Any) -> tuple[Knob, ...]:
    """The knobs of one dataclass, in the order in which they are written."""
    return _knobs_of(part if isinstance(part, type) else type(part))


@cache
def _knobs_of(kind: type) -> tuple[Knob, ...]:
    return tuple(_read(f) for f in fields(kind) if "knob" in f.metadata)


def _read(f: Field) -> Knob:
    low, high, choices, unit, why = f.metadata["knob"]
    return Knob(f.name, None if f.default is MISSING else f.default, low, high, choices, unit, why)


def turn(part: Any, settings: Mapping[str, Any]) -> Any:
    """The same part with some knobs turned; values may be text as typed on a command line."""
    known = {k.name: k for k in knobs(part)}
    for name in settings:
        if name not in known:
            raise Refusal(f"There is no knob {name!r}; the knobs are: {', '.join(known) or 'none'}.")
    return replace(part, **{name: check(known[name], value) for name, value in settings.items()})


CALL = re.compile(r"(?P<name>[^()]+)\((?P<settings>[^()]*)\)")


def spelt(text: str) -> tuple[str, dict[str, str]]:
    """A name and what stands behind it in brackets: `name(knob=1, other=yes)`; a text of another form is a name."""
    found = CALL.fullmatch(text.strip())
    if found is None:
        return text, {}
    pairs = [part.partition("=") for part in found["settings"].split(",") if part.strip()]
    wrong = [name for name, sign, _ in pairs if not sign]
    if wrong:
        raise Refusal(f"{wrong[0].strip()!r} sets no knob; write {found['name'].strip()}(knob=value, ...).")
    return found["name"].strip(), {name.strip(): value.strip() for name, _, value in pairs}


def written(part: Any, between: str, unlike: Any = None) -> str:
    """The knobs of a part as `spelt` reads them, or only those that are set otherwise than in another one."""
    told = {k.name: getattr(part, k.name) for k in knobs(part)}
    return between.join(
        f"{name}={as_written(value)}"
        for name, value in told.items()
        if unlike is None or value != getattr(unlike, name)
    )


def as_written(value: Any) -> str:
    """A value of a knob as a person writes it and `spelt` reads it."""
    return (
        {True: "yes", False: "no"}[value]
        if isinstance(value, bool)
        else f"{value:g}"
        if isinstance(value, float)
        else str(value)
    )


def as_saved(part: Any, values: Mapping[str, Any]) -> Any:
    """The same part with the values of its fields as a file holds them: of the right type, whatever the limits are."""
    for k in knobs(part):
        if k.name in values and not _fits(k, values[k.name]):
            raise ValueError(f"{k.name} is {values[k.name]!r}")
    return replace(part, **values)


def _fits(k: Knob, value: Any) -> bool:
    """Whether a value has the type of a knob; a count from 1 on is never 0, and no number is below 0 or without end."""
    kind = type(k.default)
    if kind in (int, float) and not isinstance(value, bool):
        low = 1 if kind is int and (k.low or 0) >= 1 else 0
        return isinstance(value, (int, kind)) and low <= value <= LARGEST
    return type(value) is kind and (not k.choices or value in k.choices)


def check(k: Knob, value: Any) -> Any:
    """The value in the knob's own type, or a refusal that names it and says what would be right."""
    value = _convert(k, value)
    if k.choices and value not in k.choices:
        raise Refusal(f"{k.name} is {value!r}; choose one of {', '.join(map(str, k.choices))}.")
    low_enough = k.high is None or value <= k.high
    high_enough = k.low is None or value >= k.low
    if not (low_enough and high_enough):
        raise Refusal(f"{k.name} is {value}; it must lie between {k.low} and {k.high} {k.unit}".strip() + ".")
    return value


def _convert(k: Knob, value: Any) -> Any:
    kind = type(k.default)
    try:
        if kind is bool:
            return _switch(value)
        if kind is int and float(value) != int(float(value)):
            raise ValueError
        return kind(float(value)) if kind is int else kind(value)
    except (TypeError, ValueError, OverflowError) as error:
        wanted = {bool: "yes or no", int: "a whole number", float: "a number", str: "a word"}[kind]
        raise Refusal(f"{k.name} is {value!r}; it must be {wanted}.") from error


def _switch(value: Any) -> bool:
    words = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}
    if isinstance(value, bool):
        return value
    if str(value).lower() not in words:
        raise ValueError(value)
    return words[str(value).lower()]
