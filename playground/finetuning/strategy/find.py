"""Strategies by name: those of the catalogue, with other knobs ("LoRA(rank=8)"), several put together."""

import re
from collections.abc import Callable, Mapping
from dataclasses import is_dataclass, replace
from typing import Any

from playground.catalog import choose, find
from playground.errors import UserError
from playground.finetuning.strategy.compose import compose
from playground.finetuning.strategy.plasticity import Product, factors
from playground.finetuning.strategy.strategy import Strategy
from playground.knob import Knob, as_written, knobs, spelt, turn

PLUS = r"\+(?!\s*(?:$|\+|\(\w+=))"
"""What joins two names; a plus that ends one, as in LoRA+, does not."""


def strategies() -> dict[str, Strategy]:
    """Every strategy by name."""
    return find("playground.finetuning.strategies", Strategy)


def find_strategy(name: str) -> Strategy:
    """One strategy by its name or an alias, with its knobs behind it in brackets, as in "LoRA(rank=8)".

    Several are joined by a plus sign, as in "gradual unfreezing + L2-SP(strength=0.5)".
    """
    parts = []
    for text in split_outside_brackets(name, PLUS):
        name, settings = spelt(text)
        strategy = choose("playground.finetuning.strategies", Strategy, name)
        parts.append(with_knobs(strategy, settings) if settings else strategy)
    return parts[0] if len(parts) == 1 else compose(*parts)


def knobs_of(strategy: Strategy) -> dict[str, Knob]:
    """The knobs of all parts of a strategy by name, with its own values as defaults."""
    return {k.name: replace(k, default=getattr(part, k.name)) for part in _parts(strategy) for k in knobs(part)}


def with_knobs(strategy: Strategy, settings: Mapping[str, Any]) -> Strategy:
    """The strategy with some knobs turned; an unknown knob is refused with those that there are."""
    known = knobs_of(strategy)
    for name in settings:
        if name not in known:
            raise UserError(f"{strategy.name} has no knob {name!r}; its knobs are: {', '.join(known) or 'none'}.")

    def turned(part: Any) -> Any:
        own = {k.name for k in knobs(part)}
        return turn(part, {name: value for name, value in settings.items() if name in own})

    made = _changed(strategy, turned)
    values = knobs_of(made)
    written = ", ".join(f"{name}={as_written(values[name].default)}" for name in settings)
    return replace(made, name=f"{strategy.name}({written})", aliases=())


def split_outside_brackets(text: str, sign: str) -> list[str]:
    """The pieces of a text between signs, a pattern, that do not stand in brackets."""
    return [piece.strip() for piece in re.split(rf"{sign}(?![^()]*\))", text)]


def _changed(strategy: Strategy, change: Callable[[Any], Any]) -> Strategy:
    """The strategy with every part that has fields of its own changed."""

    def each(value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(map(each, value))
        if isinstance(value, Product):
            return Product(each(value.parts))
        return change(value) if is_dataclass(value) else value

    fields = (
        "plasticity",
        "waiting",
        "penalties",
        "aux_losses",
        "task_loss",
        "adapters",
        "extra_features",
        "prompt",
        "after",
    )
    return replace(strategy, **{field: each(getattr(strategy, field)) for field in fields})


def _parts(strategy: Strategy) -> list[Any]:
    plans = (*factors(strategy.plasticity), *factors(strategy.waiting))
    losses = (*strategy.penalties, *strategy.aux_losses, strategy.task_loss)
    parts = (*plans, *losses, *strategy.adapters, *strategy.extra_features, strategy.prompt, strategy.after)
    return [part for part in parts if is_dataclass(part)]
