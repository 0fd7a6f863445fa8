"""Batched random draws without loops over rows: exact counts, orders, compositions (objectives reference, 22c)."""

import math
from collections.abc import Sequence
from itertools import accumulate

import torch
from torch import Generator, Tensor

from playground.batch import Tokens, arange, arange_rows, is_all_true

_GOLDEN, _FIRST, _SECOND = (c - 2**64 for c in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))
MANY = 2**15
"""From this many integers on, all rows are sorted at once (radix sort), in a third of the time of sorting each row."""

CALL = 1000
"""A few tensor calls on a column of all rows cost about as much as sorting this many numbers in rows."""


def noise(shape: tuple[int, ...], rng: Generator) -> Tensor:
    """Uniform numbers in [0, 1) on the device of the generator."""
    return torch.rand(shape, generator=rng, device=rng.device)


def text_noise(tokens: Tokens, copies: int, salt: int, rng: Generator, width: int | None = None) -> Tensor:
    """Uniform numbers `[b, t]` or `[b, width]`: new ones, or one of the text's `copies` fixed draws, in turn by epoch.

    A text without an example id counts as example 0 in epoch 0.
    """
    width = tokens.ids.shape[1] if width is None else width
    if not copies:
        return noise((len(tokens.ids), width), rng)
    zeros = torch.zeros_like(tokens.lengths)
    row, epoch = (zeros if number is None else number for number in (tokens.example_ids, tokens.epoch))
    return fixed_noise(row, epoch % copies, width, salt)


def fixed_noise(row: Tensor, copy: Tensor, width: int, salt: int) -> Tensor:
    """Uniform numbers `[b, width]` that depend only on the example id `row [b]`, its `copy [b]` and the `salt`.

    Each position hashes its own number, so neither the batch, nor padding, nor earlier draws matter.
    """
    key = _hash(_hash(_hash(row) + copy) + salt)
    return ((_hash(key[:, None] + arange(width, row.device)) >> 40) & (2**24 - 1)).float() / 2**24


def _hash(number: Tensor) -> Tensor:
    """The output function of SplitMix64 (Steele, Lea and Flood 2014, Fast splittable pseudorandom numbers)."""
    number = number + _GOLDEN
    number = (number ^ ((number >> 30) & (2**34 - 1))) * _FIRST
    number = (number ^ ((number >> 27) & (2**37 - 1))) * _SECOND
    return number ^ ((number >> 31) & (2**33 - 1))


def inverse(order: Tensor) -> Tensor:
    """The inverse of a permutation in each row, `[b, t]`."""
    return torch.empty_like(order).scatter_(1, order, arange_rows(order))


def rank(values: Tensor) -> Tensor:
    """The rank of each value in its row, `[b, t]`; equal values keep their order."""
    return inverse(values.argsort(dim=1, stable=True))


def shuffled(group: Tensor, rng: Generator) -> Tensor:
    """A random order in which group 0 `[b, t]` comes first, then 1, 2 and 3: the rank of each member, `[b, t]`.

    Integers of 31 bits sort faster than floats, and many rows faster as one (radix sort): the highest bits are the row,
    the next two the group, the others a random key of at least 16 bits.
    """
    rows, width = group.shape
    together = group.numel() >= MANY and rows <= 2**13
    bits = 29 - (rows - 1).bit_length() * together
    key = torch.randint(2**bits, (rows, width), generator=rng, device=rng.device, dtype=torch.int32)
    key += group.int() << bits
    if not together:
        return rank(key)
    row = torch.arange(rows, dtype=torch.int32, device=key.device)[:, None] << (bits + 2)
    order = (key + row).flatten().sort(stable=True).indices
    position = arange_rows(key).flatten()
    return torch.empty_like(position).index_copy_(0, order, position).view(rows, width)


def orders(first: Tensor, number: Tensor, rng: Generator) -> Tensor:
    """For each row the `number [b]` integers from `first [b]` on in a random order; all rows in one, `[m]`."""
    most = int(number.max()) if len(number) else 0
    used = arange(most, number.device) < number[:, None]
    return ((noise((len(number), most), rng) + 2.0 * ~used).argsort(dim=1) + first[:, None]).masked_select(used)


