"""Strategies by name: those of the catalogue, their knobs turned, several put together."""

from playground.catalog import choose, find
from playground.finetuning.strategy.compose import compose
from playground.finetuning.strategy.strategy import Strategy
from playground.finetuning.strategy.strategy_knobs import apart, turned
from playground.knob import spelt


def strategies() -> dict[str, Strategy]:
    """Every strategy by name."""
    return find("playground.finetuning.strategies", Strategy)


def find_strategy(name: str) -> Strategy:
    """One strategy by its name or an alias, with its knobs behind it in brackets, as in "LoRA(rank=8)".

    Several are joined by a plus sign, as in "gradual unfreezing + L2-SP(strength=0.5)".
    """
    parts = [_find_one(part) for part in apart(name, "+")]
    return parts[0] if len(parts) == 1 else compose(*parts)


def _find_one(text: str) -> Strategy:
    """A strategy of the catalogue, its knobs turned as the brackets behind its name say."""
    name, settings = spelt(text)
    found = choose("playground.finetuning.strategies", Strategy, name)
    return turned(found, settings) if settings else found
