"""Choose the words that diffusion has hidden by some time."""

from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Generator, Tensor

from playground.batch import Batch, arange_rows
from playground.errors import UserError
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
    """The `time` of each token and the noise below which it is hidden, `[b, t]`."""

    time: Tensor
    noise: Tensor

    def hidden(self, batch: Batch) -> Tensor:
        return (self.noise < self.time) & batch.maskable


@dataclass(frozen=True)
class ChooseDiffused(Choose):
    """Hide each token with the same probability t, the time of its row (MDLM, arXiv:2406.07524, sec. 3.2).

    "time" draws t evenly between a thousandth and 1 and then each token alone. "count" draws how many tokens are
    hidden, from 1 to all, and t is their share (arXiv:2110.02037, sec. 2): the same loss in the mean, with less noise.
    A later time hides more tokens and shows none again.
    """

    draw: str = knob("time", choices=("time", "count"), why="What is drawn evenly: the time, or the number of gaps.")
    keys = ("t", "chosen")

    def plan(self, batch: Batch, rng: Generator) -> Diffused:
        able = batch.maskable
        drawn, noise = sampling.noise((len(able), 1), rng), sampling.noise(tuple(able.shape), rng)
        if self.draw == "time":
            return Diffused(_time(drawn).expand_as(noise), noise)
        number = able.sum(1, keepdim=True)
        time, rank = _share((drawn * number).floor() + 1, number), sampling.rank(noise + 2.0 * ~able)
        return Diffused(time.expand_as(noise), (rank + 0.5) / number.clamp(min=1))

    def build(self, batch: Batch, plan: Diffused) -> Batch:
        return replace(batch, selected=plan.hidden(batch), time=plan.time)

    def override_plan(self, batch: Batch, plan: Diffused, overrides: PlanOverrides) -> Diffused:
        time, noise, number = plan.time, plan.noise, batch.maskable.sum(1, keepdim=True)
        if "chosen" in overrides:
            hidden = plan_overrides.positions(batch, overrides["chosen"]) & batch.maskable
            time, noise = _share(hidden.sum(1, keepdim=True), number).expand_as(noise), 1.0 - hidden.float()
        given = overrides.get("t") or []
        if len(given) > 1:
            raise UserError(f"t has {len(given)} times, but the text has one; give one number.")
        if given and self.draw == "time":
            time = torch.full_like(time, given[0])
        elif given and "chosen" not in overrides:
            time = _share((given[0] * number).round(), number).expand_as(noise)
        return Diffused(time, noise)

    def describe_plan(self, batch: Batch, plan: Diffused, row: int) -> dict[str, Any]:
        chosen = plan_overrides.words_of(batch, plan.hidden(batch), row)
        time = plan.time[row, :1].tolist()
        return {"t": [round(each, DIGITS) for each in time], "chosen": chosen}


@dataclass(frozen=True)
class ChooseDiffusedBlocks(Choose):
    """Hide the tokens of each block with the same probability t, the time of the block (arXiv:2503.09573, sec. 3).

    The last block of a text may be shorter. Blocks are counted in tokens.
    """

    block_size: int = knob(4, 1, 64, unit="tokens", why="1 is a language model; a whole text is masked diffusion.")
    keys = ("t", "chosen")

    def plan(self, batch: Batch, rng: Generator) -> Diffused:
        drawn, noise = (sampling.noise(tuple(batch.maskable.shape), rng) for _ in range(2))
        return Diffused(_time(drawn).gather(1, self._blocks(batch)), noise)

    def build(self, batch: Batch, plan: Diffused) -> Batch:
        return replace(batch, selected=plan.hidden(batch), time=plan.time, block=self._blocks(batch))

    def _blocks(self, batch: Batch) -> Tensor:
        """The number of the block of each token, `[b, t]`."""
        return arange_rows(batch.tokens.ids) // self.block_size

    def override_plan(self, batch: Batch, plan: Diffused, overrides: PlanOverrides) -> Diffused:
        time, noise = plan.time, plan.noise
        if given := overrides.get("t"):
            number = -(-batch.tokens.lengths_list[0] // self.block_size)
            if len(given) not in (1, number):
                raise UserError(f"t has {len(given)} times, but there are {number} blocks; give one, or one for each.")
            time = torch.tensor(given, device=time.device)[self._blocks(batch).clamp(max=len(given) - 1)]
        if "chosen" in overrides:
            hidden = plan_overrides.positions(batch, overrides["chosen"]) & batch.maskable
            noise = 1.0 - hidden.float()
        return Diffused(time, noise)

    def describe_plan(self, batch: Batch, plan: Diffused, row: int) -> dict[str, Any]:
        chosen = plan_overrides.words_of(batch, plan.hidden(batch), row)
        times = plan.time[row, : batch.tokens.lengths_list[row] : self.block_size].tolist()
        return {"t": [round(each, DIGITS) for each in times], "chosen": chosen}


def _time(drawn: Tensor) -> Tensor:
    """Times between the earliest and 1 of numbers between 0 and 1."""
    return ((EARLIEST + (1 - EARLIEST) * drawn) * 10**DIGITS).round() / 10**DIGITS


def _share(count: Tensor, number: Tensor) -> Tensor:
    """So many of a number of tokens as a share; 1 where none is hidden, as nothing is divided by it then."""
    return torch.where((count > 0) & (number > 0), count / number.clamp(min=1), 1.0)