def exactly(count: Tensor, candidates: Tensor, rng: Generator) -> Tensor:
    """Mark exactly `count [b]` of the candidates `[b, t]` of each row, or all there are, every set equally likely."""
    return exact_choice(count, candidates, rng)[1]


def marked(positions: Tensor, like: Tensor) -> Tensor:
    """True at some flat positions `[m]` of a shape `[b, t]`."""
    marks = torch.zeros(like.shape, dtype=torch.bool, device=like.device)
    marks.view(-1).index_fill_(0, positions, True)
    return marks


def exact_choice(count: Tensor, candidates: Tensor, rng: Generator) -> tuple[Tensor, Tensor]:
    """Exactly `count [b]` of the candidates `[b, t]` of each row: their flat positions `[m]`, and marks `[b, t]`.

    Where many rows need few each, they are drawn one after the other; else all candidates get a random key, which takes
    longer for each position but is one call.
    """
    number = candidates.sum(1)
    count = torch.minimum(count, number)
    most = int(count.max()) if len(count) else 0
    if most * CALL < candidates.numel():
        positions = _one_by_one(count, number, most, candidates, rng)
        positions = positions if is_all_true(candidates) else _of_candidates(positions, number, candidates)
    else:
        keys = noise(tuple(candidates.shape), rng) + 2.0 * ~candidates
        positions = keys.topk(most, dim=1, largest=False).indices.T + first_of_rows(candidates)
    used = arange(most, count.device)[:, None] < count
    positions = positions.masked_select(used)
    return positions, marked(positions, candidates)


def bernoulli(rate: float, number: int, rng: Generator) -> Tensor:
    """Those of so many indices that are drawn, each with the same probability, in rising order, `[m]`.

    The gaps between drawn indices follow the geometric distribution, so nothing is drawn for the others.
    """
    if rate <= 0 or rate >= 1:
        return torch.arange(number if rate > 0 else 0, device=rng.device)
    scale, begin, drawn = -1 / math.log1p(-rate), -1, []
    while begin < number:
        likely = rate * (number - begin)
        gaps = exponential((int(likely + 6 * math.sqrt(likely)) + 6,), scale, rng).long() + 1
        drawn.append(gaps.cumsum(0).add_(begin))
        begin = int(drawn[-1][-1])
    indices = torch.cat(drawn)
    return indices[: int(torch.searchsorted(indices, number))]


def _one_by_one(count: Tensor, number: Tensor, most: int, candidates: Tensor, rng: Generator) -> Tensor:
    """`count [b]` of the first `number [b]` positions of each row, flat, `[most, b]`; the excess is not used."""
    row, end = first_of_rows(candidates), candidates.shape[1] - 1
    drawn, limit = (each.clamp_(max=end) + row for each in _floyd(count, number, most, rng))
    taken = torch.zeros(candidates.numel(), dtype=torch.bool, device=row.device)
    for one, last in zip(drawn.unbind(), limit.unbind(), strict=True):
        torch.where(taken.index_select(0, one), last, one, out=one)
        taken.scatter_(0, one, True)
    return drawn


def _of_candidates(positions: Tensor, number: Tensor, candidates: Tensor) -> Tensor:
    """For the k-th flat position of a row that of its k-th candidate, `[m, b]`; each row has `number [b]` of them."""
    index = positions + (number.cumsum(0) - number - first_of_rows(candidates))
    there = candidates.flatten().nonzero()[:, 0]
    return there[index.clamp_(max=len(there) - 1)]


def first_of_rows(values: Tensor) -> Tensor:
    """The flat position at which each row of `[b, t]` begins, `[b]`."""
    return arange(len(values), values.device) * values.shape[1]


def _floyd(count: Tensor, number: Tensor, most: int, rng: Generator) -> tuple[Tensor, Tensor]:
    """`count [b]` of `number [b]` indices, one after the other for all rows at once: draws and limits `[most, b]`.

    Draw up to a limit that grows by one; where the index is taken, take the limit itself: every set is equally likely
    (Floyd, in Bentley 1987, Programming pearls: a sample of brilliance). Draws beyond a row's count are not used and
    may pass its number. A product with noise never reaches the limit, which is far below the 24 bits of a float.
    """
    limit = (number - count) + arange(most, number.device)[:, None]
    return (noise((most, len(number)), rng) * (limit + 1)).long(), limit


