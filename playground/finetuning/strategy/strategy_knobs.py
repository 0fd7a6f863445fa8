"""The knobs of a strategy: "LoRA(rank=8)" is LoRA with another rank."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

from playground.errors import Refusal
from playground.finetuning.strategy.strategy import Strategy
from playground.knob import Knob, as_written, knobs, turn

PARTS = ("plasticity", "penalties", "beside", "extras", "given", "prompt")
"""The fields of a strategy that have knobs."""


def knobs_of(strategy: Strategy) -> dict[str, Knob]:
    """The knobs of all parts of a strategy by name, as they stand."""
    return {k.name: replace(k, default=getattr(part, k.name)) for part in _parts(strategy) for k in knobs(part)}


def turned(strategy: Strategy, settings: Mapping[str, Any]) -> Strategy:
    """The same strategy with some knobs turned, named by them; an unknown knob is refused with those there are."""
    known = knobs_of(strategy)
    for name in settings:
        if name not in known:
            raise Refusal(f"{strategy.name} has no knob {name!r}; its knobs are: {', '.join(known) or 'none'}.")
    made = replace(strategy, **{field: _turned(getattr(strategy, field), settings) for field in PARTS})
    now = knobs_of(made)
    told = ", ".join(f"{name}={as_written(now[name].default)}" for name in settings)
    return replace(made, name=f"{strategy.name}({told})", aliases=())


def apart(text: str, sign: str) -> list[str]:
    """The pieces of a text between signs that do not stand in brackets."""
    return [piece.strip() for piece in re.split(rf"{re.escape(sign)}(?![^()]*\))", text)]


def _parts(value: Any) -> Iterator[Any]:
    """Every part that may have knobs, those inside another one too."""
    inside = [getattr(value, f) for f in PARTS] if isinstance(value, Strategy) else _inside(value)
    for part in inside:
        if isinstance(part, tuple):
            yield from (each for some in part for each in (some, *_parts(some)) if _is_part(each))
        elif _is_part(part):
            yield from (part, *_parts(part))


def _turned(value: Any, settings: Mapping[str, Any]) -> Any:
    if isinstance(value, tuple):
        return tuple(_turned(each, settings) for each in value)
    if not _is_part(value):
        return value
    own = {k.name: settings[k.name] for k in knobs(value) if k.name in settings}
    within = {f.name: _turned(getattr(value, f.name), settings) for f in fields(value) if f.name == "parts"}
    return replace(turn(value, own), **within)


def _inside(value: Any) -> list[Any]:
    return [getattr(value, "parts", ())] if _is_part(value) else []


def _is_part(value: Any) -> bool:
    return is_dataclass(value) and not isinstance(value, type)
