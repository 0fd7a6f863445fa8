"""Context windows: the radius of each word, and where the words around it begin and end."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Generator, Tensor

from playground.batch import Batch, Specials, Stream, arange, arange_rows, gather_origin
from playground.errors import UserError
from playground.objectives import plan_overrides
from playground.objectives.ops import sampling


def draw_radii(batch: Batch, most: int, shrink: bool, rng: Generator) -> Tensor:
    """For every token `[b, t]` `most`, or an integer from 1 to `most`, uniform and shared by the pieces of a word."""
    ids, word = batch.tokens.ids, batch.tokens.word_ids
    if not shrink or not ids.shape[1]:
        return torch.full_like(ids, most)
    drawn = (sampling.noise(tuple(ids.shape), rng) * most).long() + 1
    return drawn.gather(1, word.clamp(0, ids.shape[1] - 1))


def override_radii(batch: Batch, overrides: Sequence[int], most: int) -> Tensor:
    """The radii `[b, t]` of a plan by hand, one for each word, at most `most`."""
    count = plan_overrides.word_count(batch.tokens)
    if len(overrides) != count:
        raise UserError(f"The plan radius names {len(overrides)} for {count} words; give one for each.")
    for radius in overrides:
        if not 1 <= radius <= most:
            raise UserError(
                f"The radius {radius} does not fit; it must lie between 1 and {most}, the knob window_size."
            )
    by_word = torch.tensor([*overrides, 1], device=batch.tokens.word_ids.device)
    return by_word[batch.tokens.word_ids.clamp(0, count)]


def describe_radii(batch: Batch, plan: Tensor, row: int) -> dict[str, Any]:
    """The radius of every word of a row."""
    real = batch.tokens.valid[row]
    by_word = dict(zip(batch.tokens.word_ids[row][real].tolist(), plan[row][real].tolist(), strict=True))
    return {"radius": list(by_word.values())}


def bounds(wall: Tensor) -> tuple[Tensor, Tensor]:
    """The first and the last position `[b, n]` of the stretch between walls `[b, n]`; a wall stands alone."""
    position, width = arange_rows(wall), wall.shape[1]
    if not width:
        return position, position
    before = position.masked_fill(~wall, -1).cummax(1).values + 1
    after = position.masked_fill(~wall, width).flip(1).cummin(1).values.flip(1) - 1
    return position.where(wall, before), position.where(wall, after)


def words_around(stream: Stream, specials: Specials) -> tuple[Tensor, Tensor]:
    """The first and last of the adjacent words around each position; special tokens and padding part them."""
    return bounds(~stream.valid | ~specials.in_text(stream.ids))


def window(batch: Batch, radius: Tensor) -> tuple[Tensor, Tensor]:
    """The first and last input position `[b, n]` within the radius `[b, t]` of each, clipped at specials and ends."""
    inputs = batch.inputs
    first, last = words_around(inputs, batch.tokens.specials)
    position, radius = arange_rows(inputs.ids), gather_origin(radius, inputs.origin)
    return torch.maximum(first, position - radius), torch.minimum(last, position + radius)


def packed(there: Tensor) -> tuple[Tensor, Tensor]:
    """The marked positions without gaps: their indices `[b, n]`, and which of those are real."""
    count = there.sum(1)
    width = int(count.max()) if len(count) else 0
    slot = (there.cumsum(1) - 1).masked_fill(~there, width)
    index = slot.new_zeros((len(there), width + 1)).scatter(1, slot, arange_rows(there))[:, :width]
    return index, arange(width, count.device) < count[:, None]
