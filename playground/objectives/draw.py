"""Random draws over ragged batches without a loop: exact counts, orders, compositions (objectives reference, 22c)."""

from collections.abc import Sequence
from itertools import accumulate

import torch
from torch import Generator, Tensor

from playground.example import Tokens

_GOLDEN, _FIRST, _SECOND = (c - 2**64 for c in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))
LAST = 2**31 - 1
"""Sorts behind every number."""

CALL = 1000
"""A few tensor calls on a column of all rows cost about as much as sorting so many numbers in rows."""


def noise(shape: tuple[int, ...], rng: Generator) -> Tensor:
    """Uniform numbers in [0, 1) on the device of the generator."""
    return torch.rand(shape, generator=rng, device=rng.device)


def dice(tokens: Tokens, copies: int, salt: int, rng: Generator, width: int | None = None) -> Tensor:
    """Uniform numbers for every place `[b, t]`: new ones, or those of one of the text's `copies` fixed draws.

    Each visit to a text takes its next copy; a text without a row number counts as row 0 at its first visit.
    """
    width = tokens.ids.shape[1] if width is None else width
    if not copies:
        return noise((len(tokens.ids), width), rng)
    unknown = torch.zeros_like(tokens.lengths)
    row, visit = (unknown if number is None else number for number in (tokens.row, tokens.visit))
    return fixed_noise(row, visit % copies, width, salt)


def fixed_noise(row: Tensor, copy: Tensor, width: int, salt: int) -> Tensor:
    """Uniform numbers `[b, width]` that follow from the text's `row [b]`, its `copy [b]` and the `salt` alone.

    Every place hashes its own number, so nothing depends on the batch, on padding or on what was drawn before.
    """
    place = torch.arange(width, device=row.device)
    key = _hash(_hash(_hash(row) + copy) + salt)
    return ((_hash(key[:, None] + place) >> 40) & (2**24 - 1)).float() / 2**24


def _hash(number: Tensor) -> Tensor:
    """The output function of SplitMix64 (Steele, Lea and Flood 2014, Fast splittable pseudorandom numbers)."""
    number = number + _GOLDEN
    number = (number ^ ((number >> 30) & (2**34 - 1))) * _FIRST
    number = (number ^ ((number >> 27) & (2**37 - 1))) * _SECOND
    return number ^ ((number >> 31) & (2**33 - 1))


def rank(values: Tensor) -> Tensor:
    """The place of each value in its sorted row, `[b, t]`; equal values keep their order."""
    order = values.argsort(dim=1, stable=True)
    return torch.empty_like(order).scatter_(1, order, _places(order))


def shuffled(group: Tensor, rng: Generator) -> Tensor:
    """A random order in which group 0 `[b, t]` comes first, then 1, 2 and 3: the place of each member in it, `[b, t]`.

    Whole numbers of 31 bits sort faster than floating ones; the two highest bits are the group.
    """
    lot = torch.randint(2**29, tuple(group.shape), generator=rng, device=rng.device, dtype=torch.int32)
    return rank(lot + (group.int() << 29))


def exactly(count: Tensor, candidates: Tensor, rng: Generator) -> Tensor:
    """Mark exactly `count [b]` of the candidates `[b, t]` of each row, or all there are, every set equally likely.

    Where many rows need few marks each, they are drawn one after the other; else all candidates are drawn by lot,
    which takes longer for each place but is one call.
    """
    most = _most(count, candidates.shape[1])
    if most * CALL >= candidates.numel():
        return lowest(count, candidates, noise(tuple(candidates.shape), rng))
    number = candidates.cumsum(1)
    drawn = _marked(torch.minimum(count, number[:, -1]), number[:, -1], most, candidates.shape[1], rng)
    return drawn.gather(1, number) & candidates


def _most(count: Tensor, width: int) -> int:
    return min(int(count.max()), width) if len(count) else 0


def _marked(count: Tensor, number: Tensor, most: int, width: int, rng: Generator) -> Tensor:
    """`count [b]` of the numbers from 1 to `number [b]`, as marks `[b, 1 + width]`; the mark of 0 means nothing."""
    drawn, limit = _floyd(count, number, most, rng)
    marks = torch.zeros((len(number), width + 1), dtype=torch.bool, device=number.device)
    used = torch.arange(most, device=number.device)[:, None] < count
    row = torch.arange(len(number), device=number.device) * (width + 1)
    flat, drawn, limit = marks.view(-1), (drawn + 1) * used + row, (limit + 1) * used + row
    for one, last in zip(drawn.unbind(), limit.unbind(), strict=True):
        flat.index_fill_(0, last.where(flat.take(one), one), True)
    return marks


