"""Streams of changing length, built for a whole batch at once: keep some tokens, put markers between them."""

from dataclasses import dataclass

import torch
from torch import Tensor

from playground.example import Example

LAST = 2**31 - 1


@dataclass(frozen=True)
class Woven:
    """A ragged result, `[b, n]`: ids, the place of the text each came from (-1 for markers), which are real."""

    ids: Tensor
    origin: Tensor
    real: Tensor


def weave(example: Example, keep: Tensor, markers: Tensor, marked: Tensor) -> Woven:
    """The kept tokens `[b, t]` in order, with a marker `[b, m]` at the start of each span; `marked` is its origin."""
    tokens = example.tokens
    places = torch.arange(tokens.ids.shape[1], device=tokens.ids.device).expand_as(tokens.ids)
    key = torch.cat(
        [
            (2 * example.spans.start).masked_fill(~example.spans.there, LAST),
            (2 * places + 1).masked_fill(~keep, LAST),
        ],
        dim=1,
    )
    order = key.argsort(dim=1, stable=True)
    count = (key < LAST).sum(1)
    width = int(count.max()) if len(count) else 0
    order = order[:, :width]
    real = places_below(count, width)
    ids = torch.cat([markers, tokens.ids], dim=1).gather(1, order).where(real, tokens.specials.pad)
    origin = torch.cat([marked, places], dim=1).gather(1, order).where(real, -1)
    return Woven(ids, origin, real)


def places_below(count: Tensor, width: int) -> Tensor:
    """Which of `width` places lie below the count of their row, `[b, width]`."""
    return torch.arange(width, device=count.device) < count[:, None]


def collect(example: Example, keep: Tensor) -> Woven:
    """The kept tokens alone, closed up."""
    tokens = example.tokens
    count = keep.sum(1)
    width = int(count.max()) if len(count) else 0
    order = (~keep).long().argsort(dim=1, stable=True)[:, :width]
    real = places_below(count, width)
    return Woven(tokens.ids.gather(1, order).where(real, tokens.specials.pad), order.where(real, -1), real)


def append(woven: Woven, token: int, pad: int) -> Woven:
    """The same with one more token after the last real one of every row (an end sign)."""
    ids = torch.cat([woven.ids, torch.full_like(woven.ids[:, :1], pad)], dim=1) if woven.ids.shape[1] else None
    if ids is None:
        ids = woven.ids.new_full((woven.ids.shape[0], 1), pad)
    count = woven.real.sum(1)
    real = places_below(count + 1, ids.shape[1])
    ids = ids.scatter(1, count[:, None], token)
    origin = torch.cat([woven.origin, torch.full_like(ids[:, :1], -1)], dim=1)
    return Woven(ids, origin, real)
