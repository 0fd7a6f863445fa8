"""Rows of an example: many batches are corrupted in one call and cut apart afterwards."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import partial
from typing import Any, TypeVar

import torch
from torch import Tensor

from playground.example import Example, Specials, Stream, Tokens, Visible
from playground.late import partly

LATE = {
    Example: ("tokens", "chosen", "action", "rank", "spans"),
    Tokens: ("ids", "lengths", "word", "sentence", "labels", "neighbours", "row", "visit"),
}
"""What a model reads of hardly any batch: it is cut when somebody looks at it."""

OF_THE_VOCABULARY = ("counts", "log_chance")
"""Tensors whose first axis counts words, not rows."""

T = TypeVar("T")

Widths = Sequence[int] | None
"""For every part, how many positions of a stream are left of it; None leaves all."""


def rows(example: Example, start: int, stop: int) -> Example:
    """The rows from `start` up to `stop` of everything that an example holds."""
    return _Cutter(len(example.tokens.ids), (stop - start,), start).examples(example)[0]


def batches(example: Example, size: int) -> list[Example]:
    """The whole example in parts of `size` rows, without a copy."""
    return _cutter(example, size).examples(example)


def trimmed_batches(example: Example, size: int) -> list[Example]:
    """The same, each part without the columns in which none of its rows has anything."""
    return _cutter(example, size).examples(example, _extent(example, size))


def trimmed(example: Example) -> Example:
    """The same without the columns in which no row has anything: a block is as wide as the widest of all its rows."""
    number = len(example.tokens.ids)
    return trimmed_batches(example, number)[0] if number and _padded(example) else example


def _cutter(example: Example, size: int) -> "_Cutter":
    number = len(example.tokens.ids)
    full, rest = divmod(number, size)
    return _Cutter(number, (size,) * full + (rest,) * (rest > 0))


@dataclass(frozen=True)
class _Extent:
    """How many positions of each stream hold anything in some row of every part."""

    inputs: Widths = None
    decoder: Widths = None
    beside: "tuple[_Extent, ...]" = ()


def _extent(example: Example, size: int) -> _Extent:
    decoder = None if example.decoder is None else _widths(example.decoder, size)
    return _Extent(_widths(example.inputs, size), decoder, tuple(_extent(part, size) for part in example.beside))


def _widths(stream: Stream, size: int) -> Widths:
    """For every part of `size` rows, up to which position any of its rows is real; all where none is."""
    number, width = stream.real.shape
    if not stream.padded or not number or not width:
        return None
    parts = -(-number // size)
    real = torch.nn.functional.pad(stream.real, (0, 0, 0, parts * size - number)).view(parts, size, width).any(1)
    return (width - real.flip(1).byte().argmax(1)).tolist()


def _padded(example: Example) -> bool:
    streams = (s for part in example.everything for s in (part.inputs, part.decoder) if s is not None)
    return any(stream.padded for stream in streams)


class _Same(list[Any]):
    """Parts that are one and the same value."""


class _Cutter:
    """Cuts all that has a row axis into parts of some sizes; what is alike in every part is made once."""

    def __init__(self, rows: int, sizes: tuple[int, ...], start: int = 0) -> None:
        self.rows, self.sizes, self.start = rows, sizes, start
        self.even = len(set(sizes)) < 2
        self.done: dict[tuple[int, ...], list[Any]] = {}

    def examples(self, example: Example, extent: _Extent | None = None) -> list[Example]:
        """The parts of an example; a decoder looks across at the positions of the encoder that are left."""
        extent = extent or _Extent()
        inputs, decoder = extent.inputs, extent.decoder
        beside = zip(example.beside, extent.beside or [None] * len(example.beside), strict=True)
        return self._made(
            example,
            inputs=self.parts(example.inputs, inputs, inputs),
            decoder=self.parts(example.decoder, decoder, inputs),
            beside=self._side_by_side(self.examples(*each) for each in beside),
            questions=self._side_by_side(
                self.parts(q, decoder if q.reader == "decoder" else inputs) for q in example.questions
            ),
        )

    def parts(self, value: T, own: Widths = None, source: Widths = None) -> list[T]:
        """The parts of a value, as wide as its `own` stream or the `source` that it looks at.

        What stands in several places is cut once.
        """
        key = (id(value), id(own), id(source))
        if key not in self.done:
            self.done[key] = self._parts(value, own, source)
        return self.done[key]

    def _parts(self, value: Any, own: Widths, source: Widths) -> list[Any]:
        match value:
            case Tensor():
                return _first(self._tensor(value), own)
            case Stream():
                return self._made(value, own, own, cross=self.parts(value.cross, own, source))
            case Visible():
                painted = _first(self.parts(value.painted, own), source, axis=2)
                read, above = self.parts(value.read, source), self.parts(value.above, own, source)
                return self._made(value, own, read=read, painted=painted, above=above)
            case Mapping():
                cut = self._side_by_side(self.parts(v, own) for v in value.values())
                return [dict(zip(value, row, strict=True)) for row in cut]
            case tuple() if not isinstance(next(iter(value), ""), str):
                return self._side_by_side(self.parts(v, own, source) for v in value)
        if is_dataclass(value) and not isinstance(value, Specials):
            return self._made(value, own)
        return self._shared(value)

    def _made(self, whole: Any, own: Widths = None, source: Widths = None, **cut: list[Any]) -> list[Any]:
        """The parts of a value: some fields are `cut`, some late, the others as wide as its `own` stream."""
        kind = next((known for known in LATE if isinstance(whole, known)), type(whole))
        late = LATE.get(kind, ())
        for name in [f.name for f in fields(whole) if f.name not in late and f.name not in cut]:
            value = getattr(whole, name)
            cut[name] = self._shared(value) if name in OF_THE_VOCABULARY else self.parts(value, own, source)
        alike = {name: parts[0] for name, parts in cut.items() if isinstance(parts, _Same)}
        if late:
            cutter = self if kind is Example else self.again()  # who held his own parts would never be freed
            find = (partial(cutter.one, whole, number) for number in range(len(self.sizes)))
            made = [partly(kind, alike, late, each) for each in find]
        elif len(alike) == len(cut):
            return self._shared(_new(kind, alike))
        else:
            made = [_new(kind, alike) for _ in self.sizes]
        for name in cut.keys() - alike.keys():
            for part, value in zip(made, cut[name], strict=True):
                part.__dict__[name] = value
        return made

    def one(self, whole: Any, number: int, name: str) -> Any:
        """One part of a field."""
        return self.parts(getattr(whole, name))[number]

    def again(self) -> "_Cutter":
        """One that cuts in the same way and has cut nothing yet."""
        return _Cutter(self.rows, self.sizes, self.start)

    def _shared(self, value: Any) -> list[Any]:
        return _Same([value] * len(self.sizes))

    def _tensor(self, values: Tensor) -> list[Tensor]:
        """Parts of the memory of the whole; rows that are one row, or empty, are the same in every part."""
        if len(values) != self.rows:
            return self._shared(values)
        if self.even and self.sizes and (values.stride(0) == 0 or not values.numel()):
            return self._shared(values[self.start : self.start + self.sizes[0]])
        behind = self.start + sum(self.sizes)
        return list((values[self.start : behind]).split(list(self.sizes)))

    def _side_by_side(self, values: Iterable[list[Any]]) -> list[tuple[Any, ...]]:
        cut = list(values)
        return list(zip(*cut, strict=True)) if cut else self._shared(())


def _first(parts: list[Any], widths: Widths, axis: int = 1) -> list[Any]:
    """The first positions of every part; what is the same in all parts is narrowed once for each width."""
    if widths is None or not parts or parts[0] is None:
        return parts
    if not isinstance(parts, _Same):
        return [part.narrow(axis, 0, width) for part, width in zip(parts, widths, strict=True)]
    narrow = {width: parts[0].narrow(axis, 0, width) for width in set(widths)}
    kind = _Same if len(narrow) == 1 else list
    return kind([narrow[width] for width in widths])


def _new(kind: type[T], values: dict[str, Any]) -> T:
    """A frozen value with many fields at once: setting them one by one took a third of the cutting."""
    made = object.__new__(kind)
    made.__dict__.update(values)
    return made
