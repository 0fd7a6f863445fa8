"""Random draws over ragged batches without a loop: exact counts, orders, compositions (objectives reference, 22c)."""

from collections.abc import Sequence

import torch
from torch import Generator, Tensor

from playground.example import Tokens

_GOLDEN, _FIRST, _SECOND = (c - 2**64 for c in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))


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


def exactly(count: Tensor, candidates: Tensor, rng: Generator) -> Tensor:
    """Mark exactly `count [b]` of the candidates `[b, t]` of each row, every set equally likely."""
    return lowest(count, candidates, noise(tuple(candidates.shape), rng))


def lowest(count: Tensor, candidates: Tensor, dice: Tensor) -> Tensor:
    """Mark the `count [b]` candidates `[b, t]` of each row that have the lowest numbers."""
    order = dice.masked_fill(~candidates, 2.0).argsort(dim=1)
    return torch.zeros_like(candidates).scatter_(1, order, _places(order) < count[:, None]) & candidates


def _places(order: Tensor) -> Tensor:
    return torch.arange(order.shape[1], device=order.device).expand_as(order)


def among(shares: Sequence[float], shape: tuple[int, ...], rng: Generator) -> Tensor:
    """Numbers of outcomes, counted from 0, each drawn with its share of the sum of all shares."""
    ends = torch.tensor(shares, dtype=torch.double, device=rng.device).cumsum(0)
    return torch.bucketize(noise(shape, rng).double(), ends[:-1] / ends[-1], right=True)


def half_even(share: float, number: Tensor) -> Tensor:
    """`share * number` rounded half to even in double precision, as Python's `round` does."""
    return (share * number.double()).round().long()


def ceiling(share: float, number: Tensor) -> Tensor:
    """`share * number` rounded up, forgiving the last bit (0.3 * 200 is 60, not 61)."""
    return (share * number.double() - 1e-9).ceil().long()


def composition(total: Tensor, parts: Tensor, widest: int, most: int, rng: Generator) -> Tensor:
    """Lengths `[b, most]` of a uniform composition of `total [b]` into `parts [b]` positive parts; the rest is 0.

    `widest` bounds `total`; `parts <= total` is the caller's promise (rows with `parts` 0 give all 0).
    """
    places = torch.arange(max(widest, 1), device=total.device)
    inner = (places[None, 1:] < total[:, None]) if widest > 1 else places.new_zeros((len(total), 0), dtype=torch.bool)
    cuts = exactly((parts - 1).clamp(min=0), inner, rng)
    part = torch.cat([torch.zeros_like(total)[:, None], cuts.long().cumsum(1)], dim=1)
    counted = ((places < total[:, None]) & (parts > 0)[:, None]).long()
    return torch.zeros((len(total), most), dtype=torch.long, device=total.device).scatter_add_(
        1, part.clamp(max=most - 1), counted[:, : part.shape[1]]
    )


def poisson_budget(budget: Tensor, mean: float, most: int, rng: Generator) -> Tensor:
    """Poisson lengths `[b, most]` drawn until their sum reaches `budget [b]`, the last one cut to fit; -1 is unused."""
    drawn = torch.poisson(torch.full((len(budget), most), mean, device=budget.device), generator=rng).long()
    drawn[:, -1] = most
    before = drawn.cumsum(1) - drawn
    needed = before < budget[:, None]
    return torch.minimum(drawn, budget[:, None] - before).masked_fill(~needed, -1)
