"""Rows of an example: many batches are corrupted in one call and cut apart afterwards."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from torch import Tensor

from playground.example import Contrast, Count, Example, Question, Specials, Stream, Taught, Visible

OF_THE_VOCABULARY = ("counts", "log_chance")
"""Tensors whose first axis counts words, not rows."""

Cut = Callable[[Tensor], Sequence[Tensor]]
T = TypeVar("T")


def rows(example: Example, start: int, stop: int) -> Example:
    """The rows from `start` up to `stop` of everything that an example holds."""
    return _Cutter(len(example.tokens.ids), 1, lambda values: [values[start:stop]]).parts(example)[0]


def batches(example: Example, size: int) -> list[Example]:
    """The whole example in parts of `size` rows, without a copy."""
    number = len(example.tokens.ids)
    return _Cutter(number, -(-number // size), lambda values: values.split(size)).parts(example)


class _Cutter:
    """Cuts every tensor that has a row axis; what has none, or is shared by all rows, goes into every part."""

    def __init__(self, rows: int, number: int, cut: Cut) -> None:
        self.rows, self.number, self.cut = rows, number, cut
        self.done: dict[int, list[Any]] = {}

    def parts(self, value: T) -> list[T]:
        """The parts of a value; a value that stands in several places is cut once."""
        if id(value) not in self.done:
            self.done[id(value)] = self._parts(value)
        return self.done[id(value)]

    def _parts(self, value: Any) -> list[Any]:
        if isinstance(value, Tensor):
            return list(self.cut(value)) if len(value) == self.rows else [value] * self.number
        if isinstance(value, Mapping):
            return [dict(zip(value, row, strict=True)) for row in self._side_by_side(value.values())]
        if isinstance(value, tuple) and not isinstance(next(iter(value), ""), str):
            return self._side_by_side(value)
        if is_dataclass(value) and not isinstance(value, Specials):
            return self._fields(value)
        return [value] * self.number

    def _fields(self, value: Any) -> list[Any]:
        names = [f.name for f in fields(value)]
        cut = [
            [getattr(value, n)] * self.number if n in OF_THE_VOCABULARY else self.parts(getattr(value, n))
            for n in names
        ]
        return [type(value)(*row) for row in zip(*cut, strict=True)]

    def _side_by_side(self, values: Any) -> list[tuple[Any, ...]]:
        cut = [self.parts(v) for v in values]
        return list(zip(*cut, strict=True)) if cut else [()] * self.number


def trimmed(example: Example) -> Example:
    """The same without the columns in which no row has anything: a block is as wide as the widest of all its rows."""
    inputs = _width(example.inputs)
    decoder = _width(example.decoder) if example.decoder is not None else 0
    return replace(
        example,
        inputs=_narrow_stream(example.inputs, inputs, inputs),
        decoder=_narrow_stream(example.decoder, decoder, inputs) if example.decoder is not None else None,
        beside=tuple(trimmed(part) for part in example.beside),
        questions=tuple(_narrow_question(q, decoder if q.reader == "decoder" else inputs) for q in example.questions),
    )


def _width(stream: Stream) -> int:
    width = stream.real.shape[1]
    if not stream.padded or not width:
        return width
    return width - int(stream.real.any(0).flip(0).byte().argmax())


def _narrow_stream(stream: Stream, width: int, source: int) -> Stream:
    """The first `width` positions; a decoder looks across at the first `source` positions of the encoder."""
    if width == stream.ids.shape[1] and (stream.cross is None or source == stream.cross.read.shape[1]):
        return stream
    names = ("ids", "origin", "real", "segment", "position", "language")
    return replace(
        stream,
        **{name: getattr(stream, name)[:, :width] for name in names},
        visible=_narrow_visible(stream.visible, width, width),
        query_visible=stream.query_visible and _narrow_visible(stream.query_visible, width, width),
        cross=stream.cross and _narrow_visible(stream.cross, width, source),
    )


def _narrow_visible(visible: Visible, readers: int, read: int) -> Visible:
    window, without, painted = visible.window, visible.without, visible.painted
    return replace(
        visible,
        reader=visible.reader[:, :readers],
        read=visible.read[:, :read],
        window=None if window is None else (window[0][:, :readers], window[1][:, :readers]),
        without=None if without is None else without[:, :readers],
        painted=None if painted is None else painted[:, :readers, :read],
    )


def _narrow_question(question: Question, width: int) -> Question:
    if width == question.targets.shape[1]:
        return question
    against = question.against
    if isinstance(against, Contrast):
        against = replace(against, wrong=against.wrong[:, :width])
    if isinstance(against, Count):
        against = replace(against, seen=against.seen[:, :width])
    if isinstance(against, Taught):
        against = replace(against, place=against.place[:, :width])
    return replace(
        question,
        targets=question.targets[:, :width],
        graded=question.graded[:, :width],
        origin=question.origin[:, :width],
        reads=None if question.reads is None else question.reads[:, :width],
        against=against,
    )
