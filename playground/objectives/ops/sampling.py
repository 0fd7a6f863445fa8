"""Random draws over ragged batches without a loop: exact counts, orders, compositions (objectives reference, 22c)."""

import math
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate

import torch
from torch import Generator, Tensor

from playground.batch import Tokens, arange, full_view, is_all_true

_GOLDEN, _FIRST, _SECOND = (c - 2**64 for c in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))
MANY = 2**15
"""So many whole numbers or more are sorted digit by digit, which takes a third of the time of sorting them in rows."""

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
    row, visit = (unknown if number is None else number for number in (tokens.example_ids, tokens.epoch))
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

    Whole numbers of 31 bits sort faster than floating ones, and many rows faster as one, digit by digit: the highest
    bits are the row, the next two the group, the others a lot of at least 16 bits.
    """
    rows, width = group.shape
    together = group.numel() >= MANY and rows <= 2**13
    bits = 29 - (rows - 1).bit_length() * together
    lot = torch.randint(2**bits, (rows, width), generator=rng, device=rng.device, dtype=torch.int32)
    lot += group.int() << bits
    if not together:
        return rank(lot)
    row = torch.arange(rows, dtype=torch.int32, device=lot.device)[:, None] << (bits + 2)
    order = (lot + row).flatten().sort(stable=True).indices
    place = _places(lot).flatten()
    return torch.empty_like(place).index_copy_(0, order, place).view(rows, width)


def orders(first: Tensor, number: Tensor, rng: Generator) -> Tensor:
    """For each row `number [b]` numbers from the `first [b]` on in a random order, `[m]`, one row after the other."""
    alike = not number.stride(0)
    most = int(number[0] if alike else number.max()) if len(number) else 0
    lot = noise((len(number), most), rng)
    if alike:
        return (lot.argsort(dim=1) + first[:, None]).flatten()
    used = arange(most, number.device) < number[:, None]
    return ((lot + 2.0 * ~used).argsort(dim=1) + first[:, None]).masked_select(used)


def how_many(candidates: Tensor) -> Tensor:
    """How many places `[b]` of each row are candidates `[b, t]`; one number seen everywhere where all are alike."""
    rows, width = candidates.shape
    if is_all_true(candidates):
        return full_view(width, rows, candidates.device)
    return candidates.sum(1, dtype=torch.int32).long()


def exactly(count: Tensor, candidates: Tensor, rng: Generator) -> Tensor:
    """Mark exactly `count [b]` of the candidates `[b, t]` of each row, or all there are, every set equally likely."""
    return exact_choice(count, candidates, rng)[1]


def marked(places: Tensor, like: Tensor) -> Tensor:
    """True at some places `[m]`, counted through the rows of a shape `[b, t]`."""
    marks = torch.zeros(like.shape, dtype=torch.bool, device=like.device)
    marks.view(-1).index_fill_(0, places, True)
    return marks


def exact_choice(count: Tensor, candidates: Tensor, rng: Generator) -> tuple[Tensor, Tensor]:
    """Exactly `count [b]` of the candidates `[b, t]` of each row: their places `[m]` and marks `[b, t]` there.

    The places are counted through the rows. Where many rows need few each, they are drawn one after the other; else
    all candidates are drawn by lot, which takes longer for each place but is one call.
    """
    number = how_many(candidates)
    count, fewest, most, least = _ranges(count, number)
    if not most:
        return torch.zeros(0, dtype=torch.long, device=count.device), torch.zeros_like(candidates)
    if most * CALL < candidates.numel():
        places, marks = _one_by_one(count, number, most, candidates, rng)
        if least == candidates.shape[1] and fewest == most:
            return places.flatten(), marks
        places = places if least == candidates.shape[1] else _of_candidates(places, number, candidates)
    else:
        places = (noise(tuple(candidates.shape), rng) + 2.0 * ~candidates).topk(most, dim=1, largest=False).indices.T
        places = places + first_of_rows(candidates)
    used = arange(most, count.device)[:, None] < count
    places = places.flatten() if fewest == most else places.masked_select(used)
    return places, marked(places, candidates)


def _ranges(count: Tensor, number: Tensor) -> tuple[Tensor, int, int, int]:
    """What each row can have of what it wants `[b]`, the fewest and the most of that, and the least number there is."""
    if len(count) and not count.stride(0) and not number.stride(0):
        one, least = int(count[0]), int(number[0])
        return count if one <= least else number, min(one, least), min(one, least), least
    count = torch.minimum(count, number)
    fewest, most, least = torch.stack([*count.aminmax(), number.min()]).tolist() if len(count) else (0, 0, 0)
    return count, fewest, most, least


def some_places(rate: float, candidates: Tensor, rng: Generator) -> Tensor:
    """The places `[m]`, counted through the rows, of candidates `[b, t]` that are each drawn with the same chance."""
    places = some_of(rate, candidates.numel(), rng)
    return places if is_all_true(candidates) else places.masked_select(candidates.flatten().index_select(0, places))


def some_of(rate: float, number: int, rng: Generator) -> Tensor:
    """Those of a number of things that are drawn, each with the same chance, in rising order, `[m]`.

    The gaps from one that is drawn to the next follow the geometric law, so nothing is drawn for the others.
    """
    if rate <= 0 or rate >= 1:
        return torch.arange(number if rate > 0 else 0, device=rng.device)
    scale, begin, drawn = -1 / math.log1p(-rate), -1, []
    while begin < number:
        likely = rate * (number - begin)
        gaps = waits((int(likely + 6 * math.sqrt(likely)) + 6,), scale, rng).long() + 1
        drawn.append(gaps.cumsum(0).add_(begin))
        begin = int(drawn[-1][-1])
    places = torch.cat(drawn) if len(drawn) > 1 else drawn[0]
    return places[: int(torch.searchsorted(places, number))]


def _one_by_one(count: Tensor, number: Tensor, most: int, candidates: Tensor, rng: Generator) -> tuple[Tensor, Tensor]:
    """`count [b]` of the first `number [b]` places of each row, `[most, b]`, and marks `[b, t]` at all of these.

    What a row has too many means nothing.
    """
    row, last = first_of_rows(candidates), candidates.shape[1] - 1
    drawn, limit = (each.clamp_(max=last) + row for each in _floyd(count, number, most, rng))
    marks = torch.zeros(candidates.shape, dtype=torch.bool, device=row.device)
    every = marks.view(-1)
    for one, last in zip(drawn.unbind(), limit.unbind(), strict=True):
        torch.where(every.index_select(0, one), last, one, out=one)
        every.scatter_(0, one, True)
    return drawn, marks


def _of_candidates(places: Tensor, number: Tensor, candidates: Tensor) -> Tensor:
    """For the k-th place of a row the place of its k-th candidate, `[m, b]`; each row has a `number [b]` of them."""
    there = candidates.flatten().nonzero()[:, 0]
    index = (places + (number.cumsum(0) - number - first_of_rows(candidates))).clamp_(max=len(there) - 1)
    return there.index_select(0, index.flatten()).view_as(index)


def first_of_rows(values: Tensor) -> Tensor:
    """The first place of each row of `[b, t]`, counted through the rows; never to be written to."""
    return _first_of_rows(*values.shape, values.device)


@lru_cache(maxsize=64)
def _first_of_rows(rows: int, width: int, device: torch.device) -> Tensor:
    """The same for a shape, `[rows]`."""
    return torch.arange(rows, device=device) * width


def _floyd(count: Tensor, number: Tensor, most: int, rng: Generator) -> tuple[Tensor, Tensor]:
    """`count [b]` of `number [b]` things, one after the other for all rows at once: draws and limits `[most, b]`.

    Draw up to a limit that grows by one; where the thing is taken, take the limit itself: every set is equally likely
    (Floyd, in Bentley 1987, Programming pearls: a sample of brilliance). What a row has too many means nothing and may
    pass its number. A product with noise never reaches the limit, which is far below the 24 bits of a float.
    """
    rows = len(number)
    if not number.stride(0) and not count.stride(0):
        number, count = number[:1], count[:1]
    limit = (number - count) + arange(most, number.device)[:, None]
    return (noise((most, rows), rng) * (limit + 1)).long(), limit


def lowest(count: Tensor, candidates: Tensor, dice: Tensor) -> Tensor:
    """Mark the `count [b]` candidates `[b, t]` of each row that have the lowest numbers."""
    width = candidates.shape[1]
    key, few = dice + 2.0 * ~candidates, min(int(count.max()), width) if len(count) else 0
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


def half_even_single(share: float, number: Tensor) -> Tensor:
    """`share * number` rounded half to even in single precision, as T5's released code does: 0.15 * 190 is 29."""
    return (torch.tensor(share, dtype=torch.float32) * number.float()).round().long()


