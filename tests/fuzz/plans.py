"""Odd plans and strategies as a person types them."""

from pathlib import Path
from random import Random

from playground.finetuning import strategies
from playground.finetuning.strategy.parse import read, spell
from playground.models import Architecture
from playground.objectives import find_objective, objectives
from playground.objectives.plan_overrides import SHAPES, parse, settings_of
from playground.trace.rebuild import SENTENCE, rebuild
from tests.fuzz import odd
from tests.fuzz.law import Case, Kind

NAMES = tuple(objectives())
STRATEGIES = tuple(strategies())
RIGHT = {
    "actions": "mask,keep", "spans": "2:1,5:2", "order": "3,5,6,8,2,1,4,7", "replace": "thrilled,study", "pair": "next",
    "mask": "seq2seq", "wrong": "thrilled,study", "labelled": "yes", "marks": "[MASK],walk", "language": "first",
}  # fmt: skip


def plan_line(random: Random, name: str) -> str:
    """A plan with keys that the objective has, or has not."""
    own = find_objective(name).plan_keys if name in NAMES else ()
    keys = [
        odd.among(random, own if own and random.random() < 0.8 else tuple(SHAPES), 0.1)
        for _ in range(random.randint(1, 3))
    ]
    line = " ".join(f"{key}={odd.among(random, [RIGHT.get(key, '3'), '1,2', '3,8'], 0.5)}" for key in keys)
    return odd.mutated(random, line) if random.random() < 0.2 else line


def _plan(random: Random, _: Path) -> Case:
    name, seed = random.choice(NAMES), random.randint(0, 3)
    line = plan_line(random, name)
    pair = "Comment vas-tu" if random.random() < 0.5 else ""

    def act() -> None:
        rebuild(name, SENTENCE, pair=pair, seed=seed, overrides=parse(settings_of(line))).facts()

    return Case(f"{name} {pair!r} {line}", act)


def _strategy(random: Random, _: Path) -> Case:
    parts = " + ".join(odd.among(random, STRATEGIES, 0.2) for _ in range(random.randint(1, 3)))
    cells = "; ".join(_cell(random) for _ in range(random.randint(0, 3)))
    line = f"{odd.among(random, ['mine = ', ''], 0.2)}{parts}{f' [{cells}]' if cells else ''}"
    line = odd.mutated(random, line) if random.random() < 0.3 else line

    def act() -> None:
        strategy = read(line)
        strategy.plan(strategy.rows(Architecture()), 20)
        read(spell(strategy))

    return Case(line, act)


def _cell(random: Random) -> str:
    group = odd.among(random, ["embeddings", "top", "layer 1", "head"], 0.2)
    first, last = (odd.among(random, ["1", "5", "20"], 0.25) for _ in range(2))
    return f"{group} {first}-{last} x{odd.among(random, ['0', '0.5', '2'], 0.3)}"


PLANS = Kind("plans", 150, _plan)
STRATEGY_LINES = Kind("strategies", 100, _strategy)
