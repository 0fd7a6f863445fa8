"""Streams of changing length, built for a whole batch at once: pieces of the text and marks, one after the other."""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import pad

from playground.batch import Batch, Stream, Tokens, arange, arange_rows, language_ids_at, ones_view, stream
from playground.objectives.ops.sampling import used


@dataclass(frozen=True)
class Woven:
    """A ragged result, `[b, n]`: ids, the place of the text each came from (-1 for markers), which are real.

    It is not `padded` where all rows turned out equally long.
    """

    ids: Tensor
    origin: Tensor
    real: Tensor
    padded: bool = True

    def stream(self, tokens: Tokens) -> Stream:
        """What reads it."""
        language = language_ids_at(tokens, self.origin) if "language" in tokens.labels else None
        return stream(self.ids, self.origin, self.real, padded=self.padded, language=language)


def fold(example: Batch, markers: Tensor) -> Woven:
    """The input, which still stands as the text does, with one marker `[b, m]` in the place of each span.

    Spans come from left to right and never overlap; a span that is not there (length -1) leaves the text alone.
    """
    spans = example.spans
    jump = (spans.length - 1) * spans.is_span
    jumped = jump.cumsum(1)
    at = spans.start - jumped + jump
    count = example.tokens.lengths - (jumped[:, -1] if jump.shape[1] else 0)
    return _laid(example, example.inputs.ids, markers, at, jump, count, spans.start.where(spans.length > 0, -1))


def unfold(example: Batch, markers: Tensor) -> Woven:
    """What the spans hold, each behind its marker `[b, m]`."""
    spans = example.spans
    length = spans.length + 1
    behind = shift((spans.start + length) * spans.is_span, 1).cummax(1).values
    jump = (spans.start - behind) * spans.is_span
    at, nowhere = length.cumsum(1) - length, torch.full_like(markers, -1)
    return _laid(example, example.tokens.ids, markers, at, jump, length.sum(1), nowhere)


def shift(values: Tensor, first: int) -> Tensor:
    """The row moved one place to the right, `[b, n]`, with a new first value and without its last."""
    return pad(values, (1, 0), value=first)[:, :-1]


def _laid(
    example: Batch,
    ids: Tensor,
    markers: Tensor,
    at: Tensor,
    jump: Tensor,
    count: Tensor,
    marked: Tensor,
) -> Woven:
    """The text read from left to right, `count [b]` positions; from each marker on, `at [b, m]`, it has jumped so far.

    Behind the end, where it is not the same for all rows, a column of padding is read; a marker that is not there is
    put into one more column, which is cut off. `marked [b, m]` are the places of the text that markers come from.
    """
    tokens = example.tokens
    real, padded = below(count)
    width = real.shape[1]
    at = at.where(example.spans.is_span, width)
    place = torch.ones((len(at), width + 1), dtype=torch.long, device=at.device)
    place[:, 0] = 0
    place = place.scatter_add_(1, at, jump).cumsum(1)
    if padded or not ids.shape[1]:
        ids = torch.cat([ids, torch.full_like(count, tokens.specials.pad)[:, None]], dim=1)
    place = place.clamp_(0, ids.shape[1] - 1)
    ids = ids.gather(1, place).scatter_(1, at, markers)[:, :width]
    ids = ids.where(real, tokens.specials.pad) if tokens.padded else ids
    return Woven(ids, place.scatter(1, at, marked)[:, :-1].where(real, -1), real, padded)


def places_below(count: Tensor, width: int) -> Tensor:
    """Which of `width` places lie below the count of their row, at most all of them, `[b, width]`."""
    if width > TABLE:
        return arange(width, count.device) < count[:, None]
    return used(width, count.device).index_select(0, count)


TABLE = 1024
"""Up to this width the rows of all counts are kept; to fetch them takes a tenth of the time of comparing."""


def first_sign(inputs: Stream) -> Tensor:
    """Where the sign in front of each text stands, `[b, n]`; nowhere in a row without one."""
    return (arange_rows(inputs.ids) == 0) & (inputs.origin < 0) & inputs.valid


def below(count: Tensor) -> tuple[Tensor, bool]:
    """The places below the count of their row, as wide as the largest count, and whether any row has fewer."""
    least, width = torch.stack(count.aminmax()).tolist() if len(count) else (0, 0)
    if least < width:
        return places_below(count, width), True
    return ones_view(count[:, None].expand(-1, width)), False


def collect(example: Batch, keep: Tensor) -> Woven:
    """The kept tokens of the text alone, closed up."""
    order, real, padded = kept_first(keep)
    ids = example.tokens.ids.gather(1, order)
    if not padded:
        return Woven(ids, order, real, padded)
    return Woven(ids.where(real, example.tokens.specials.pad), order.where(real, -1), real)


def close_up(example: Batch, keep: Tensor) -> Stream:
    """The kept positions `[b, n]` of the input alone."""
    return reorder(example, *kept_first(keep))


def kept_first(keep: Tensor) -> tuple[Tensor, Tensor, bool]:
    """The kept places of each row from left to right, `[b, n]`, which of them are real, and whether not all are."""
    real, padded = below(keep.sum(1))
    order = torch.zeros(real.shape, dtype=torch.long, device=keep.device)
    return order.masked_scatter_(real, arange_rows(keep).masked_select(keep)), real, padded


def reorder(example: Batch, order: Tensor, real: Tensor, padded: bool) -> Stream:
    """The input's positions in a new order `[b, n]`, counted afresh; those that are not `real` become padding."""
    inputs = example.inputs
    ids = inputs.ids.gather(1, order).where(real, example.tokens.specials.pad)
    origin = inputs.origin.gather(1, order).where(real, -1)
    return stream(ids, origin, real, padded=padded, language=inputs.language_ids.gather(1, order))


def home(stream: Stream) -> Tensor:
    """The place of the text that each position `[b, n]` goes with: its own, else that of the next word, else the last.

    So a mark in front of a sentence moves with that sentence.
    """
    width = stream.origin.shape[1]
    place = torch.arange(width, device=stream.origin.device).expand_as(stream.origin)
    own = stream.origin >= 0
    after = place.masked_fill(~own, width).flip(1).cummin(1).values.flip(1)
    before = place.masked_fill(~own, 0).cummax(1).values
    return stream.origin.gather(1, after.where(after < width, before)).clamp(min=0)


def append(woven: Woven, token: int | Tensor, pad: int, to_empty: bool = True) -> Woven:
    """The same with one more token, or one `[b, 1]` for each row, after the last real one (an end sign).

    Rows without any real token get one too, unless not `to_empty`.
    """
    count = woven.real.sum(1, keepdim=True)
    blank = torch.full_like(count, pad)
    real, padded = below(count[:, 0] + ((count[:, 0] > 0) | to_empty))
    ids = torch.cat([woven.ids, blank], dim=1).scatter(1, count, token)[:, : real.shape[1]]
    origin = torch.cat([woven.origin, torch.full_like(blank, -1)], dim=1)[:, : real.shape[1]]
    return Woven(ids if to_empty else ids.where(real, pad), origin, real, padded)