def _floyd(count: Tensor, number: Tensor, most: int, rng: Generator) -> tuple[Tensor, Tensor]:
    """`count [b]` of `number [b]` things, one after the other for all rows at once: draws and limits `[most, b]`.

    Draw up to a limit that grows by one; where the thing is taken, take the limit itself: every set is equally likely
    (Floyd, in Bentley 1987, Programming pearls: a sample of brilliance).
    """
    limit = (number - count) + torch.arange(most, device=number.device)[:, None]
    return torch.minimum((noise((most, len(number)), rng) * (limit + 1)).long(), limit), limit


def lowest(count: Tensor, candidates: Tensor, dice: Tensor) -> Tensor:
    """Mark the `count [b]` candidates `[b, t]` of each row that have the lowest numbers."""
    width = candidates.shape[1]
    key, few = dice + 2.0 * ~candidates, _most(count, width)
    order = key.topk(few, dim=1, largest=False).indices if 2 * few < width else key.argsort(dim=1)
    return torch.zeros_like(candidates).scatter_(1, order, _places(order) < count[:, None]) & candidates


def _places(order: Tensor) -> Tensor:
    return torch.arange(order.shape[1], device=order.device).expand_as(order)


def among(shares: Sequence[float], shape: tuple[int, ...], rng: Generator) -> Tensor:
    """Numbers of outcomes, counted from 0, each drawn with its share of the sum of all shares."""
    dice, total = noise(shape, rng).double() * sum(shares), list(accumulate(shares))
    number = torch.zeros(shape, dtype=torch.long, device=rng.device)
    for end in total[:-1]:
        number += dice >= end
    return number


def half_even(share: float, number: Tensor) -> Tensor:
    """`share * number` rounded half to even in double precision, as Python's `round` does."""
    return (share * number.double()).round().long()


def ceiling(share: float, number: Tensor) -> Tensor:
    """`share * number` rounded up, forgiving the last bit (0.3 * 200 is 60, not 61)."""
    return (share * number.double() - 1e-9).ceil().long()


def subset(count: Tensor, number: Tensor, most: int, rng: Generator) -> Tensor:
    """`count [b]` different numbers below `number [b]`, sorted, any set equally likely, `[b, most]`; the rest -1."""
    drawn, limit = _floyd(count, number, most, rng)
    for k in range(1, most):
        taken = (drawn[:k] == drawn[k]).any(0)
        drawn[k] = torch.where(taken, limit[k], drawn[k])
    unused = torch.arange(most, device=number.device) >= count[:, None]
    return drawn.T.masked_fill(unused, LAST).sort(dim=1).values.masked_fill(unused, -1)


def composition(total: Tensor, parts: Tensor, most: int, rng: Generator) -> Tensor:
    """Lengths `[b, most]` of a uniform composition of `total [b]` into `parts [b]` positive parts; the rest is 0.

    `parts <= total` and `parts <= most` are the caller's promise (rows with `parts` 0 give all 0).
    """
    cuts = subset((parts - 1).clamp(min=0), (total - 1).clamp(min=0), most - 1, rng) + 1
    cuts = cuts.where(cuts > 0, total[:, None])
    edges = torch.cat([torch.zeros_like(total)[:, None], cuts, total[:, None]], dim=1)
    return edges.diff(dim=1) * (parts > 0)[:, None]


def poisson_budget(budget: Tensor, mean: float, most: int, rng: Generator) -> Tensor:
    """Poisson lengths `[b, most]` drawn until their sum reaches `budget [b]`, the last one cut to fit; -1 is unused.

    The same as throwing `budget` tokens at a line with waits of an exponential law and counting them by stretches of
    length `mean`: each stretch holds a Poisson number. `most` bounds the stretches; what comes later is in the last.
    """
    widest = int(budget.max()) if len(budget) else 0
    thrown = torch.arange(widest, device=budget.device) < budget[:, None]
    stretch = (waits((len(budget), widest), rng).cumsum(1) / mean).long().clamp(max=most - 1)
    lengths = torch.zeros((len(budget), most), dtype=torch.long, device=budget.device)
    lengths.scatter_add_(1, stretch, thrown.long())
    used = (stretch * thrown).amax(1, keepdim=True) if widest else budget[:, None] - 1
    unused = (torch.arange(most, device=budget.device) > used) | (budget == 0)[:, None]
    return lengths.masked_fill(unused, -1)


def waits(shape: tuple[int, ...], rng: Generator) -> Tensor:
    """Numbers of the exponential law with mean 1."""
    return -torch.log1p(-noise(shape, rng))


def sorted_places(there: Tensor, number: Tensor, rng: Generator) -> Tensor:
    """For every `there` `[b, m]` a number below `number [b]`, all independent and in rising order.

    The gaps between sorted uniform numbers are exponential ones over their sum, so nothing needs to be sorted.
    """
    gaps = waits((len(there), there.shape[1] + 1), rng)
    gaps[:, :-1] *= there
    height = gaps.cumsum(1)
    place = (height[:, :-1] / height[:, -1:] * number[:, None]).long()
    return torch.minimum(place, number[:, None] - 1)
