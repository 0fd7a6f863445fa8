"""Build sequences of different lengths (text pieces and sentinels) for a whole batch at once."""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import pad

from playground.batch import Batch, Stream, Tokens, arange, arange_rows, language_ids_at, ones_view, stream


@dataclass(frozen=True)
class Ragged:
    """A ragged sequence, `[b, n]`: ids, the text position of each (-1 for markers), which are real.

    It is not `padded` where all rows turned out equally long.
    """

    ids: Tensor
    origin: Tensor
    real: Tensor
    padded: bool = True

    def stream(self, tokens: Tokens) -> Stream:
        """The same as the positions of a stack."""
        language = language_ids_at(tokens, self.origin) if "language" in tokens.labels else None
        return stream(self.ids, self.origin, self.real, padded=self.padded, language=language)


def collapse_spans(batch: Batch, markers: Tensor) -> Ragged:
    """The input, whose positions must be those of the text, with each span replaced by its marker `[b, m]`.

    Spans come from left to right and never overlap; a span of length -1 does not exist and leaves the text alone.
    """
    spans = batch.spans
    jump = (spans.length - 1) * spans.is_span
    jumped = jump.cumsum(1)
    at = spans.start - jumped + jump
    count = batch.tokens.lengths - (jumped[:, -1] if jump.shape[1] else 0)
    return _read(batch, batch.inputs.ids, markers, at, jump, count, spans.start.where(spans.length > 0, -1))


def extract_spans(batch: Batch, markers: Tensor) -> Ragged:
    """The tokens of the spans, each span behind its marker `[b, m]`."""
    spans = batch.spans
    length = spans.length + 1
    behind = shift((spans.start + length) * spans.is_span, 1).cummax(1).values
    jump = (spans.start - behind) * spans.is_span
    at, nowhere = length.cumsum(1) - length, torch.full_like(markers, -1)
    return _read(batch, batch.tokens.ids, markers, at, jump, length.sum(1), nowhere)


def shift(values: Tensor, first: int) -> Tensor:
    """The row moved one position to the right, `[b, n]`, with a new first value and without its last."""
    return pad(values, (1, 0), value=first)[:, :-1]


def ahead(values: Tensor, steps: int, blank: int) -> Tensor:
    """The value so many positions further on, `[b, n]`; blank beyond the end."""
    return pad(values[:, steps:], (0, min(steps, values.shape[1])), value=blank)


def _read(
    batch: Batch, ids: Tensor, markers: Tensor, at: Tensor, jump: Tensor, count: Tensor, marked: Tensor
) -> Ragged:
    """The text read from left to right, `count [b]` positions; at each marker, `at [b, m]`, the read position jumps.

    Behind the end, where it is not the same for all rows, a column of padding is read; a marker that does not exist is
    put into one more column, which is cut off. `marked [b, m]` are the text positions that markers come from.
    """
    tokens = batch.tokens
    real, padded = length_mask(count)
    width = real.shape[1]
    at = at.where(batch.spans.is_span, width)
    position = torch.ones((len(at), width + 1), dtype=torch.long, device=at.device)
    position[:, 0] = 0
    position = position.scatter_add_(1, at, jump).cumsum(1)
    if padded or not ids.shape[1]:
        ids = pad(ids, (0, 1), value=tokens.specials.pad)
    position = position.clamp_(0, ids.shape[1] - 1)
    ids = ids.gather(1, position).scatter_(1, at, markers)[:, :width]
    ids = ids.where(real, tokens.specials.pad) if tokens.padded else ids
    return Ragged(ids, position.scatter(1, at, marked)[:, :-1].where(real, -1), real, padded)


def first_special(inputs: Stream) -> Tensor:
    """Where the special token in front of each text stands, `[b, n]`; nowhere in a row without one."""
    return (arange_rows(inputs.ids) == 0) & (inputs.origin < 0) & inputs.valid


def length_mask(count: Tensor) -> tuple[Tensor, bool]:
    """The positions below the count of their row, as wide as the largest count, and whether any row has fewer."""
    least, width = torch.stack(count.aminmax()).tolist() if len(count) else (0, 0)
    if least < width:
        return arange(width, count.device) < count[:, None], True
    return ones_view(count[:, None].expand(-1, width)), False


def collect(batch: Batch, keep: Tensor) -> Ragged:
    """The kept tokens of the text alone, without gaps."""
    order, real, padded = kept_first(keep)
    ids = batch.tokens.ids.gather(1, order).where(real, batch.tokens.specials.pad)
    return Ragged(ids, order.where(real, -1), real, padded)


def with_marks(tokens: Tokens, marks: Tensor, order: Tensor, count: Tensor) -> Ragged:
    """The first `count [b]` of the tokens and `marks [b, s]` of each row, in an `order [b, t + s]`, tokens first."""
    real, padded = length_mask(count)
    order = order[:, : real.shape[1]]
    ids = torch.cat([tokens.ids, marks], dim=1).gather(1, order).where(real, tokens.specials.pad)
    return Ragged(ids, order.where(real & (order < tokens.ids.shape[1]), -1), real, padded)


def kept_first(keep: Tensor) -> tuple[Tensor, Tensor, bool]:
    """The kept positions of each row from left to right, `[b, n]`, which are real, and whether not all are."""
    real, padded = length_mask(keep.sum(1))
    order = torch.zeros(real.shape, dtype=torch.long, device=keep.device)
    return order.masked_scatter_(real, arange_rows(keep).masked_select(keep)), real, padded


def reorder(batch: Batch, order: Tensor, real: Tensor, padded: bool) -> Stream:
    """The input's positions in a new order `[b, n]`, numbered from 0; those that are not `real` become padding."""
    inputs = batch.inputs
    ids = inputs.ids.gather(1, order).where(real, batch.tokens.specials.pad)
    origin = inputs.origin.gather(1, order).where(real, -1)
    return stream(ids, origin, real, padded=padded, language=inputs.language_ids.gather(1, order))


def anchors(stream: Stream) -> Tensor:
    """The text position that each stream position `[b, n]` moves with: its own, else the next word's, else the last.

    So a marker in front of a sentence moves with that sentence.
    """
    position, own, width = arange_rows(stream.origin), stream.origin >= 0, stream.origin.shape[1]
    after = position.masked_fill(~own, width).flip(1).cummin(1).values.flip(1)
    before = position.masked_fill(~own, 0).cummax(1).values
    return stream.origin.gather(1, after.where(after < width, before)).clamp(min=0)


def append(ragged: Ragged, token: int | Tensor, pad: int, to_empty: bool = True) -> Ragged:
    """The same with one more token, or one `[b, 1]` for each row, after the last real one (an end token).

    Rows without any real token get one too, unless not `to_empty`.
    """
    count = ragged.real.sum(1, keepdim=True)
    blank = torch.full_like(count, pad)
    real, padded = length_mask(count[:, 0] + ((count[:, 0] > 0) | to_empty))
    ids = torch.cat([ragged.ids, blank], dim=1).scatter(1, count, token)[:, : real.shape[1]]
    origin = torch.cat([ragged.origin, torch.full_like(blank, -1)], dim=1)[:, : real.shape[1]]
    return Ragged(ids if to_empty else ids.where(real, pad), origin, real, padded)
