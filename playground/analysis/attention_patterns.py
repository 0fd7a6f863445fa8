"""Names for what an attention head does: how much of its weight lies on the cells of a known pattern.

Patterns after Clark et al. (arXiv:1906.04341, sec. 3) and Olsson et al. (arXiv:2209.11895).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from playground.batch import AttentionMask, Batch, Stream

NOTABLE, CLEARLY = 0.5, 1.5
"""A head follows a pattern from this weight on its cells, and this multiple of the weight under uniform attention."""


@dataclass(frozen=True)
class Pattern:
    """A name, what such a head does in words, and the cells `[b, n, m]` (query x key) of one matrix that make it."""

    name: str
    does: str
    cells: "Cells"
    within: bool = True


@dataclass(frozen=True)
class PatternScore:
    """A head's mean weight on the cells of a pattern, and the weight there under uniform attention, `chance`."""

    matrix: str
    layer: int  # from 0
    head: int  # from 0
    pattern: Pattern
    weight: float
    chance: float

    @property
    def notable(self) -> bool:
        return self.weight >= NOTABLE and self.weight >= CLEARLY * self.chance


Cells = Callable[[Batch, Stream, Stream], Tensor]


def _words(rows: Stream, columns: Stream) -> Tensor:
    """Where query and key are words of the text."""
    return (rows.origin >= 0)[:, :, None] & (columns.origin >= 0)[:, None, :]


def _distance(rows: Stream, columns: Stream) -> Tensor:
    return columns.origin[:, None, :] - rows.origin[:, :, None]


def _near(by: int) -> Cells:
    return lambda _, rows, columns: _words(rows, columns) & (_distance(rows, columns) == by)


def _mask_to_neighbours(batch: Batch, rows: Stream, columns: Stream) -> Tensor:
    hidden = rows.ids == batch.tokens.specials.roles.get("mask", -1)
    return hidden[:, :, None] & (_distance(rows, columns).abs() == 1) & _words(rows, columns)


def _other_segment(_: Batch, rows: Stream, columns: Stream) -> Tensor:
    return rows.segment_ids[:, :, None] != columns.segment_ids[:, None, :]


def _same_word(_: Batch, rows: Stream, columns: Stream) -> Tensor:
    same = rows.ids[:, :, None] == columns.ids[:, None, :]
    return same & _words(rows, columns) & (_distance(rows, columns) != 0)


def _after_same(batch: Batch, rows: Stream, columns: Stream) -> Tensor:
    return torch.nn.functional.pad(_same_word(batch, rows, columns), (1, 0))[:, :, :-1]


def _special(batch: Batch, rows: Stream, columns: Stream) -> Tensor:
    ids, specials = columns.ids, batch.tokens.specials
    signs = torch.tensor(specials.signs, device=ids.device)
    ends = ~specials.in_text(ids) & ~torch.isin(ids, signs) & columns.valid
    return rows.valid[:, :, None] & ends[:, None, :]


def _own_segment(_: Batch, rows: Stream, columns: Stream) -> Tensor:
    same = rows.segment_ids[:, :, None] == columns.segment_ids[:, None, :]
    return same & (columns.segment_ids.amax(1) > 0)[:, None, None]


def _source(batch: Batch, _: Stream, columns: Stream) -> Tensor:
    written = next(target.origin for target in batch.targets if target.at_decoder)
    return (written >= 0)[:, :, None] & (written[:, :, None] == columns.origin[:, None, :])


PATTERNS = (
    Pattern("previous word", "attends to the previous word", _near(-1)),
    Pattern("next word", "attends to the next word", _near(1)),
    Pattern("special tokens", "attends to special tokens such as [CLS] and [SEP]", _special),
    Pattern("mask to neighbours", "attends from a masked word to its neighbours", _mask_to_neighbours),
    Pattern("other segment", "attends to the other text of the pair", _other_segment),
    Pattern("own segment", "attends within its own text of the pair (block)", _own_segment),
    Pattern("same word", "attends to the same word elsewhere", _same_word),
    Pattern("after the same word", "attends to what follows the same word elsewhere (induction)", _after_same),
    Pattern("source", "attends to the source word that the decoder predicts next", _source, within=False),
)
"""All patterns; `within` a stream, or from a decoder to its source."""


def habits(batch: Batch, weights: Mapping[str, Tensor]) -> tuple[PatternScore, ...]:
    """How far every head follows every pattern, highest first; `weights` are `[layers, b, h, n, m]` by matrix."""
    found = [
        score
        for matrix, every in weights.items()
        if (sides := _sides(batch, matrix)) is not None
        for pattern in PATTERNS
        if pattern.within == (matrix != "cross")
        for score in _scores(pattern, matrix, every, batch, *sides)
    ]
    return tuple(sorted(found, key=lambda score: -score.weight))


def _sides(batch: Batch, matrix: str) -> tuple[Stream, Stream, AttentionMask] | None:
    """The streams of queries and keys of a matrix, and its mask; None where the queries are not a whole stream."""
    inputs, decoder = batch.inputs, batch.decoder
    if matrix == "decoder" and decoder is not None:
        return decoder, decoder, decoder.attn_mask
    asked = any(target.at_decoder for target in batch.targets)
    if matrix == "cross" and asked and decoder is not None and decoder.cross_attn_mask is not None:
        return decoder, inputs, decoder.cross_attn_mask
    return (inputs, inputs, inputs.attn_mask) if matrix in ("encoder", "content") else None


def _scores(
    pattern: Pattern, matrix: str, weights: Tensor, batch: Batch, rows: Stream, columns: Stream, mask: AttentionMask
) -> list[PatternScore]:
    real = rows.valid[:, :, None] & columns.valid[:, None, :]
    fits = pattern.cells(batch, rows, columns) & real
    found = []
    for layer, every in enumerate(weights):
        seen = mask.layer(layer).dense() & real
        cells = fits & seen
        readers = cells.any(2)
        if bool(readers.any()):
            chance = float((cells.sum(2) / seen.sum(2).clamp(min=1))[readers].mean())
            shares = ((every * cells[:, None]).sum(-1) * readers[:, None]).sum((0, 2)) / readers.sum()
            found += [PatternScore(matrix, layer, h, pattern, share, chance) for h, share in enumerate(shares.tolist())]
    return found
