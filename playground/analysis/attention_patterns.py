"""Names for what an attention head does: how much of its weight lies on the cells of a known pattern.

Patterns after Clark et al. (arXiv:1906.04341, sec. 3) and Olsson et al. (arXiv:2209.11895).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from playground.batch import AttentionMask, Batch, Stream

NOTABLE, CLEARLY = 0.5, 1.5
"""A head follows a pattern once half of its weight lies on it and this many times what looking everywhere gives."""


@dataclass(frozen=True)
class Pattern:
    """A name, what such a head does in words, and the cells `[b, n, m]` (reader x read) of one matrix that make it."""

    name: str
    does: str
    cells: Callable[[Batch, Stream, Stream], Tensor]
    within: bool = True


@dataclass(frozen=True)
class PatternScore:
    """How far one head follows a pattern: its mean weight on the pattern's cells, and what looking everywhere gives.

    `layer` and `head` count from 0.
    """

    matrix: str
    layer: int
    head: int
    pattern: Pattern
    weight: float
    chance: float

    @property
    def notable(self) -> bool:
        return self.weight >= NOTABLE and self.weight >= CLEARLY * self.chance


def _near(by: int) -> Callable[[Batch, Stream, Stream], Tensor]:
    def cells(_: Batch, rows: Stream, columns: Stream) -> Tensor:
        there = (rows.origin >= 0)[:, :, None] & (columns.origin >= 0)[:, None, :]
        return there & (columns.origin[:, None, :] - rows.origin[:, :, None] == by)

    return cells


def _mask_to_neighbours(example: Batch, rows: Stream, columns: Stream) -> Tensor:
    hidden = rows.ids == example.tokens.specials.mask
    beside = (columns.origin[:, None, :] - rows.origin[:, :, None]).abs() == 1
    there = (rows.origin >= 0)[:, :, None] & (columns.origin >= 0)[:, None, :]
    return hidden[:, :, None] & beside & there


def _other_segment(_: Batch, rows: Stream, columns: Stream) -> Tensor:
    return rows.segment_ids[:, :, None] != columns.segment_ids[:, None, :]


def _same_word(_: Batch, rows: Stream, columns: Stream) -> Tensor:
    same = rows.ids[:, :, None] == columns.ids[:, None, :]
    there = (rows.origin >= 0)[:, :, None] & (columns.origin >= 0)[:, None, :]
    return same & there & (rows.origin[:, :, None] != columns.origin[:, None, :])


def _after_same(example: Batch, rows: Stream, columns: Stream) -> Tensor:
    same = _same_word(example, rows, columns)
    return torch.nn.functional.pad(same, (1, 0))[:, :, :-1]


def _source(example: Batch, _: Stream, columns: Stream) -> Tensor:
    written = next(q.origin for q in example.questions if q.stream == "decoder")
    return (written >= 0)[:, :, None] & (written[:, :, None] == columns.origin[:, None, :])


PATTERNS = (
    Pattern("previous word", "looks at the word before", _near(-1)),
    Pattern("next word", "looks at the word after", _near(1)),
    Pattern("mask to neighbours", "looks from a hidden word at the words beside it", _mask_to_neighbours),
    Pattern("other segment", "looks at the other text of the pair", _other_segment),
    Pattern("same word", "looks at the same word elsewhere", _same_word),
    Pattern("after the same word", "looks at what followed the same word earlier (induction)", _after_same),
    Pattern("source", "looks at the word of the source that is to be written next", _source, within=False),
)
"""All patterns; `within` a stream, or from a decoder to its source."""


def habits(example: Batch, weights: Mapping[str, Tensor]) -> tuple[PatternScore, ...]:
    """How far every head follows every pattern that this example can show, the firmest first.

    `weights` are attention weights by matrix, `[layers, b, h, n, m]` as `LanguageModel.attention` gives them.
    """
    found = [
        habit
        for matrix, every in weights.items()
        if (sides := _sides(example, matrix)) is not None
        for pattern in PATTERNS
        if pattern.within == (matrix != "cross")
        for habit in _of(pattern, matrix, every, example, *sides)
    ]
    return tuple(sorted(found, key=lambda habit: -habit.weight))


def _sides(example: Batch, matrix: str) -> tuple[Stream, Stream, AttentionMask] | None:
    """Who reads and who is read in a matrix, and what may be seen; None where the readers are not whole streams."""
    inputs, decoder = example.inputs, example.decoder
    if matrix == "decoder" and decoder is not None:
        return decoder, decoder, decoder.attn_mask
    asked = any(question.stream == "decoder" for question in example.questions)
    if matrix == "cross" and asked and decoder is not None and decoder.cross_attn_mask is not None:
        return decoder, inputs, decoder.cross_attn_mask
    return (inputs, inputs, inputs.attn_mask) if matrix in ("encoder", "content") else None


def _of(
    pattern: Pattern,
    matrix: str,
    weights: Tensor,
    example: Batch,
    rows: Stream,
    columns: Stream,
    visible: AttentionMask,
) -> list[PatternScore]:
    seen = visible.dense() & rows.valid[:, :, None] & columns.valid[:, None, :]
    cells = pattern.cells(example, rows, columns) & seen
    readers = cells.any(2)
    if not bool(readers.any()):
        return []
    chance = float((cells.sum(2) / seen.sum(2).clamp(min=1))[readers].mean())
    mass = (weights * cells[None, :, None]).sum(-1)
    shares = (mass * readers[None, :, None]).sum((1, 3)) / readers.sum()
    return [
        PatternScore(matrix, layer, head, pattern, float(share), chance)
        for layer, row in enumerate(shares.tolist())
        for head, share in enumerate(row)
    ]
