"""Rows of an example: many batches are corrupted in one call and split afterwards."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any

from torch import Tensor

from playground.answers import LossPositions, Target
from playground.batch import AttentionMask, Batch, Specials, Stream, Stretches, Tokens

OF_THE_VOCABULARY = ("word_counts", "log_noise_prob")
"""Tensors whose first axis counts words, not rows."""

Widths = tuple[int, ...] | None
"""For every part, the number of positions that are left of a stream; None leaves all."""


def rows(example: Batch, start: int, stop: int) -> Batch:
    """The rows from `start` up to `stop` of everything that an example holds."""
    number = len(example.tokens.ids)
    return _Splitter(number, (start, stop - start, number - stop)).examples(example)[1]


def batches(example: Batch, size: int, trim: bool = False) -> list[Batch]:
    """The whole example in parts of `size` rows, without a copy; the last may be smaller.

    With `trim` each part is without the columns in which none of its rows has anything.
    """
    full, rest = divmod(len(example.tokens.ids), size)
    return _Splitter(len(example.tokens.ids), (size,) * full + (rest,) * (rest > 0)).examples(example, size * trim)


def trimmed(example: Batch) -> Batch:
    """The same without the columns in which no row has anything: a block is as wide as the widest of all its rows."""
    number = len(example.tokens.ids)
    streams = (s for part in example.with_auxiliary for s in (part.inputs, part.decoder) if s is not None)
    padded = number and any(stream.padded for stream in streams)
    return batches(example, number, trim=True)[0] if padded else example


def _widths(stream: Stream | None, size: int) -> Widths:
    """For every part of `size` rows, up to which position any of its rows is real; all where none is."""
    if stream is None or not size or not _ragged(stream):
        return None
    ends, width = stream.ends, stream.ids.shape[1]
    return tuple(max(ends[first : first + size]) or width for first in range(0, len(ends), size))


def _ragged(stream: Stream) -> bool:
    """Whether its rows may end at different positions."""
    return stream.padded and bool(stream.ids.numel())


@dataclass
class _Splitter:
    """Splits all that has a row axis into parts of some `sizes`; a value in several places is split once."""

    rows: int
    sizes: tuple[int, ...]
    known: dict[tuple[int, Widths, Widths], list[Any]] = field(default_factory=dict)

    def examples(self, example: Batch, trim: int = 0) -> list[Batch]:
        """The parts of an example, trimmed where they have `trim` rows each; a decoder also attends to the encoder."""
        inputs, decoder = _widths(example.inputs, trim), _widths(example.decoder, trim)
        questions = (self.parts(q, decoder if q.at_decoder else inputs) for q in example.questions)
        return self._made(
            example,
            inputs=self.parts(example.inputs, inputs, inputs),
            decoder=self.parts(example.decoder, decoder, inputs),
            auxiliary=self._side_by_side(self.examples(part, trim) for part in example.auxiliary),
            questions=self._side_by_side(questions),
            drawn=self._same(None),
        )

    def parts(self, value: Any, own: Widths = None, source: Widths = None) -> list[Any]:
        """The parts of a value, as wide as its `own` stream or the `source` that it attends to."""
        key = (id(value), own, source)
        if key not in self.known:
            self.known[key] = self._parts(value, own, source)
        return self.known[key]

    def _parts(self, value: Any, own: Widths, source: Widths) -> list[Any]:
        match value:
            case Tensor():
                split = value.split(self.sizes) if len(value) == self.rows else self._same(value)
                return _narrow(split, own)
            case Stream():
                visible, query = (self.parts(mask, own, own) for mask in (value.attn_mask, value.query_attn_mask))
                cross = self.parts(value.cross_attn_mask, own, source)
                ends = [value.ends[a:b] for a, b in self._between] if _ragged(value) else self._same(None)
                masks = {"attn_mask": visible, "query_attn_mask": query, "cross_attn_mask": cross}
                return self._made(value, own, known_ends=ends, **masks)
            case Tokens() if value.padded:
                return self._made(value, own, sizes=[value.lengths_list[a:b] for a, b in self._between])
            case AttentionMask():
                painted = _narrow(self.parts(value.overrides, own), source, axis=2)
                read, above = self.parts(value.key_level, source), self.parts(value.odd_layers, own, source)
                return self._made(value, own, key_level=read, overrides=painted, odd_layers=above)
            case Stretches():
                starts = [value.starts[a:b] for a, b in self._between]
                return self._made(value, own, starts=starts if own is None else map(_before, starts, own))
            case Target():
                split = self._made(value, own, known=self._same(None))
                return [replace(q, known=known) for q, known in zip(split, self._scored(value, split), strict=True)]
            case Mapping():
                cut = self._side_by_side(self.parts(v, own) for v in value.values())
                return [dict(zip(value, row, strict=True)) for row in cut]
            case tuple() if not isinstance(next(iter(value), ""), str):
                return self._side_by_side(self.parts(v, own, source) for v in value)
        if not is_dataclass(value) or not fields(value) or isinstance(value, Specials):
            return self._same(value)
        return self._made(value, own)

    def _made(self, whole: Any, own: Widths = None, **cut: Iterable[Any]) -> list[Any]:
        """The parts of a dataclass: some fields are `cut` already, the others are as wide as its `own` stream."""
        for name in (f.name for f in fields(whole) if f.name not in cut):
            value = getattr(whole, name)
            cut[name] = self._same(value) if name in OF_THE_VOCABULARY else self.parts(value, own)
        return [type(whole)(**dict(zip(cut, row, strict=True))) for row in zip(*cut.values(), strict=True)]

    def _scored(self, whole: Target, parts: Sequence[Target]) -> Iterable[LossPositions]:
        """The scored positions of each part, computed for all parts at once."""
        known, end = whole.loss_positions, 0
        for part, (first, last) in zip(parts, self._between, strict=True):
            each = known.per_row[first:last]
            begin, end = end, end + sum(each)
            yield LossPositions(known.rows[begin:end] - first, known.positions[begin:end], part.loss_mask, each)

    @cached_property
    def _between(self) -> list[tuple[int, int]]:
        """The first row of each part, and the one behind its last."""
        return list(pairwise(accumulate(self.sizes, initial=0)))

    def _same(self, value: Any) -> list[Any]:
        return [value] * len(self.sizes)

    def _side_by_side(self, values: Iterable[Sequence[Any]]) -> list[tuple[Any, ...]]:
        cut = list(values)
        return list(zip(*cut, strict=True)) if cut else self._same(())


def _before(starts: Sequence[tuple[int, ...]], width: int) -> tuple[tuple[int, ...], ...]:
    """The numbers of each row that are below a width."""
    return tuple(tuple(start for start in row if start < width) for row in starts)


def _narrow(parts: Sequence[Any], widths: Widths, axis: int = 1) -> list[Any]:
    """The first positions of every part."""
    if widths is None or not parts or parts[0] is None:
        return list(parts)
    return [p if p.shape[axis] == width else p.narrow(axis, 0, width) for p, width in zip(parts, widths, strict=True)]
