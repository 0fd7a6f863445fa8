"""Runs of neighbouring tokens, found for a whole batch at once: words, phrases, names, hidden stretches."""

from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from playground.batch import Batch, Tokens, arange_rows, is_identity, position_of


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
        return table.scatter_(1, self.number.where(self.opens, width), arange_rows(self.number))[:, :width]

    @cached_property
    def length(self) -> Tensor:
        """By run, how many places it has, `[b, t]`; 0 where there is no run."""
        return torch.zeros_like(self.number).scatter_add_(1, self.number, self.marked.long())

    def at(self, values: Tensor) -> Tensor:
        """What is true of a run, `[b, t]` by run, said of each of its places; 0 or False outside runs."""
        return values.gather(1, self.number) * self.marked

    @property
    def size(self) -> Tensor:
        """By place, how long the run is that begins there, `[b, t]` in 16 bits; 0 where none begins."""
        return (self.length.gather(1, self.number) * self.opens).short()

    @property
    def first(self) -> Tensor:
        """The first place of the run that each place lies in."""
        return self.at(self.start)

    @property
    def last(self) -> Tensor:
        """The last place of the run that each place lies in."""
        return self.at(self.start + self.length - 1)


def runs(example: Batch, marked: Tensor, number: Tensor | None = None) -> Runs:
    """The longest runs of marked places `[b, t]` that are neighbours in the input and share a `number` `[b, t]`."""
    beside = None if as_text(example) else side_by_side(example)[:, 1:]
    return _parted(marked, beside, number)


def _parted(marked: Tensor, beside: Tensor | None, number: Tensor | None) -> Runs:
    """The runs of marked places `[b, t]`; all are neighbours, or those are that stand `beside` the one before."""
    goes_on = marked[:, :-1] if beside is None else marked[:, :-1] & beside
    if number is not None:
        goes_on = goes_on & (number[:, 1:] == number[:, :-1])
    opens = marked.clone(memory_format=torch.contiguous_format)
    opens[:, 1:] &= ~goes_on
    return Runs(marked, opens)


def word_sizes(tokens: Tokens) -> Tensor:
    """By place, how many pieces the word has that begins there, `[b, t]` in 16 bits; 0 where none begins."""
    return _parted(tokens.maskable & (tokens.word_ids >= 0), None, tokens.word_ids).size


def spread(begun: Tensor, size: Tensor) -> Tensor:
    """All places of the runs that begin at some places `[m]` and have some sizes `[m]`.

    From one to the next is a step of one, and at the beginning of a run a jump from behind the run before it.
    """
    end, jump = size.cumsum(0), begun.clone()
    jump[1:] -= begun[:-1] + size[:-1]
    step = begun.new_ones(int(end[-1:].sum()) + 1)
    step[:1] = 0
    return step.scatter_add_(0, end.sub_(size), jump).cumsum(0)[:-1]


def places(example: Batch) -> Tensor:
    """The number of each place of the text, `[b, t]`."""
    return arange_rows(example.tokens.ids)


def side_by_side(example: Batch) -> Tensor:
    """Which places of the text `[b, t]` stand right behind the place before them in the input (no sign between)."""
    if as_text(example):
        return arange_rows(example.tokens.ids) > 0
    position = position_of(example.inputs, example.tokens.ids.shape[1])
    return position == _before(position) + 1


def as_text(example: Batch) -> bool:
    """Whether the input still stands as an unpadded text does."""
    origin = example.inputs.origin
    return origin.shape[1] == example.tokens.ids.shape[1] and is_identity(origin)


def _before(values: Tensor) -> Tensor:
    """What the place before each place has, `[b, t]`."""
    return torch.cat([torch.zeros_like(values[:, :1]), values[:, :-1]], dim=1)
