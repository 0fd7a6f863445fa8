"""A strategy says what may change, when, and how fast: the plasticity plan, layer group x step."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from playground.catalog import choose, find

Plasticity = Callable[[Sequence[str], int], Tensor]
"""From the layer groups, lowest first and the task's head last, and the number of steps, to multipliers `[g, s]`."""


@dataclass(frozen=True)
class Strategy:
    """A named plasticity plan; the learning rate of group g in step s is `rate * plan[g, s]`, and 0 is truly frozen."""

    name: str
    idea: str
    source: str
    plasticity: Plasticity
    rate: float = 4e-3
    aliases: tuple[str, ...] = ()
    rank: int = 0

    def plan(self, groups: Sequence[str], steps: int) -> Tensor:
        """The multipliers `[g, s]`, evaluated once; the optimiser reads its columns and the heat map draws them."""
        plan = self.plasticity(groups, steps)
        assert plan.shape == (len(groups), steps), f"{self.name} plans {tuple(plan.shape)}"
        return plan


def head_only(groups: Sequence[str], steps: int) -> Tensor:
    """Only the last group, the task's head, may change."""
    plan = torch.zeros(len(groups), steps)
    plan[-1] = 1.0
    return plan


def everything(groups: Sequence[str], steps: int) -> Tensor:
    """All groups change at the full rate from the first step."""
    return torch.ones(len(groups), steps)


def from_the_top(groups: Sequence[str], steps: int) -> Tensor:
    """One more group thaws in every phase, the head first and the lowest group last."""
    phase = torch.arange(steps) * len(groups) // max(1, steps)
    height = torch.arange(len(groups)).flip(0)
    return (height[:, None] <= phase[None, :]).float()


def strategies() -> dict[str, Strategy]:
    """Every strategy by name."""
    return find("playground.finetuning.strategies", Strategy)


def find_strategy(name: str) -> Strategy:
    """One strategy by its name or an alias."""
    return choose("playground.finetuning.strategies", Strategy, name)
