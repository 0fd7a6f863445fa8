"""A curriculum: what a run trains from step to step, as shares of a mixture's parts and knobs that move."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from itertools import accumulate, pairwise

import torch
from torch import Tensor

from playground.errors import UserError


@dataclass(frozen=True)
class Stretch:
    """A stretch of a run: `length` is its share of the steps, `shares` are those of a mixture's parts in it.

    `moves` are the knobs that run linearly from one value to another: name, first value and the value at its end.
    """

    length: float = 1.0
    shares: tuple[float, ...] = ()
    moves: tuple[tuple[str, float, float], ...] = ()


Curriculum = tuple[Stretch, ...]
"""The stretches of a run one after another.

Phases of an entry begin with new optimisers and a new learning rate schedule, and may change the text. A curriculum
changes nothing but the objective: GPT-BERT's rate falls in every step, and AntLM alternates within one schedule. So it
belongs to the objective, and a mixture draws by the shares of the present step.
"""


@dataclass(frozen=True)
class Schedule:
    """What every step trains: `shares` of the parts, `[part, step]`, and the value of each moving knob, `[step]`."""

    shares: Tensor
    knobs: Mapping[str, Tensor]

    def at(self, step: int) -> tuple[tuple[float, ...], dict[str, float]]:
        """The shares and the values in a step (0-based); the last step goes on beyond the end of the schedule."""
        shares = self.shares[:, min(step, self.shares.shape[1] - 1)].tolist()
        return tuple(shares), {name: float(values[min(step, len(values) - 1)]) for name, values in self.knobs.items()}


@cache
def schedule(curriculum: Curriculum, steps: int) -> Schedule:
    """The schedule of a run of so many steps; the feed of the run reads these tensors.

    In step k of n a knob has moved by k/n of its way (GPT-BERT, released code). Where no stretch moves it, it keeps its
    last value, and before the first move the value from which that begins.
    """
    if abs(sum(stretch.length for stretch in curriculum) - 1) > 1e-9:
        raise UserError(f"The lengths of a curriculum are {[s.length for s in curriculum]}; their sum must be 1.")
    ends = [0, *(round(length * steps) for length in accumulate(stretch.length for stretch in curriculum))]
    shares = torch.zeros(len(curriculum[0].shares), steps, dtype=torch.float64, device="cpu")
    knobs: dict[str, Tensor] = {}
    for stretch, (begin, end) in zip(curriculum, pairwise(ends), strict=True):
        shares[:, begin:end] = torch.tensor(stretch.shares, dtype=torch.float64, device="cpu")[:, None]
        for name, first, last in stretch.moves:
            values = knobs.setdefault(name, torch.full((steps,), first, dtype=torch.float64, device="cpu"))
            moved = torch.arange(end - begin, dtype=torch.float64, device="cpu") / max(1, end - begin)
            values[begin:end], values[end:] = first + (last - first) * moved, last
    return Schedule(shares, knobs)


def mean_shares(curriculum: Curriculum) -> tuple[float, ...]:
    """The share that each part has of the whole run."""
    return tuple(
        sum(stretch.length * share for stretch, share in zip(curriculum, part, strict=True))
        for part in zip(*(stretch.shares for stretch in curriculum), strict=True)
    )
