"""Streams of changing length, built for a whole batch at once: pieces of the text and marks, one after the other."""

from dataclasses import dataclass

import torch
from torch import Tensor

from playground.example import Example, Spans, Stream, running, stream


@dataclass(frozen=True)
class Woven:
    """A ragged result, `[b, n]`: ids, the place of the text each came from (-1 for markers), which are real.

    It is not `padded` where all rows turned out equally long.
    """

    ids: Tensor
    origin: Tensor
    real: Tensor
    padded: bool = True


def fold(example: Example, markers: Tensor) -> Woven:
    """The input, which still stands as the text does, with one marker `[b, m]` in the place of each span.

    Spans come from left to right and never overlap; a span that is not there (length -1) leaves the text alone.
    """
    spans, width = example.spans, example.tokens.ids.shape[1]
    lengths = example.tokens.lengths[:, None]
    stop = ((spans.start + spans.length) * spans.there).cummax(1).values
    before = torch.cat([torch.zeros_like(lengths), stop], dim=1)
    kept = (spans.start - before[:, :-1]) * spans.there
    first = torch.cat([_paired(before[:, :-1], _numbered(markers, width)), before[:, -1:]], dim=1)
    length = torch.cat([_paired(kept, spans.there.long()), lengths - before[:, -1:]], dim=1)
    return _laid(example, example.inputs.ids, markers, spans.start.where(spans.length > 0, -1), first, length)


def unfold(example: Example, spans: Spans, markers: Tensor) -> Woven:
    """What the spans hold, each behind its marker `[b, m]`."""
    first = _paired(_numbered(markers, example.tokens.ids.shape[1]), spans.start)
    length = _paired(spans.there.long(), spans.length.clamp(min=0))
    return _laid(example, example.tokens.ids, markers, torch.full_like(markers, -1), first, length)


def _laid(example: Example, ids: Tensor, markers: Tensor, marked: Tensor, first: Tensor, length: Tensor) -> Woven:
    """Pieces `[b, p]` one after the other: from place `first` on so many ids; markers stand behind the text."""
    count = length.sum(1)
    real, padded = below(count)
    columns, origins = [ids, markers], [running(ids), marked]
    if padded:
        blank = torch.full_like(count[:, None], example.tokens.specials.pad)
        columns, origins = [*columns, blank], [*origins, torch.full_like(blank, -1)]
        first = torch.cat([first, torch.full_like(blank, ids.shape[1] + markers.shape[1])], dim=1)
        length = torch.cat([length, real.shape[1] - count[:, None]], dim=1)
    ahead = first - (length.cumsum(1) - length)
    source = ahead.flatten().repeat_interleave(length.flatten(), output_size=real.numel()).view(real.shape)
    source = source + running(real)
    source = source.clamp(max=ids.shape[1] + markers.shape[1]) if padded else source
    return Woven(torch.cat(columns, dim=1).gather(1, source), torch.cat(origins, dim=1).gather(1, source), real, padded)


def _numbered(markers: Tensor, first: int) -> Tensor:
    return torch.arange(first, first + markers.shape[1], device=markers.device).expand_as(markers)


def _paired(one: Tensor, other: Tensor) -> Tensor:
    """One of each in turn, `[b, 2 m]`."""
    return torch.stack([one, other], dim=2).flatten(1)


def places_below(count: Tensor, width: int) -> Tensor:
    """Which of `width` places lie below the count of their row, `[b, width]`."""
    return torch.arange(width, device=count.device) < count[:, None]


def below(count: Tensor) -> tuple[Tensor, bool]:
    """The places below the count of their row, as wide as the largest count, and whether any row has fewer."""
    least, width = torch.stack(count.aminmax()).tolist() if len(count) else (0, 0)
    if least < width:
        return places_below(count, width), True
    return torch.ones((), dtype=torch.bool, device=count.device).expand(len(count), width), False


def collect(example: Example, keep: Tensor) -> Woven:
    """The kept tokens of the text alone, closed up."""
    order, real, padded = kept_first(keep)
    ids = example.tokens.ids.gather(1, order)
    if not padded:
        return Woven(ids, order, real, padded)
    return Woven(ids.where(real, example.tokens.specials.pad), order.where(real, -1), real)


def close_up(example: Example, keep: Tensor) -> Stream:
    """The kept positions `[b, n]` of the input alone."""
    return reorder(example, *kept_first(keep))


def kept_first(keep: Tensor) -> tuple[Tensor, Tensor, bool]:
    """The kept places of each row from left to right, `[b, n]`, which of them are real, and whether not all are."""
    real, padded = below(keep.sum(1))
    order = torch.zeros(real.shape, dtype=torch.long, device=keep.device)
    return order.masked_scatter_(real, running(keep).masked_select(keep)), real, padded


def reorder(example: Example, order: Tensor, real: Tensor, padded: bool) -> Stream:
    """The input's positions in a new order `[b, n]`, counted afresh; those that are not `real` become padding."""
    inputs = example.inputs
    ids = inputs.ids.gather(1, order).where(real, example.tokens.specials.pad)
    origin = inputs.origin.gather(1, order).where(real, -1)
    return stream(ids, origin, real, padded=padded, language=inputs.language.gather(1, order))


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


def append(woven: Woven, token: int | Tensor, pad: int) -> Woven:
    """The same with one more token, or one `[b, 1]` for each row, after the last real one (an end sign)."""
    count = woven.real.sum(1, keepdim=True)
    blank = torch.full_like(count, pad)
    real, padded = below(count[:, 0] + 1)
    ids = torch.cat([woven.ids, blank], dim=1).scatter(1, count, token)
    origin = torch.cat([woven.origin, torch.full_like(blank, -1)], dim=1)
    return Woven(ids, origin, real, padded)