def ceiling(share: float, number: Tensor) -> Tensor:
    """`share * number` rounded up, forgiving the last bit (0.3 * 200 is 60, not 61)."""
    return (share * number.double() - 1e-9).ceil().long()


def subset(count: Tensor, number: Tensor, most: int, rng: Generator) -> Tensor:
    """`count [b]` different numbers below `number [b]`, sorted, any set equally likely; the rest of `[b, most]` is it.

    The numbers are the caller's promise: no row wants more than it has.
    """
    drawn, limit = _floyd(count, number, most, rng)
    for k, (one, last) in enumerate(zip(drawn.unbind(), limit.unbind(), strict=True)):
        if k:
            torch.where((drawn[:k] == one).any(0), last, one, out=one)
    used = arange(most, number.device)[:, None] < count
    return drawn.where(used, number).T.contiguous().sort(dim=1).values


def poisson_budget(budget: Tensor, mean: float, rng: Generator) -> tuple[Tensor, Tensor]:
    """Poisson lengths `[b, m]` drawn until their sum reaches `budget [b]`, and how many these are, `[b]`.

    The last one is cut to fit; -1 is unused. The same as throwing `budget` tokens at a line with waits of an
    exponential law and counting them by stretches of length `mean`: each stretch holds a Poisson number.
    """
    least, widest = torch.stack(budget.aminmax()).tolist() if len(budget) else (0, 0)
    if not widest:
        return torch.full_like(budget[:, None], -1), torch.zeros_like(budget)
    stretch = waits((len(budget), widest), 1 / mean, rng).cumsum(1).long()
    count = stretch.gather(1, (budget - 1).clamp(min=0)[:, None])[:, 0] + 1
    count = count if least else count.where(budget > 0, 0)
    number = int(count.max())
    if least < widest:
        stretch = stretch.where(arange(widest, budget.device) < budget[:, None], number)
    lengths = _unused(number + 1, budget.device).index_select(0, count)
    return lengths.scatter_add_(1, stretch, torch.ones_like(stretch))[:, :number], count


@lru_cache(maxsize=64)
def _unused(width: int, device: torch.device) -> Tensor:
    """By how many of some places are used, 0 at those and -1 at the others, `[width + 1, width]`."""
    return used(width, device).long() - 1


@lru_cache(maxsize=64)
def used(width: int, device: torch.device) -> Tensor:
    """Which places lie below each count up to the width, `[width + 1, width]`."""
    return arange(width, device) < arange(width + 1, device)[:, None]


def waits(shape: tuple[int, ...], mean: float, rng: Generator) -> Tensor:
    """Numbers of the exponential law with a mean."""
    return noise(shape, rng).neg_().log1p_().mul_(-mean)


def sorted_places(count: Tensor, number: Tensor, most: int, rng: Generator) -> Tensor:
    """`count [b]` numbers below `number [b]`, all independent and in rising order; the rest of `[b, most]` is not used.

    The gaps between sorted uniform numbers are exponential ones over their sum, so nothing needs to be sorted; both
    have the wrong sign here.
    """
    height = noise((len(count), most + 1), rng).neg_().log1p_().cumsum(1)
    scale = number[:, None] / height.gather(1, count[:, None])
    return torch.minimum((height[:, :-1] * scale).long(), number[:, None] - 1)
