"""Rows of an example: many batches are corrupted in one call and cut apart afterwards."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import cached_property
from itertools import accumulate
from typing import Any

from torch import Tensor

from playground.batch import AttentionMask, Batch, LossPositions, Specials, Stream, Target, Tokens

OF_THE_VOCABULARY = ("word_counts", "log_noise_prob")
"""Tensors whose first axis counts words, not rows."""

Widths = tuple[int, ...] | None
"""For every part, how many positions of a stream are left of it; None leaves all."""


def rows(example: Batch, start: int, stop: int) -> Batch:
    """The rows from `start` up to `stop` of everything that an example holds."""
    number = len(example.tokens.ids)
    sizes = (start, stop - start, number - stop)
    return _Splitter(number, sizes).examples(example)[1]


def batches(example: Batch, size: int) -> list[Batch]:
    """The whole example in parts of `size` rows, without a copy; the last may be smaller."""
    return _splitter(example, size).examples(example)


def trimmed_batches(example: Batch, size: int) -> list[Batch]:
    """The same, each part without the columns in which none of its rows has anything."""
    return _splitter(example, size).examples(example, size)


def trimmed(example: Batch) -> Batch:
    """The same without the columns in which no row has anything: a block is as wide as the widest of all its rows."""
    streams = (s for part in example.with_auxiliary for s in (part.inputs, part.decoder) if s is not None)
    padded = len(example.tokens.ids) and any(stream.padded for stream in streams)
    return trimmed_batches(example, len(example.tokens.ids))[0] if padded else example


def _splitter(example: Batch, size: int) -> "_Splitter":
    full, rest = divmod(len(example.tokens.ids), size)
    return _Splitter(len(example.tokens.ids), (size,) * full + (rest,) * (rest > 0))


def _widths(stream: Stream | None, size: int | None) -> Widths:
    """For every part of `size` rows, up to which position any of its rows is real; all where none is."""
    if stream is None or size is None or not _measured(stream):
        return None
    ends, width = stream.ends, stream.ids.shape[1]
    return tuple(max(ends[first : first + size]) or width for first in range(0, len(ends), size))


def _measured(stream: Stream) -> bool:
    """Whether its rows may end at different positions."""
    return stream.padded and bool(stream.ids.numel())


@dataclass
class _Splitter:
    """Splits all that has a row axis into parts of some `sizes`; a value in several places is split once."""

    rows: int
    sizes: tuple[int, ...]
    known: dict[tuple[int, Widths, Widths], list[Any]] = field(default_factory=dict)

    def examples(self, example: Batch, trim: int | None = None) -> list[Batch]:
        """The parts of an example, trimmed where they have `trim` rows each; a decoder looks across at the encoder."""
        inputs, decoder = _widths(example.inputs, trim), _widths(example.decoder, trim)
        return self._made(
            example,
            inputs=self.parts(example.inputs, inputs, inputs),
            decoder=self.parts(example.decoder, decoder, inputs),
            auxiliary=self._side_by_side(self.examples(part, trim) for part in example.auxiliary),
            questions=self._side_by_side(
                self.parts(q, decoder if q.stream == "decoder" else inputs) for q in example.questions
            ),
            drawn=self._same(None),
        )

    def parts(self, value: Any, own: Widths = None, source: Widths = None) -> list[Any]:
        """The parts of a value, as wide as its `own` stream or the `source` that it looks at."""
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
                ends = [value.ends[a:b] for a, b in self._between] if _measured(value) else self._same(None)
                masks = {"attn_mask": visible, "query_attn_mask": query, "cross_attn_mask": cross}
                return self._made(value, own, known_ends=ends, **masks)
            case Tokens() if value.padded:
                return self._made(value, own, sizes=[value.lengths_list[a:b] for a, b in self._between])
            case AttentionMask():
                painted = _narrow(self.parts(value.overrides, own), source, axis=2)
                read, above = self.parts(value.key_level, source), self.parts(value.odd_layers, own, source)
                return self._made(value, own, key_level=read, overrides=painted, odd_layers=above)
            case Target():
                split = self._made(value, own, known=self._same(None))
                return [replace(q, known=asked) for q, asked in zip(split, self._asked(value, split), strict=True)]
            case Mapping():
                cut = self._side_by_side(self.parts(v, own) for v in value.values())
                return [dict(zip(value, row, strict=True)) for row in cut]
            case tuple() if not isinstance(next(iter(value), ""), str):
                return self._side_by_side(self.parts(v, own, source) for v in value)
        return self._made(value, own) if is_dataclass(value) and not isinstance(value, Specials) else self._same(value)

    def _made(self, whole: Any, own: Widths = None, **cut: Sequence[Any]) -> list[Any]:
        """The parts of a dataclass: some fields are `cut` already, the others are as wide as its `own` stream."""
        for name in (f.name for f in fields(whole) if f.name not in cut):
            value = getattr(whole, name)
            cut[name] = self._same(value) if name in OF_THE_VOCABULARY else self.parts(value, own)
        return [type(whole)(**dict(zip(cut, row, strict=True))) for row in zip(*cut.values(), strict=True)]

    def _asked(self, whole: Target, parts: Sequence[Target]) -> Iterable[LossPositions]:
        """Where the scored answers of each part stand, found for all parts at once."""
        asked, end = whole.loss_positions, 0
        for part, (first, last) in zip(parts, self._between, strict=True):
            each = asked.per_row[first:last]
            begin, end = end, end + sum(each)
            yield LossPositions(asked.rows[begin:end] - first, asked.positions[begin:end], part.loss_mask, each)

    @cached_property
    def _between(self) -> list[tuple[int, int]]:
        """The first row of each part, and the one behind its last."""
        ends = list(accumulate(self.sizes))
        return list(zip([0, *ends[:-1]], ends, strict=True))

    def _same(self, value: Any) -> list[Any]:
        return [value] * len(self.sizes)

    def _side_by_side(self, values: Iterable[Sequence[Any]]) -> list[tuple[Any, ...]]:
        cut = list(values)
        return list(zip(*cut, strict=True)) if cut else self._same(())


def _narrow(parts: Sequence[Any], widths: Widths, axis: int = 1) -> list[Any]:
    """The first positions of every part."""
    if widths is None or not parts or parts[0] is None:
        return list(parts)
    return [p if p.shape[axis] == width else p.narrow(axis, 0, width) for p, width in zip(parts, widths, strict=True)]
