"""Runs of neighbouring tokens, found for a whole batch at once: words, phrases, names, hidden stretches."""

from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from playground.example import Example, natural, position_of, running


@dataclass(frozen=True)
class Runs:
    """Runs of `marked` places `[b, t]`, numbered from left to right in each row; `opens` says where a run begins."""

    marked: Tensor
    opens: Tensor

    @cached_property
    def number(self) -> Tensor:
        """The last run that has begun up to each place, `[b, t]`; 0 before the first."""
        return self.opens.cumsum(1).sub_(1).clamp_(min=0)

    @cached_property
    def of(self) -> Tensor:
        """The run that each place lies in; -1: none."""
        return self.number.where(self.marked, -1)

    @cached_property
    def count(self) -> Tensor:
        """How many runs each row has, `[b]`."""
        return self.opens.sum(1)

    @cached_property
    def start(self) -> Tensor:
        """By run, its first place, `[b, t]`; 0 where there is no run."""
        width = self.number.shape[1]
        table = self.number.new_zeros((len(self.number), width + 1))
        return table.scatter_(1, self.number.where(self.opens, width), running(self.number))[:, :width]

    @cached_property
    def length(self) -> Tensor:
        """By run, how many places it has, `[b, t]`; 0 where there is no run."""
        return torch.zeros_like(self.number).scatter_add_(1, self.number, self.marked.long())

    def at(self, values: Tensor) -> Tensor:
        """What is true of a run, `[b, t]` by run, said of each of its places; 0 or False outside runs."""
        return values.gather(1, self.number) * self.marked

    def whole(self, begun: Tensor) -> Tensor:
        """All places `[m]` of the runs that begin at some, counted through the rows; what is longer is walked on."""
        goes_on = torch.nn.functional.pad((self.marked & ~self.opens).flatten(), (0, 1))
        found = [begun]
        while len(found[-1]):
            ahead = found[-1] + 1
            found.append(ahead[goes_on.index_select(0, ahead)])
        return torch.cat(found)

    def rows(self, index: Tensor) -> "Runs":
        """The runs of some rows alone."""
        return Runs(self.marked[index], self.opens[index])

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
    joined = marked[:, :-1] & side_by_side(example)[:, 1:]
    if number is not None:
        joined = joined & (number[:, 1:] == number[:, :-1])
    opens = marked.clone(memory_format=torch.contiguous_format)
    opens[:, 1:] &= ~joined
    return Runs(marked, opens)


def places(example: Example) -> Tensor:
    """The number of each place of the text, `[b, t]`."""
    return running(example.tokens.ids)


def side_by_side(example: Example) -> Tensor:
    """Which places of the text `[b, t]` stand right behind the place before them in the input (no sign between)."""
    width = example.tokens.ids.shape[1]
    if example.inputs.origin.shape[1] == width and natural(example.inputs.origin):
        return running(example.tokens.ids) > 0
    position = position_of(example.inputs, width)
    return position == _before(position) + 1


def _before(values: Tensor) -> Tensor:
    """What the place before each place has, `[b, t]`."""
    return torch.cat([torch.zeros_like(values[:, :1]), values[:, :-1]], dim=1)
