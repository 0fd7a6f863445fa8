"""Rows of an example: many batches are corrupted in one call and cut apart afterwards."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, TypeVar

import torch
from torch import Tensor

from playground.example import Contrast, Count, Example, Question, Specials, Stream, Taught, Visible

OF_THE_VOCABULARY = ("counts", "log_chance")
"""Tensors whose first axis counts words, not rows."""

T = TypeVar("T")


def rows(example: Example, start: int, stop: int) -> Example:
    """The rows from `start` up to `stop` of everything that an example holds."""
    return _Cutter(len(example.tokens.ids), (stop - start,), start).parts(example)[0]


def batches(example: Example, size: int) -> list[Example]:
    """The whole example in parts of `size` rows, without a copy."""
    number = len(example.tokens.ids)
    full, rest = divmod(number, size)
    return _Cutter(number, (size,) * full + (rest,) * (rest > 0)).parts(example)


def trimmed_batches(example: Example, size: int) -> list[Example]:
    """The same, each part trimmed to its own widest row."""
    trimmer, parts = _Trimmer(), batches(example, size)
    if not any(stream.padded for piece in example.everything for stream in (piece.inputs, piece.decoder) if stream):
        return parts
    return [trimmer.example(*each) for each in zip(parts, _extents(example, size), strict=True)]


class _Cutter:
    """Cuts every tensor that has a row axis into parts of some sizes; what is alike in every part is made once."""

    def __init__(self, rows: int, sizes: tuple[int, ...], start: int = 0) -> None:
        self.rows, self.sizes, self.start = rows, sizes, start
        self.even = len(set(sizes)) < 2
        self.done: dict[int, list[Any]] = {}

    def parts(self, value: T) -> list[T]:
        """The parts of a value; a value that stands in several places is cut once."""
        if id(value) not in self.done:
            self.done[id(value)] = self._parts(value)
        return self.done[id(value)]

    def _parts(self, value: Any) -> list[Any]:
        if isinstance(value, Tensor):
            return self._tensor(value) if len(value) == self.rows else self._shared(value)
        if isinstance(value, Mapping):
            return [dict(zip(value, row, strict=True)) for row in self._side_by_side(value.values())]
        if isinstance(value, tuple) and not isinstance(next(iter(value), ""), str):
            return self._side_by_side(value)
        if is_dataclass(value) and not isinstance(value, Specials):
            return self._fields(value)
        return self._shared(value)

    def _shared(self, value: Any) -> list[Any]:
        return [value] * len(self.sizes)

    def _tensor(self, values: Tensor) -> list[Tensor]:
        """Parts of the memory of the whole; rows that are one row, or empty, are the same in every part."""
        if self.even and self.sizes and (values.stride(0) == 0 or not values.numel()):
            return self._shared(values[self.start : self.start + self.sizes[0]])
        behind = self.start + sum(self.sizes)
        return list((values[self.start : behind]).split(list(self.sizes)))

    def _fields(self, value: Any) -> list[Any]:
        names = [f.name for f in fields(value)]
        cut = [
            self._shared(getattr(value, n)) if n in OF_THE_VOCABULARY else self.parts(getattr(value, n)) for n in names
        ]
        if all(values[0] is values[-1] for values in cut):
            return self._shared(_made(type(value), dict(zip(names, (values[0] for values in cut), strict=True))))
        return [_made(type(value), dict(zip(names, row, strict=True))) for row in zip(*cut, strict=True)]

    def _side_by_side(self, values: Any) -> list[tuple[Any, ...]]:
        cut = [self.parts(v) for v in values]
        return list(zip(*cut, strict=True)) if cut else self._shared(())


def _made(kind: type[T], values: dict[str, Any]) -> T:
    """A frozen value with all its fields at once: setting them one by one took a third of the cutting."""
    made = object.__new__(kind)
    made.__dict__.update(values)
    return made


@dataclass(frozen=True)
class _Extent:
    """How many positions of each stream hold anything in some row."""

    inputs: int
    decoder: int
    beside: tuple["_Extent", ...]


def trimmed(example: Example) -> Example:
    """The same without the columns in which no row has anything: a block is as wide as the widest of all its rows."""
    extents = _extents(example, len(example.tokens.ids))
    return _Trimmer().example(example, extents[0]) if extents else example


def _extents(example: Example, size: int) -> list[_Extent]:
    """The extent of every part of `size` rows."""
    inputs = _widths(example.inputs, size)
    decoder = _widths(example.decoder, size) if example.decoder is not None else [0] * len(inputs)
    beside = [_extents(part, size) for part in example.beside]
    rows = zip(*beside, strict=True) if beside else [()] * len(inputs)
    return [_Extent(*each) for each in zip(inputs, decoder, rows, strict=True)]


def _widths(stream: Stream, size: int) -> list[int]:
    """For every part of `size` rows, up to which position any of its rows is real; all where none is."""
    number, width = stream.real.shape
    parts = -(-number // size) if size else 0
    if not stream.padded or not width or not parts:
        return [width] * parts
    real = torch.nn.functional.pad(stream.real, (0, 0, 0, parts * size - number)).view(parts, size, width).any(1)
    return (width - real.flip(1).byte().argmax(1)).tolist()


class _Trimmer:
    """Takes the first positions of everything; what several parts share is narrowed once for each width."""

    def __init__(self) -> None:
        self.done: dict[tuple[int, ...], Any] = {}

    def example(self, example: Example, extent: _Extent) -> Example:
        """The first positions; the very same example where there is nothing to take off."""
        inputs = self.stream(example.inputs, extent.inputs, extent.inputs)
        decoder = example.decoder and self.stream(example.decoder, extent.decoder, extent.inputs)
        beside = tuple(self.example(*each) for each in zip(example.beside, extent.beside, strict=True))
        questions = tuple(
            self.question(q, extent.decoder if q.reader == "decoder" else extent.inputs) for q in example.questions
        )
        new = (inputs, decoder, *beside, *questions)
        old = (example.inputs, example.decoder, *example.beside, *example.questions)
        if all(one is other for one, other in zip(new, old, strict=True)):
            return example
        return _with(example, inputs=inputs, decoder=decoder, beside=beside, questions=questions)

    def stream(self, stream: Stream, width: int, source: int) -> Stream:
        """The first `width` positions; a decoder looks across at the first `source` positions of the encoder."""
        if width == stream.ids.shape[1] and (stream.cross is None or source == stream.cross.read.shape[1]):
            return stream
        names = ("ids", "origin", "real", "segment", "position", "language")
        return _with(
            stream,
            **{name: self.first(getattr(stream, name), width) for name in names},
            visible=self.visible(stream.visible, width, width),
            query_visible=stream.query_visible and self.visible(stream.query_visible, width, width),
            cross=stream.cross and self.visible(stream.cross, width, source),
        )

    def visible(self, visible: Visible, readers: int, read: int) -> Visible:
        """Who sees whom among the first positions."""
        key = (id(visible), readers, read)
        if key not in self.done:
            painted = visible.painted
            self.done[key] = _with(
                visible,
                reader=self.first(visible.reader, readers),
                read=self.first(visible.read, read),
                window=visible.window and tuple(self.first(edge, readers) for edge in visible.window),
                without=self.first(visible.without, readers),
                painted=None if painted is None else painted[:, :readers, :read],
                above=visible.above and self.visible(visible.above, readers, read),
            )
        return self.done[key]

    def question(self, question: Question, width: int) -> Question:
        """What is asked at the first positions."""
        if width == question.targets.shape[1]:
            return question
        names = ("targets", "graded", "origin", "reads")
        against = question.against
        known = {Contrast: "wrong", Count: "seen", Taught: "place"}
        if against is not None:
            name = known[type(against)]
            against = _with(against, **{name: self.first(getattr(against, name), width)})
        return _with(question, against=against, **{name: self.first(getattr(question, name), width) for name in names})

    def first(self, values: Tensor | None, width: int) -> Tensor | None:
        """The first positions of values `[b, n, ...]`, where there are any."""
        if values is None or values.shape[1] == width:
            return values
        key = (id(values), width)
        if key not in self.done:
            self.done[key] = values.narrow(1, 0, width)
        return self.done[key]


def _with(value: T, **new: Any) -> T:
    """The value with some fields replaced."""
    return _made(type(value), {**vars(value), **new})