def lowest(count: Tensor, candidates: Tensor, keys: Tensor) -> Tensor:
    """Mark the `count [b]` candidates `[b, t]` of each row that have the lowest keys in [0, 1)."""
    width = candidates.shape[1]
    keys, few = keys + 2.0 * ~candidates, min(int(count.max()), width) if len(count) else 0
    order = keys.topk(few, dim=1, largest=False).indices if 2 * few < width else keys.argsort(dim=1)
    return torch.zeros_like(candidates).scatter_(1, order, arange_rows(order) < count[:, None]) & candidates


def among(weights: Sequence[float], shape: tuple[int, ...], rng: Generator) -> Tensor:
    """Indices of outcomes, each drawn in proportion to its weight."""
    return outcomes(weights, noise(shape, rng).double())


def outcomes(weights: Sequence[float], noise: Tensor) -> Tensor:
    """The indices of outcomes that uniform numbers in [0, 1) stand for, in proportion to their weights."""
    drawn, total = noise * sum(weights), list(accumulate(weights))
    number = torch.zeros(noise.shape, dtype=torch.long, device=noise.device)
    for end in total[:-1]:
        number += drawn >= end
    return number


def half_even(ratio: float, number: Tensor) -> Tensor:
    """`ratio * number` rounded half to even in double precision, as Python's `round` does."""
    return (ratio * number.double()).round().long()


def half_even_single(ratio: float, number: Tensor) -> Tensor:
    """`ratio * number` rounded half to even in single precision, as T5's released code does: 0.15 * 190 is 29."""
    return (torch.tensor(ratio, dtype=torch.float32) * number.float()).round().long()


def ceiling(ratio: float, number: Tensor) -> Tensor:
    """`ratio * number` rounded up, less the error of the last bit (0.3 * 200 is 60, not 61)."""
    return (ratio * number.double() - 1e-9).ceil().long()


def subset(count: Tensor, number: Tensor, most: int, rng: Generator) -> Tensor:
    """`count [b]` different integers below `number [b]`, sorted, any set equally likely; padded by it to `[b, most]`.

    No row may want more than its number.
    """
    drawn, limit = _floyd(count, number, most, rng)
    for k, (one, last) in enumerate(zip(drawn.unbind(), limit.unbind(), strict=True)):
        torch.where((drawn[:k] == one).any(0), last, one, out=one)
    return drawn.where(arange(most, number.device)[:, None] < count, number).T.contiguous().sort(dim=1).values


def poisson_budget(budget: Tensor, mean: float, rng: Generator) -> tuple[Tensor, Tensor]:
    """Poisson lengths `[b, m]` drawn until their sum reaches `budget [b]`, and how many these are, `[b]`.

    The last one is cut to fit; -1 is unused. Equal to throwing `budget` tokens at a line with exponential gaps and
    counting them by stretches of length `mean`: each stretch holds a Poisson number.
    """
    widest = int(budget.max()) if len(budget) else 0
    if not widest:
        return torch.full_like(budget[:, None], -1), torch.zeros_like(budget)
    stretch = exponential((len(budget), widest), 1 / mean, rng).cumsum(1).long()
    last = stretch.gather(1, (budget - 1).clamp(min=0)[:, None])[:, 0]
    count = (last + 1).where(budget > 0, 0)
    number = int(count.max())
    stretch = stretch.where(arange(widest, budget.device) < budget[:, None], number)
    lengths = (arange(number + 1, budget.device) < count[:, None]).long() - 1
    return lengths.scatter_add_(1, stretch, torch.ones_like(stretch))[:, :number], count


def exponential(shape: tuple[int, ...], mean: float, rng: Generator) -> Tensor:
    """Numbers of the exponential distribution with a mean."""
    return noise(shape, rng).neg_().log1p_().mul_(-mean)


def sorted_positions(count: Tensor, number: Tensor, most: int, rng: Generator) -> Tensor:
    """`count [b]` integers below `number [b]`, all independent, in rising order; the rest of `[b, most]` is not used.

    The gaps between sorted uniform numbers are exponential ones over their sum, so nothing needs to be sorted.
    """
    height = exponential((len(count), most + 1), 1.0, rng).cumsum(1)
    scale = number[:, None] / height.gather(1, count[:, None])
    return torch.minimum((height[:, :-1] * scale).long(), number[:, None] - 1)
