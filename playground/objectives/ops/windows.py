"""Windows over words: how far each word looks, and where the words around it begin and end."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Generator, Tensor

from playground.batch import Batch, Stream, arange_rows, gather_origin
from playground.errors import Refusal
from playground.objectives import plan_overrides
from playground.objectives.ops import sampling
from playground.objectives.ops.ragged import places_below


@dataclass(frozen=True)
class Radii:
    """How many places each word looks to either side, `[b, t]`."""

    radius: Tensor


def draw_radii(example: Batch, most: int, shrink: bool, rng: Generator) -> Radii:
    """`most` for every word, or a number from 1 to `most`, each with the same chance; pieces of a word share it."""
    ids, word = example.tokens.ids, example.tokens.word_ids
    if not shrink or not ids.shape[1]:
        return Radii(torch.full_like(ids, most))
    drawn = (sampling.noise(tuple(ids.shape), rng) * most).long() + 1
    return Radii(drawn.gather(1, word.clamp(0, ids.shape[1] - 1)))


def wished_radii(example: Batch, wanted: Sequence[int], most: int) -> Radii:
    """The radii that a person named, one for each word, at most `most`."""
    count = plan_overrides.word_count(example.tokens)
    if len(wanted) != count:
        raise Refusal(f"The plan radius names {len(wanted)} for {count} words; give one for each.")
    for radius in wanted:
        if not 1 <= radius <= most:
            raise Refusal(f"The radius {radius} does not fit; it must lie between 1 and {most}, the knob radius.")
    by_word = torch.tensor([*wanted, 1], device=example.tokens.word_ids.device)
    return Radii(by_word[example.tokens.word_ids.clamp(0, count)])


def tell_radii(example: Batch, plan: Radii, row: int) -> list[int]:
    """The radius of every word of a row."""
    real = example.tokens.valid[row]
    by_word = dict(zip(example.tokens.word_ids[row][real].tolist(), plan.radius[row][real].tolist(), strict=True))
    return list(by_word.values())


def runs(ids: Tensor, wall: Tensor) -> tuple[Tensor, Tensor]:
    """The first and the last place `[b, n]` of the words around each place; a wall stands alone."""
    place = arange_rows(ids)
    if not ids.shape[1]:
        return place, place
    before = place.masked_fill(~wall, -1).cummax(1).values + 1
    after = place.masked_fill(~wall, ids.shape[1]).flip(1).cummin(1).values.flip(1) - 1
    return place.where(wall, before), place.where(wall, after)


def words_around(stream: Stream, lowest: int) -> tuple[Tensor, Tensor]:
    """The run of words of a stream around each place; signs (ids below `lowest`) and padding are walls."""
    return runs(stream.ids, ~stream.valid | (stream.ids < lowest))


def window(example: Batch, plan: Radii) -> tuple[Tensor, Tensor]:
    """The first and the last place `[b, n]` that each place of the input looks at, clipped at signs and ends."""
    inputs = example.inputs
    first, last = words_around(inputs, example.tokens.specials.unknown)
    place = torch.arange(inputs.ids.shape[1], device=inputs.ids.device)
    radius = gather_origin(plan.radius, inputs.origin)
    return torch.maximum(first, place - radius), torch.minimum(last, place + radius)


def packed(there: Tensor) -> tuple[Tensor, Tensor]:
    """The places that are there, closed up: their indices `[b, n]`, and which of those are real."""
    count = there.sum(1)
    width = int(count.max()) if len(count) else 0
    slot = (there.cumsum(1) - 1).masked_fill(~there, width)
    places = torch.arange(there.shape[1], device=there.device).expand(there.shape)
    index = slot.new_zeros((len(there), width + 1)).scatter(1, slot, places)[:, :width]
    return index, places_below(count, width)
