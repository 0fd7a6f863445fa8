"""Rows of a batch: many batches are corrupted in one call and split afterwards; rows of several become one batch."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any

from torch import Tensor

from playground.answers import LossPositions, Target
from playground.batch import (
    MASKED_LEVEL,
    OPTIONAL,
    AttentionMask,
    Batch,
    Spans,
    Specials,
    Stream,
    Stretches,
    Tokens,
    arange_rows,
    ones_view,
    zeros_view,
)
from playground.errors import UserError

OF_THE_VOCABULARY = ("word_counts", "log_noise_prob")
"""Tensors whose first axis counts words, not rows."""

OPTIONAL_PARTS = ("reads", "loss_weights", "mean_over")
"""Tensors by position that a target may have."""

Widths = tuple[int, ...] | None
"""For every part, the number of positions that are left of a stream; None leaves all."""


def rows(batch: Batch, start: int, stop: int) -> Batch:
    """The rows from `start` up to `stop` of everything that a batch holds."""
    number = len(batch.tokens.ids)
    return _Splitter(number, (start, stop - start, number - stop)).batches(batch)[1]


def split_rows(batch: Batch, size: int, trim: bool = False) -> list[Batch]:
    """The whole batch in parts of `size` rows, without a copy; the last may be smaller.

    With `trim` each part is without the columns in which none of its rows has anything.
    """
    full, rest = divmod(len(batch.tokens.ids), size)
    return _Splitter(len(batch.tokens.ids), (size,) * full + (rest,) * (rest > 0)).batches(batch, size * trim)


def trimmed(batch: Batch) -> Batch:
    """The same without the columns in which no row has anything: a block is as wide as the widest of all its rows."""
    number = len(batch.tokens.ids)
    streams = (s for part in batch.with_auxiliary for s in (part.inputs, part.decoder) if s is not None)
    padded = number and any(stream.padded for stream in streams)
    return split_rows(batch, number, trim=True)[0] if padded else batch


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

    def batches(self, batch: Batch, trim: int = 0) -> list[Batch]:
        """The parts of a batch, trimmed where they have `trim` rows each; a decoder also attends to the encoder."""
        inputs, decoder = _widths(batch.inputs, trim), _widths(batch.decoder, trim)
        targets = (self.parts(target, decoder if target.at_decoder else inputs) for target in batch.targets)
        return self._made(
            batch,
            inputs=self.parts(batch.inputs, inputs, inputs),
            decoder=self.parts(batch.decoder, decoder, inputs),
            auxiliary=self._side_by_side(self.batches(part, trim) for part in batch.auxiliary),
            targets=self._side_by_side(targets),
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
                attn_mask, query = (self.parts(mask, own, own) for mask in (value.attn_mask, value.query_attn_mask))
                cross = self.parts(value.cross_attn_mask, own, source)
                ends = [value.ends[a:b] for a, b in self._between] if _ragged(value) else self._same(None)
                masks = {"attn_mask": attn_mask, "query_attn_mask": query, "cross_attn_mask": cross}
                return self._made(value, own, known_ends=ends, mems=self.parts(value.mems), **masks)
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


def gathered(batches: Sequence[Batch], rows: Sequence[Tensor]) -> Batch:
    """One batch of the rows of several batches, each padded to the widest; `rows` are their numbers in that batch.

    Every target is asked of the rows of the batches that ask it; targets that differ in nothing but rows become one.
    """
    decoders = [batch.decoder for batch in batches if batch.decoder is not None]
    if any(e.auxiliary or e.inputs.query_attn_mask is not None for e in batches) or 0 < len(decoders) < len(batches):
        raise UserError(
            "The rows of a batch can be shared out only among objectives that read the same one or two stacks."
        )
    gather, pad = _Gatherer(rows), batches[0].tokens.specials.roles.get("pad", 0)
    whole = replace(
        batches[0],
        tokens=gather.tokens([batch.tokens for batch in batches]),
        inputs=gather.stream([batch.inputs for batch in batches], pad),
        decoder=gather.stream(decoders, pad) if decoders else None,
        selected=gather([batch.selected for batch in batches]),
        actions=gather([batch.actions for batch in batches]),
        prediction_order=gather([batch.prediction_order for batch in batches]),
        time=None,
        block=None,
        spans=Spans(
            gather([batch.spans.start for batch in batches]),
            gather([batch.spans.length for batch in batches], -1),
        ),
        drawn=None,
    )
    asked = [{_asks(target): target for target in batch.targets} for batch in batches]
    shared = [[targets.get(ask) for targets in asked] for ask in dict.fromkeys(ask for each in asked for ask in each)]
    return replace(whole, targets=tuple(gather.target(targets, whole, pad) for targets in shared))


def _asks(target: Target) -> tuple[Any, ...]:
    """What targets of several batches have in common that are one target."""
    given = [getattr(target, name) is None for name in OPTIONAL_PARTS]
    return target.name, type(target.kind), target.stream, target.weight, target.copying, *given


@dataclass(frozen=True)
class _Gatherer:
    """Puts values of several groups of rows into one tensor; its other positions hold a blank."""

    rows: Sequence[Tensor]

    def __call__(self, values: Sequence[Tensor], blank: int = 0) -> Tensor:
        """The values `[rows, ...]` of all groups, as wide as the widest."""
        sizes = (max(axis) for axis in zip(*(value.shape[1:] for value in values), strict=True))
        whole = values[0].new_full((sum(map(len, self.rows)), *sizes), blank)
        for rows, value in zip(self.rows, values, strict=True):
            whole[(rows, *map(slice, value.shape[1:]))] = value.to(whole.dtype)
        return whole

    def target(self, targets: Sequence[Target | None], batch: Batch, pad: int) -> Target:
        """The target of some groups among the rows of a whole batch; nothing is asked of the others' rows."""
        first = next(target for target in targets if target is not None)
        width = batch.stream_of(first).ids.shape[1]

        def gather(name: str, blank: int = 0) -> Tensor:
            like = getattr(first, name)
            empty = like.new_full((1, width, *like.shape[2:]), blank)
            return self([empty if target is None else getattr(target, name) for target in targets], blank)

        return replace(
            first,
            labels=gather("labels", pad if first.kind.names_words else 0),
            loss_mask=gather("loss_mask"),
            origin=gather("origin", -1),
            known=None,
            **{name: gather(name) for name in OPTIONAL_PARTS if getattr(first, name) is not None},
        )

    def tokens(self, tokens: Sequence[Tokens]) -> Tokens:
        """The texts of all groups, with the labels that all have."""
        names = [name for name in tokens[0].labels if all(name in each.labels for each in tokens)]
        optional = [name for name in OPTIONAL if name not in OF_THE_VOCABULARY and getattr(tokens[0], name) is not None]
        fields = ("lengths", "word_ids", "sentence_ids", *optional)
        return replace(
            tokens[0],
            ids=self([each.ids for each in tokens], tokens[0].specials.roles.get("pad", 0)),
            labels={name: self([each.labels[name] for each in tokens], -1) for name in names},
            neighbours={},
            padded=True,
            sizes=None,
            **{name: self([getattr(each, name) for each in tokens]) for name in fields},
        )

    def stream(self, streams: Sequence[Stream], pad: int) -> Stream:
        """The positions of all groups, and who attends to whom."""
        blanks = {"ids": pad, "origin": -1, "valid": 0, "segment_ids": 0, "language_ids": 0}
        made = {name: self([getattr(each, name) for each in streams], blank) for name, blank in blanks.items()}
        counted = all(each.position_ids.stride(0) == 0 for each in streams)  # 0, 1, 2 ... in all rows
        position = arange_rows(made["ids"]) if counted else self([each.position_ids for each in streams])
        second = [each.second_position_ids for each in streams]
        crossing = [each.cross_attn_mask for each in streams if each.cross_attn_mask is not None]
        return replace(
            streams[0],
            **made,
            position_ids=position,
            second_position_ids=self.known(second, [zeros_view(each.ids) for each in streams]),
            attn_mask=self.mask([each.attn_mask for each in streams]),
            cross_attn_mask=self.mask(crossing) if crossing else None,
            padded=True,
            known_ends=None,
        )

    def mask(self, masks: Sequence[AttentionMask]) -> AttentionMask:
        """The attention mask of all groups: no query attends to what pads its row."""
        if any(mask.odd_layers is not None for mask in masks):
            even = [replace(mask, odd_layers=None) for mask in masks]
            return replace(self.mask(even), odd_layers=self.mask([mask.layer(1) for mask in masks]))
        query, key = ([getattr(mask, level).short() for mask in masks] for level in ("query_level", "key_level"))
        ends = zip(*((None, None) if mask.window is None else mask.window for mask in masks), strict=True)
        first, last = map(self.known, ends, ([zeros_view(q) for q in query], [q * 0 + MASKED_LEVEL for q in query]))
        closed = [ones_view(q)[:, :, None].expand(-1, -1, k.shape[1]) for q, k in zip(query, key, strict=True)]
        return AttentionMask(
            self(query),
            self(key, MASKED_LEVEL),
            overrides=self.known([mask.overrides for mask in masks], closed),
            window=None if first is None or last is None else (first, last),
            excluded=self.known([mask.excluded for mask in masks], [q * 0 - 1 for q in query]),
        )

    def known(self, values: Sequence[Tensor | None], blanks: Sequence[Tensor]) -> Tensor | None:
        """The values of all groups, blanks of those that have none; None where no group has any."""
        if all(value is None for value in values):
            return None
        return self([blank if value is None else value for value, blank in zip(values, blanks, strict=True)])
