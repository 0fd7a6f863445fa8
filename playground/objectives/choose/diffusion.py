"""Choose the words that diffusion has hidden by some time."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import torch
from torch import Generator, Tensor

from playground.batch import Batch
from playground.knob import knob
from playground.objectives import plan_overrides
from playground.objectives.ops import sampling
from playground.objectives.stage import Choose, PlanOverrides

EARLIEST = 1e-3
"""The earliest time, as in the released code: a lone gap then weighs at most a thousand."""

DIGITS = 4
"""Decimal places of a time, so that a plan that is written gives the same batch again."""


@dataclass(frozen=True)
class Diffused:
    """The `time` of each row `[b]`, and for each token `[b, t]` the noise below which it is hidden."""

    time: Tensor
    noise: Tensor

    def hidden(self, batch: Batch) -> Tensor:
        return (self.noise < self.time[:, None]) & batch.maskable


@dataclass(frozen=True)
class ChooseDiffused(Choose):
    """Hide each token with the same probability t, the time of its row (MDLM, arXiv:2406.07524, sec. 3.2).

    "time" draws t evenly between a thousandth and 1 and then each token alone. "count" draws how many tokens are
    hidden, from 1 to all, and t is their share (arXiv:2110.02037, sec. 2): the same loss in the mean, with less noise.
    A later time hides more tokens and shows none again.
    """

    draw: str = knob("time", choices=("time", "count"), why="What is drawn evenly: the time, or the number of gaps.")
    keys: ClassVar[tuple[str, ...]] = ("t", "chosen")

    def plan(self, batch: Batch, rng: Generator) -> Diffused:
        able = batch.maskable
        drawn, noise = sampling.noise((len(able),), rng), sampling.noise(tuple(able.shape), rng)
        if self.draw == "time":
            return Diffused(((EARLIEST + (1 - EARLIEST) * drawn) * 10**DIGITS).round() / 10**DIGITS, noise)
        number = able.sum(1)
        rank = sampling.rank(noise + 2.0 * ~able)
        return Diffused(_share((drawn * number).floor() + 1, number), (rank + 0.5) / number[:, None].clamp(min=1))

    def build(self, batch: Batch, plan: Diffused) -> Batch:
        return replace(batch, selected=plan.hidden(batch), time=plan.time[:, None].expand_as(plan.noise))

    def override_plan(self, batch: Batch, plan: Diffused, overrides: PlanOverrides) -> Diffused:
        time, noise, number = plan.time, plan.noise, batch.maskable.sum(1)
        if "chosen" in overrides:
            hidden = plan_overrides.positions(batch, overrides["chosen"]) & batch.maskable
            time, noise = _share(hidden.sum(1), number), 1.0 - hidden.float()
        if "t" in overrides and self.draw == "time":
            time = torch.full_like(time, overrides["t"])
        elif "t" in overrides and "chosen" not in overrides:
            time = _share((overrides["t"] * number).round(), number)
        return Diffused(time, noise)

    def describe_plan(self, batch: Batch, plan: Diffused, row: int) -> dict[str, Any]:
        chosen = plan_overrides.words_of(batch, plan.hidden(batch), row)
        return {"t": round(float(plan.time[row]), DIGITS), "chosen": chosen}


def _share(count: Tensor, number: Tensor) -> Tensor:
    """So many of a number of tokens, `[b]`, as a share; 1 where none is hidden, as nothing is divided by it then."""
    return torch.where((count > 0) & (number > 0), count / number.clamp(min=1), 1.0)
