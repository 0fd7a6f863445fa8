"""Spans of neighbouring tokens, found for a whole batch at once: words, phrases, names, hidden stretches."""

from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from playground.batch import Batch, arange_rows, is_identity, position_of


@dataclass(frozen=True)
class MarkedSpans:
    """Spans of `marked` positions `[b, t]`, numbered from left to right in each row; `opens` marks where a span begins.

    What is "by span" has the number of the span as its second index.
    """

    marked: Tensor
    opens: Tensor

    @cached_property
    def number(self) -> Tensor:
        """The last span that has begun up to each position, `[b, t]`; 0 before the first."""
        return self.opens.cumsum(1).sub_(1).clamp_(min=0)

    @cached_property
    def of(self) -> Tensor:
        """The span that each position lies in; -1: none."""
        return self.number.where(self.marked, -1)

    @cached_property
    def count(self) -> Tensor:
        """How many spans each row has, `[b]`."""
        return self.opens.sum(1)

    @cached_property
    def start(self) -> Tensor:
        """By span, its first position, `[b, t]`; 0 where there is no span."""
        width = self.number.shape[1]
        table = self.number.new_zeros((len(self.number), width + 1))
        return table.scatter_(1, self.number.where(self.opens, width), arange_rows(self.number))[:, :width]

    @cached_property
    def length(self) -> Tensor:
        """By span, how many positions it has, `[b, t]`; 0 where there is no span."""
        return torch.zeros_like(self.number).scatter_add_(1, self.number, self.marked.long())

    def at(self, values: Tensor) -> Tensor:
        """Values by span, `[b, t]`, at each position of the span; 0 or False outside spans."""
        return values.gather(1, self.number) * self.marked

    @property
    def size(self) -> Tensor:
        """By position, how long the span is that begins there, `[b, t]` in 16 bits; 0 where none begins."""
        return (self.length.gather(1, self.number) * self.opens).short()

    @property
    def first(self) -> Tensor:
        """The first position of the span that each position lies in."""
        return self.at(self.start)

    @property
    def last(self) -> Tensor:
        """The last position of the span that each position lies in."""
        return self.at(self.start + self.length - 1)


def marked_spans(batch: Batch, marked: Tensor, number: Tensor | None = None) -> MarkedSpans:
    """The longest spans of marked positions `[b, t]` that are adjacent in the input and share a `number [b, t]`."""
    goes_on, origin, width = marked[:, :-1], batch.inputs.origin, marked.shape[1]
    if origin.shape[1] != width or not is_identity(origin):
        position = position_of(batch.inputs, width)
        goes_on = goes_on & (position[:, 1:] == position[:, :-1] + 1)
    if number is not None:
        goes_on = goes_on & (number[:, 1:] == number[:, :-1])
    opens = marked.clone(memory_format=torch.contiguous_format)
    opens[:, 1:] &= ~goes_on
    return MarkedSpans(marked, opens)


def spread(begun: Tensor, size: Tensor) -> Tensor:
    """All positions of the spans that begin at some flat positions `[m]` and have some sizes `[m]`.

    From one to the next is a step of one, and at the beginning of a span a jump from behind the span before it.
    """
    end, jump = size.cumsum(0), begun.clone()
    jump[1:] -= begun[:-1] + size[:-1]
    step = begun.new_ones(int(end[-1:].sum()) + 1)
    step[:1] = 0
    return step.scatter_add_(0, end.sub_(size), jump).cumsum(0)[:-1]
