"""What makes a comparison fair: every lane gets as many steps, tokens or operations, and its rate by the same rule."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import torch

from playground.errors import Refusal
from playground.finetuning.data.dataset import Dataset
from playground.finetuning.run.base import Base
from playground.finetuning.run.trainer import FinetuneConfig, Finetuner, Result, numbered, tune
from playground.finetuning.strategy.losses import Budget
from playground.finetuning.strategy.schedules import Cell
from playground.finetuning.strategy.strategy import Strategy
from playground.models.cost import operations

MATCHES = ("steps", "tokens", "flops")
"""What all lanes have alike: optimiser steps, tokens that are read, or floating-point operations."""

RATES = ("own", "fixed", "published", "tuned")
"""Where learning rates come from: the strategy's own for tiny models, one for all, the paper's, or a small search."""

FIXED = Strategy.rate
"""The one rate for all."""

GRID = (1e-3, 4e-3, 1.6e-2)
"""The rates that a small search tries for every strategy alike."""

MOST_TIMES = 10
"""A lane that is matched gets at most so many times the steps of the first."""


@dataclass(frozen=True)
class Cost:
    """What a lane costs: tokens it reads and floating-point operations, both estimated from its plan."""

    tokens: float
    flops: float


def cost(
    base: Base, strategy: Strategy, train: Dataset, setting: FinetuneConfig, seed: int = 0, run: Finetuner | None = None
) -> Cost:
    """The tokens and operations of a lane.

    A step reads T tokens of labelled texts, each of which costs every layer group the same `operations` as in
    pre-training; what lies below all that learns needs no backward. Looking up embeddings costs nothing. What a
    strategy reads beside the task (old texts, the same texts again) counts as so many more tokens, forward and
    backward. Kept activations are not taken off: this is what the strategy asks for, not what this program saves.
    Scoring the vocabulary, the optimiser and the evaluation are left out. What is only asked costs nothing. A `run`
    that is there need not be made anew.
    """
    if strategy.prompt:
        return Cost(0.0, 0.0)
    run = run or Finetuner(base, strategy, numbered(train, base), setting, seed)
    plan = strategy.plan(tuple(run.groups), setting.steps) != 0
    tokens = setting.batch_size * float(train.tokens.lengths.float().mean())
    positions, width = float(train.tokens.lengths.float().mean()), run.model.shape.width
    per_token = torch.zeros(setting.steps)
    for index, (group, parameters) in enumerate(run.groups.items()):
        weights = 0 if group.startswith("embeddings") else sum(p.numel() for p in parameters if p.dim() > 1)
        looks = positions * width if group.startswith("encoder") and not group.endswith("biases") else 0.0
        per_token += operations(weights, looks, plan[index].float(), plan[:index].any(dim=0).float())
    lane = Budget(setting.steps, tokens, base.held_out.ids.shape[1])
    more = sum(term.tokens_read(lane) for term in (*strategy.penalties, *strategy.beside))
    read = tokens * setting.steps + more
    return Cost(read, float(per_token.mean()) * read)


def check_rules(match: str = "steps", rates: str = "own") -> None:
    """Refuse what is no way to match lanes or to choose their rates."""
    if match not in MATCHES:
        raise Refusal(f"match is {match!r}; choose one of {', '.join(MATCHES)}.")
    if rates not in RATES:
        raise Refusal(f"lr_policy is {rates!r}; choose one of {', '.join(RATES)}.")


def matched(
    base: Base, first: Strategy, other: Strategy, train: Dataset, setting: FinetuneConfig, match: str, seed: int = 0
) -> int:
    """How many steps a strategy gets, so that it reads or computes as much as the first one does in its steps."""
    check_rules(match)
    if match == "steps" or other == first:
        return setting.steps
    wanted, own = (getattr(cost(base, s, train, setting, seed), match) for s in (first, other))
    if not own or not wanted:  # one of them trains nothing
        return setting.steps
    return min(max(1, round(setting.steps * wanted / own)), MOST_TIMES * setting.steps)


def stretched(strategy: Strategy, steps: int, before: int) -> Strategy:
    """The strategy with its painted cells moved to the same shares of another number of steps."""
    if steps == before:
        return strategy
    cells = tuple(
        Cell(c.group, (c.first - 1) * steps // before + 1, max(1, -(-c.last * steps // before)), c.multiplier)
        for c in strategy.painted
    )
    return replace(strategy, painted=cells)


def rated(strategy: Strategy, rates: str) -> Strategy:
    """The strategy with its rate by a rule that needs no search; where no place states one it keeps our own."""
    check_rules(rates=rates)
    if rates == "fixed":
        return replace(strategy, rate=FIXED)
    return replace(strategy, rate=strategy.published.rate) if rates == "published" and strategy.published else strategy


def rate_from(strategy: Strategy, rates: str) -> str:
    """Where the rate of a strategy comes from in a comparison: ours, one for all, a public place, or a search."""
    if rates == "published" and strategy.published:
        return f"published: {strategy.published.where}"
    none = "ours: no place that we could read states one" if rates == "published" else "ours"
    return {"fixed": "one for all", "tuned": "searched for"}.get(rates, none)


def said_of_published(chosen: Sequence[Strategy]) -> str:
    """Which of some strategies have a published rate, where it stands, and which keep ours for want of one."""
    learning = [strategy for strategy in chosen if not strategy.prompt]
    stated = [f"{s.name} {s.published.rate:g} ({s.published.where})" for s in learning if s.published]
    ours = [f"{s.name} {s.rate:g}" for s in learning if not s.published]
    return " ".join(
        [
            f"Published: {'; '.join(stated) or 'none of these'}.",
            *([f"Not stated in any place that we could read, so ours: {', '.join(ours)}."] if ours else []),
        ]
    )


def searched(base: Base, strategy: Strategy, train: Dataset, setting: FinetuneConfig, seed: int) -> float:
    """The rate of the grid that does best on the last quarter of the labelled texts, learnt from the others.

    Every strategy gets the same budget: one run for each rate. Of rates that do equally well the one nearest to the
    strategy's own is taken.
    """
    if len(train.labels) < 8:
        raise Refusal(f"labels is {len(train.labels)}; a search for rates holds a quarter back and needs at least 8.")
    some, held_back = _parted(train)
    scores = {rate: _score(base, replace(strategy, rate=rate), some, held_back, setting, seed) for rate in GRID}
    return max(GRID, key=lambda rate: (scores[rate], -abs(rate / strategy.rate - 1)))


def _parted(train: Dataset) -> Iterator[Dataset]:
    """The first three quarters of the texts, and the last."""
    number = len(train.labels)
    index = torch.arange(number, device=train.labels.device)
    for part in (index[: number * 3 // 4], index[number * 3 // 4 :]):
        yield train.pick(part)


def _score(
    base: Base, strategy: Strategy, some: Dataset, held_back: Dataset, setting: FinetuneConfig, seed: int
) -> float:
    *_, last = tune(base, strategy, some, held_back, replace(setting, looks=0), seed)
    assert isinstance(last, Result)
    return last.accuracy
