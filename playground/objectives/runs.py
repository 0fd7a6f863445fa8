"""Runs of neighbouring tokens, found for a whole batch at once: words, phrases, names, hidden stretches."""

from dataclasses import dataclass

import torch
from torch import Tensor

from playground.example import Example, position_of, running


@dataclass(frozen=True)
class Runs:
    """The run that each place lies in (-1: none), and by run its first place and its length (0: there is no run).

    All are `[b, t]`; runs are numbered from left to right.
    """

    of: Tensor
    start: Tensor
    length: Tensor

    def at(self, values: Tensor) -> Tensor:
        """What is true of a run, `[b, t]` by run, said of each of its places; 0 or False outside runs."""
        return values.gather(1, self.of.clamp(min=0)).masked_fill(self.of < 0, 0)

    @property
    def first(self) -> Tensor:
        """The first place of the run that each place lies in."""
        return self.at(self.start)

    @property
    def last(self) -> Tensor:
        """The last place of the run that each place lies in."""
        return self.at(self.start + self.length - 1)


def runs(example: Example, marked: Tensor, number: Tensor | None = None) -> Runs:
    """The longest runs of marked places `[b, t]` that are neighbours in the input and share a `number` `[b, t]`."""
    joined = _before(marked) & side_by_side(example)
    if number is not None:
        joined = joined & (number == _before(number))
    opens = marked & ~joined
    width = marked.shape[1]
    index = opens.long().cumsum(1) - 1
    table = index.new_zeros((len(index), width + 1))
    return Runs(
        of=index.where(marked, -1),
        start=table.scatter(1, index.where(opens, width), places(example))[:, :width],
        length=table.scatter_add(1, index.where(marked, width), marked.long())[:, :width],
    )


def places(example: Example) -> Tensor:
    """The number of each place of the text, `[b, t]`."""
    return running(example.tokens.ids)


def side_by_side(example: Example) -> Tensor:
    """Which places of the text `[b, t]` stand right behind the place before them in the input (no sign between)."""
    position = position_of(example.inputs, example.tokens.ids.shape[1])
    return position == _before(position) + 1


def _before(values: Tensor) -> Tensor:
    """What the place before each place has, `[b, t]`."""
    return torch.cat([torch.zeros_like(values[:, :1]), values[:, :-1]], dim=1)
