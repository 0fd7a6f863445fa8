"""How large the effect of each fault is: its figure over five seeds, as `benchmarks/hunt.py` measured it."""

import json
from functools import cache
from pathlib import Path
from typing import TypedDict

FILE = Path(__file__).with_name("effects.json")
SEEDS = 5


class Effect(TypedDict):
    """The figure of a fault in sound and in faulty runs, one for each seed."""

    sound: list[float]
    faulty: list[float]
    steps: int
    seconds: float
    """Seconds of one processor for all runs."""


@cache
def effects() -> dict[str, Effect]:
    """What was measured, by the name of the fault."""
    return json.loads(FILE.read_text(encoding="utf-8"))
