"""Rows of an example: many batches are corrupted in one call and cut apart afterwards."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, is_dataclass
from functools import cached_property, partial
from itertools import accumulate, repeat
from typing import Any, TypeVar

from torch import Tensor

from playground.example import Asked, Example, Question, Specials, Stream, Tokens, Visible
from playground.late import names, plain, several

LATE: dict[type, tuple[str, ...]] = {
    Example: ("tokens", "chosen", "action", "rank", "spans"),
    Stream: ("real",),
    Tokens: ("lengths", "word", "sentence", "labels", "neighbours", "row", "visit"),
}
"""What a model reads of hardly any batch: it is cut when somebody looks at it, as is what is late in the whole."""

OF_THE_VOCABULARY = ("counts", "log_chance")
"""Tensors whose first axis counts words, not rows."""

INDIVISIBLE = frozenset((bool, int, float, str, Specials))
"""Kinds of values that are the same in every part."""

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
    number, width = stream.ids.shape
    if not stream.padded or not number or not width:
        return None
    ends = stream.ends
    return [max(ends[first : first + size]) or width for first in range(0, number, size)]


def _padded(example: Example) -> bool:
    streams = (s for part in example.everything for s in (part.inputs, part.decoder) if s is not None)
    return any(stream.padded for stream in streams)


class _Same(list[Any]):
    """Parts that are one and the same value."""


class _Cutter:
    """Cuts all that has a row axis into parts of one size, the last may be smaller; what is alike is made once."""

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
            told=self._origin(example) | self._count(example.tokens),
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
                return self._tensor(value, own)
            case Stream():
                told = self._origin(value) if value.padded else {}
                return self._made(value, own, own, told, cross=self.parts(value.cross, own, source))
            case Tokens():
                return self._made(value, own, told=self._origin(value) if value.padded else {})
            case Visible():
                painted = _first(self.parts(value.painted, own), source, axis=2)
                read, above = self.parts(value.read, source), self.parts(value.above, own, source)
                return self._made(value, own, read=read, painted=painted, above=above)
            case Question():
                return self._made(value, own, told={"together": _Together(value, self.start, self.sizes)})
            case Mapping():
                cut = self._side_by_side(self.parts(v, own) for v in value.values())
                return [dict(zip(value, row, strict=True)) for row in cut]
            case tuple() if not isinstance(next(iter(value), ""), str):
                return self._side_by_side(self.parts(v, own, source) for v in value)
        if is_dataclass(value) and not isinstance(value, Specials):
            return self._made(value, own)
        return self._shared(value)

    def _origin(self, whole: Any) -> dict[str, Any]:
        """What parts know of the whole: which rows of it they are, so that these are measured for all at once."""
        return {"cut_from": (whole, self.begins)}

    def _count(self, tokens: Tokens) -> dict[str, int]:
        """How many tokens every part has, where that is one number."""
        return {} if tokens.padded or not self.even else {"count": self.sizes[0] * tokens.ids.shape[1]}

    def _made(
        self,
        whole: Any,
        own: Widths = None,
        source: Widths = None,
        told: Mapping[str, Any] | None = None,
        **cut: list[Any],
    ) -> list[Any]:
        """The parts of a value: some fields are `cut`, some late, the others as wide as its `own` stream.

        Each is `told` what its fields do not say: the first that is asked finds the answer for all of them.
        """
        kind, known, alike, late = plain(type(whole)), whole.__dict__, {}, False
        waiting = LATE.get(kind, ())
        for name in names(kind):
            if name in cut:
                continue
            value = known.get(name, MISSING)
            if value is MISSING:
                late = True
            elif value is None or type(value) in INDIVISIBLE or name in OF_THE_VOCABULARY:
                alike[name] = value
            elif name in waiting and not (isinstance(value, Tensor) and _repeated(value)):
                late = True
            else:
                cut[name] = self.parts(value, own, source)
        for name in [n for n, parts in cut.items() if isinstance(parts, _Same)]:
            alike[name] = cut.pop(name)[0]
        if not late and not cut:
            return self._shared(_new(kind, alike))
        find = partial(self.again.one, whole, own) if late else None
        made = several(kind, {**alike, **(told or {})}, find, len(self.sizes))
        held: list[dict[str, Any]] = [part.__dict__ for part in made]
        for name, parts in cut.items():
            for known, value in zip(held, parts, strict=True):
                known[name] = value
        return made

    def one(self, whole: Any, own: Widths, name: str, number: int) -> Any:
        """One part of a field."""
        return self.parts(getattr(whole, name), own)[number]

    @cached_property
    def begins(self) -> tuple[int, ...]:
        """The first row of each part, and the one behind the last."""
        return tuple(accumulate(self.sizes, initial=self.start))

    @cached_property
    def again(self) -> "_Cutter":
        """One that cuts in the same way what is late; a cutter that its own parts hold would never be freed."""
        return _Cutter(self.rows, self.sizes, self.start)

    def _shared(self, value: Any) -> list[Any]:
        return _Same([value] * len(self.sizes))

    def _tensor(self, values: Tensor, widths: Widths) -> list[Tensor]:
        """Parts of the memory of the whole; rows that are one row, or empty, are the same in every part."""
        if len(values) != self.rows:
            return _first(self._shared(values), widths)
        if self.even and self.sizes and _repeated(values):
            return _first(self._shared(values[self.start : self.start + self.sizes[0]]), widths)
        if widths is not None:
            return self._narrowed(values, widths)
        number = sum(self.sizes)
        mine = values if number == self.rows else values[self.start : self.start + number]
        return list(mine.split_with_sizes(self.sizes))

    def _narrowed(self, values: Tensor, widths: Sequence[int]) -> list[Tensor]:
        """The same with the first columns alone: rows and columns at once, which takes half the time."""
        steps = values.stride()
        shapes = zip(self.sizes, widths, *map(repeat, values.shape[2:]), strict=False)
        first, step = values.storage_offset() + self.start * steps[0], self.sizes[0] * steps[0]
        begins = range(first, first + len(self.sizes) * step, step) if step else repeat(first)
        return list(map(values.as_strided, shapes, repeat(steps), begins))

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


def _repeated(values: Tensor) -> bool:
    """Whether all rows are the memory of one row, or of none."""
    return values.stride(0) == 0 or not values.numel()


def _new(kind: type[T], values: dict[str, Any]) -> T:
    """A frozen value with many fields at once: setting them one by one took a third of the cutting."""
    made = object.__new__(kind)
    made.__dict__.update(values)
    return made


@dataclass(frozen=True)
class _Together:
    """Where the graded answers of all parts of a `whole` question stand, from the row `start` on."""

    whole: Question
    start: int
    sizes: tuple[int, ...]

    def part(self, number: int) -> Asked:
        """Where those of one part do."""
        return self._parts[number]

    @cached_property
    def _parts(self) -> list[Asked]:
        asked = self.whole.asked
        first, begin, found = self.start, sum(asked.each[: self.start]), []
        for size in self.sizes:
            own = asked.each[first : first + size]
            here = slice(begin, begin + sum(own))
            found.append(Asked(asked.rows[here] - first, asked.places[here], asked.graded, own))
            first, begin = first + size, here.stop
        return found
