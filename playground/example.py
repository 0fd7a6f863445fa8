"""The value in the middle: corpora make `Tokens`, an objective turns them into an `Example`, models read it.

Axis letters everywhere in this project: b rows, t tokens of the text, n positions of a stack,
m places that are read or graded, h heads, d width, v words of the vocabulary, g layer groups, s steps, k seeds.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import IntEnum
from functools import cache, cached_property, lru_cache
from typing import Literal

import torch
from torch import Tensor

NEVER = 2**14
"""A level that no reader reaches: the level of padding and of hidden columns. Levels are compared in 16 bits."""

OPTIONAL = ("row", "visit", "counts")
"""What a batch of tokens may know about itself beside the text."""


class Action(IntEnum):
    """What was done to a token of the text on its way into the model's input."""

    KEPT = 0
    MASKED = 1
    RANDOMISED = 2
    GRADED_AS_IS = 3
    DELETED = 4
    MOVED = 5
    REPLACED = 6
    SAME_BY_LUCK = 7


@dataclass(frozen=True)
class Specials:
    """The ids of the tokens that are not words; words have the ids from `first_word` up to `size`."""

    pad: int
    start: int
    end: int
    cls: int
    sep: int
    mask: int
    sentinels: tuple[int, ...]
    unknown: int
    first_word: int
    size: int


@dataclass(frozen=True)
class Tokens:
    """A batch of texts as ids `[b, t]`, with what the corpus knows about every token.

    `word` and `sentence` are running numbers; `vocabulary` holds the strings by id where somebody reads along.
    `row` `[b]` names each text within its corpus and `visit` `[b]` how often it was read before, where both are known
    (a fixed mask needs them); `counts` `[v]` says how often the corpus holds every word. `sizes` are the `lengths` as
    plain numbers, where they were read off a whole block of steps: to read them off a GPU, one must wait for it.
    """

    ids: Tensor
    lengths: Tensor
    word: Tensor
    sentence: Tensor
    specials: Specials
    labels: Mapping[str, Tensor] = field(default_factory=dict)
    neighbours: Mapping[str, "Tokens"] = field(default_factory=dict)
    vocabulary: tuple[str, ...] = ()
    padded: bool = True
    row: Tensor | None = None
    visit: Tensor | None = None
    counts: Tensor | None = None
    sizes: tuple[int, ...] | None = field(default=None, repr=False, compare=False)

    @cached_property
    def real(self) -> Tensor:
        """Which places hold a token of the text and not padding, `[b, t]`; to be read only."""
        if not self.padded:
            return everything(self.ids)
        return running(self.ids) < self.lengths[:, None]

    @cached_property
    def maskable(self) -> Tensor:
        """Which tokens an objective may hide: real ones that are no specials (unknown words count as words)."""
        if self.words_alone:
            return everything(self.ids)
        words = self.ids >= self.specials.unknown
        return self.real & words if self.padded else words

    @cached_property
    def words_alone(self) -> bool:
        """Whether nothing but words stands anywhere."""
        return not self.padded and bool(self.ids.numel()) and int(self.ids.min()) >= self.specials.unknown

    @cached_property
    def long(self) -> tuple[int, ...]:
        """How many tokens each text has; a GPU is waited for, unless this was found with a whole block of steps."""
        if not self.padded:
            return (self.ids.shape[1],) * len(self.ids)
        return tuple(self.lengths.tolist()) if self.sizes is None else self.sizes

    def to(self, device: torch.device) -> "Tokens":
        """The same batch on another device."""
        return replace(
            self,
            **{name: getattr(self, name).to(device) for name in ("ids", "lengths", "word", "sentence")},
            **{name: kept.to(device) for name in OPTIONAL if (kept := getattr(self, name)) is not None},
            labels={k: v.to(device) for k, v in self.labels.items()},
            neighbours={k: v.to(device) for k, v in self.neighbours.items()},
        )


@dataclass(frozen=True)
class Visible:
    """Who may look at whom, reader x read: a reader sees every place whose level is at most its own.

    One comparison says nearly all masks of the field: full (all levels 0), causal (level = place), prefix,
    permutation (level = rank), padding (level `NEVER`). `window` adds the first and the last place that each reader
    may see, `without` one place that it may not (-1: none), all `[b, n]`; `painted` `[b, n, m]` closes single cells.
    `form` is a promise that lets a model take a short way: "full" and "causal" are exactly that, unpadded; "alone" is
    itself and nothing else; "window" is the window without one place, all of it real. `above` is what is seen instead
    in every second layer, where not all layers see alike.
    """

    reader: Tensor
    read: Tensor
    form: Literal["full", "causal", "alone", "window", "levels"] = "levels"
    painted: Tensor | None = None
    window: tuple[Tensor, Tensor] | None = None
    without: Tensor | None = None
    above: "Visible | None" = None

    def layer(self, number: int) -> "Visible":
        """What is seen in a layer, counted from 0."""
        return self if self.above is None or number % 2 == 0 else self.above

    def dense(self) -> Tensor:
        """The matrix `[b or 1, n, m]` of booleans, row = reader, column = read.

        What is read must stand below the level that follows its reader's. The sign of the difference says so, in 16
        bits: to compare them takes three times as long, because that writes other numbers of bits than it reads.
        """
        above = (self.reader.short() + 1)[:, :, None] - self.read.short()[:, None, :]
        cells = above.relu_().bool()
        if self.window is not None or self.without is not None:
            cells = cells & self._near()
        return cells if self.painted is None else cells & self.painted

    def _near(self) -> Tensor:
        """Which places lie in the window of their reader and are not the one that it may not see."""
        place = numbers(self.read.shape[1], self.read.device)
        near = torch.ones_like(place, dtype=torch.bool)
        if self.window is not None:
            first, last = self.window
            near = (place >= first[:, :, None]) & (place <= last[:, :, None])
        return near if self.without is None else near & (place != self.without[:, :, None])

    def at(self, places: Tensor) -> "Visible":
        """What the readers at some places `[b, m]` see, in that order."""

        def rows(values: Tensor) -> Tensor:
            return values.expand(len(places), -1).gather(1, places)

        return Visible(
            rows(self.reader),
            self.read,
            painted=None if self.painted is None else self._painted_at(places),
            window=None if self.window is None else (rows(self.window[0]), rows(self.window[1])),
            without=None if self.without is None else rows(self.without),
            above=None if self.above is None else self.above.at(places),
        )

    def _painted_at(self, places: Tensor) -> Tensor:
        assert self.painted is not None
        index = places[..., None].expand(-1, -1, self.painted.shape[-1])
        return self.painted.expand(len(places), -1, -1).gather(1, index)


@dataclass(frozen=True)
class Stream:
    """One row of positions of a stack, `[b, n]`, and whom each may look at.

    `origin` is the place in the text that a position comes from (-1: inserted). `query_visible` exists where a
    second, content-blind stream answers (XLNet); `cross` exists where a decoder looks at an encoder. `ahead` says that
    each position answers for the one that comes after it in the order, whichever that is.
    """

    ids: Tensor
    origin: Tensor
    real: Tensor
    segment: Tensor
    position: Tensor
    language: Tensor
    visible: Visible
    query_visible: Visible | None = None
    cross: Visible | None = None
    padded: bool = True
    ahead: bool = False


@dataclass(frozen=True)
class Spans:
    """Runs of the text, `[b, m]`: first place and length; length 0 is a gap before `start`, length -1 is no span."""

    start: Tensor
    length: Tensor

    @cached_property
    def there(self) -> Tensor:
        """Which of them are spans, `[b, m]`."""
        return self.length >= 0


@dataclass(frozen=True)
class Contrast:
    """Wrong answers `[b, n, k]` (-1: none) that the right one is told from, and how.

    "sampled": yes or no for each (negative sampling), "nce": the same with the chance of each word as noise,
    `log_chance` `[v]`, taken off its score, "hinge": the right one must score 1 more than the wrong one, "softmax":
    cross-entropy of the right one among them all.
    """

    wrong: Tensor
    loss: Literal["sampled", "nce", "hinge", "softmax"] = "sampled"
    log_chance: Tensor | None = None


@dataclass(frozen=True)
class Count:
    """A number to be met instead of a word to be named: how often a pair was seen, `[b, n]`, capped at `most`."""

    seen: Tensor
    most: float = 100.0
    power: float = 0.75


@dataclass(frozen=True)
class Taught:
    """The answer is what a head says of the whole text, without gradient (cross-view training).

    `place` `[b, n]` is the place in the text whose label each position answers for.
    """

    head: str
    place: Tensor


@dataclass(frozen=True)
class Question:
    """What is asked of a stream: targets `[b, n]`, which of them are graded, by which head, with what weight.

    Heads: "vocabulary" (which word), "replaced" (yes or no), "match" (which row's partner), "label:NAME" (one of
    `classes`). `origin` is the place in the text that holds the answer (-1: nowhere, as for a label). `copying` says
    that the input may show the answer because finding its place is the task (denoising). `reads` `[b, n, 2]` are the
    two positions an answer is made from where that is not the position itself (span boundary). `against` replaces the
    cross-entropy over all classes. `known` says where the answers stand that are graded, where that was found with a
    whole block of steps; it counts only as long as it speaks of the very tensor `graded`.
    """

    name: str
    head: str
    reader: Literal["inputs", "query", "decoder"]
    targets: Tensor
    graded: Tensor
    origin: Tensor
    weight: float = 1.0
    copying: bool = False
    classes: tuple[str, ...] = ()
    reads: Tensor | None = None
    against: Contrast | Count | Taught | None = None
    known: "Asked | None" = field(default=None, repr=False, compare=False)

    @cached_property
    def asked(self) -> "Asked":
        """Where the graded answers stand; a GPU is waited for, unless this is known."""
        if self.known is not None and self.known.graded is self.graded:
            return self.known
        if certain(self.graded):
            rows, width = self.graded.shape
            there = torch.arange(rows * width, device=self.graded.device)
            return Asked(there // max(1, width), there % max(1, width), self.graded, (width,) * rows)
        at, places = self.graded.nonzero(as_tuple=True)
        return Asked(at, places, self.graded)


@dataclass(frozen=True)
class Asked:
    """The row and the place of each graded answer `[k]` of what is `graded [b, n]`; `known` says how many a row has."""

    rows: Tensor
    places: Tensor
    graded: Tensor
    known: tuple[int, ...] | None = None

    @cached_property
    def each(self) -> tuple[int, ...]:
        """How many answers each row has; a GPU is waited for where that is not known."""
        return tuple(self.graded.sum(1).tolist()) if self.known is None else self.known

    @cached_property
    def most(self) -> int:
        """How many the fullest row has."""
        return max(self.each, default=0)


@dataclass(frozen=True)
class Example:
    """A batch on its way from text to training: what the model sees, what was done, what is asked.

    `chosen`, `action` and `rank` `[b, t]` speak of places in the text, so they stay true when positions move.
    `beside` holds examples of the same texts that are trained in the same step (a generator's, another direction's);
    `network` says which network of the model reads this one. `copies` says how many fixed corruptions each text has
    (0: a new one at every visit), so that all stages of a static mask agree.
    """

    tokens: Tokens
    inputs: Stream
    chosen: Tensor
    action: Tensor
    rank: Tensor
    spans: Spans
    decoder: Stream | None = None
    beside: tuple["Example", ...] = ()
    network: Literal["main", "generator", "backward"] = "main"
    questions: tuple[Question, ...] = ()
    copies: int = 0
    drawn: "Drawn | None" = field(default=None, repr=False, compare=False)

    @cached_property
    def count(self) -> int:
        """How many tokens its texts have; a GPU is waited for, unless this was found with a whole block of steps."""
        return sum(self.tokens.long)

    @property
    def maskable(self) -> Tensor:
        """Which tokens of the text an objective may hide, `[b, t]`."""
        return self.tokens.maskable

    @cached_property
    def places(self) -> Tensor:
        """The chosen places `[m]`, counted through the rows; in the order of their draws, if that is known."""
        if self.drawn is not None and self.drawn.chosen is self.chosen:
            return self.drawn.places
        return self.chosen.flatten().nonzero()[:, 0]

    @cached_property
    def turns(self) -> Tensor:
        """The step at which each chosen place comes, `[b, t]`; -1 for the others."""
        return (self.rank + 1) * self.chosen - 1

    @property
    def chosen_at(self) -> tuple[Tensor, Tensor]:
        """The row and the place of each chosen token `[m]`, row by row."""
        inside, width = self.places.sort().values, max(1, self.chosen.shape[1])
        return inside // width, inside % width

    @property
    def generator(self) -> "Example | None":
        """The example that the generator trains on, where one takes part."""
        return next((e for e in self.beside if e.network == "generator"), None)

    @property
    def everything(self) -> tuple["Example", ...]:
        """All examples of this step: those beside first, in their order, this one last."""
        return (*(e for part in self.beside for e in part.everything), self)


@dataclass(frozen=True)
class Drawn:
    """The places `[m]` of what is `chosen [b, t]` in the order of their draws: the next draws go by that order."""

    chosen: Tensor
    places: Tensor


def choosing(example: Example, chosen: Tensor, places: Tensor, copies: int) -> Example:
    """The example with other tokens chosen, whose `places` are known."""
    return replace(example, chosen=chosen, copies=copies, drawn=Drawn(chosen, places))


def begin(tokens: Tokens) -> Example:
    """The text as it stands: nothing chosen, nothing changed, everybody sees everybody, nothing asked."""
    none = nothing(tokens.ids, dtype=torch.bool)
    empty = tokens.ids[:, :0]
    places = running(tokens.ids)
    origin = places.where(tokens.real, -1) if tokens.padded else places
    return Example(
        tokens=tokens,
        inputs=stream(
            tokens.ids,
            origin,
            tokens.real,
            padded=tokens.padded,
            language=tokens.labels["language"].clamp(min=0) if "language" in tokens.labels else None,
        ),
        chosen=none,
        action=nothing(tokens.ids),
        rank=places,
        spans=Spans(empty, empty),
    )


@cache
def numbers(width: int, device: torch.device) -> Tensor:
    """The numbers 0, 1, 2 ... `[width]`; made once, so never to be written to."""
    return torch.arange(width, device=device)


def running(like: Tensor) -> Tensor:
    """The numbers 0, 1, 2 ... in every row of a shape: one row seen everywhere, so never to be written to."""
    return _running(like.shape, like.device)


@lru_cache
def _running(shape: torch.Size, device: torch.device) -> Tensor:
    return numbers(shape[1], device).expand(shape)


def natural(origin: Tensor) -> bool:
    """Whether positions are the places of an unpadded text: their origin is the one row that `running` shows."""
    return origin.stride(0) == 0 and origin.data_ptr() == numbers(origin.shape[1], origin.device).data_ptr()


def nothing(like: Tensor, dtype: torch.dtype = torch.long) -> Tensor:
    """Zeros of a shape that take no memory: one zero seen everywhere, so never to be written to."""
    return _nothing(like.shape, dtype, like.device)


@lru_cache
def _nothing(shape: torch.Size, dtype: torch.dtype, device: torch.device) -> Tensor:
    return torch.zeros((), dtype=dtype, device=device).expand(shape)


def everything(like: Tensor) -> Tensor:
    """True everywhere, without taking memory; never to be written to."""
    return _everything(like.shape, like.device)


@lru_cache
def _everything(shape: torch.Size, device: torch.device) -> Tensor:
    return torch.ones((), dtype=torch.bool, device=device).expand(shape)


@lru_cache(maxsize=64)
def in_all_rows(number: int, rows: int, device: torch.device) -> Tensor:
    """One number `[rows]`, seen in every row without taking memory; never to be written to."""
    return torch.tensor(number, device=device).expand(rows)


def certain(values: Tensor) -> bool:
    """Whether booleans are the one True that `everything` shows, as is known without a look at any."""
    return not any(values.stride()) and values.data_ptr() == everything(values).data_ptr()


def spoken(tokens: Tokens, origin: Tensor, part: Tensor | None = None) -> Tensor:
    """The language `[b, n]` of every position, 0 where the text has none (XLM, arXiv:1901.07291, sec. 3.4).

    An inserted sign speaks the language of the word before it, else of the word after it, within its own `part`.
    """
    if "language" not in tokens.labels or not tokens.ids.shape[1] or not origin.shape[1]:
        return nothing(origin)
    width = origin.shape[1]
    place = torch.arange(width, device=origin.device).expand_as(origin)
    before = place.masked_fill(origin < 0, -1).cummax(1).values
    after = place.masked_fill(origin < 0, width).flip(1).cummin(1).values.flip(1)
    near = before.where(before >= 0, after)
    if part is not None:
        own = (before >= 0) & (part.gather(1, before.clamp(min=0)) == part)
        near = before.where(own, after.where(after < width, before))
    language = at_origin(tokens.labels["language"].clamp(min=0), origin)
    return language.gather(1, near.clamp(0, width - 1))


def stream(ids: Tensor, origin: Tensor, real: Tensor, *, padded: bool = True, language: Tensor | None = None) -> Stream:
    """A stream with natural positions, one segment and full visibility, to be narrowed by later stages."""
    zeros = nothing(ids)
    return Stream(
        ids=ids,
        origin=origin,
        real=real,
        segment=zeros,
        position=running(ids),
        language=zeros if language is None else language,
        visible=full(real, padded),
        padded=padded,
    )


def full(real: Tensor, padded: bool, readers: Tensor | None = None) -> Visible:
    """Every reader sees every real place; `readers` `[b, n]` only gives the number of rows (for a decoder)."""
    reader = nothing(real if readers is None else readers)
    if not padded:
        return Visible(reader, nothing(real), "full")
    return Visible(reader, (~real).short() * NEVER)


def causal(real: Tensor, padded: bool) -> Visible:
    """A reader sees itself and what stands to its left."""
    place = running(real)
    return Visible(place, _hide(place, real)) if padded else Visible(place, place, "causal")


def by_level(reader: Tensor, read: Tensor, real: Tensor, padded: bool = True) -> Visible:
    """A reader sees the real places whose level is at most its own."""
    levels = read.short()
    readers = levels if reader is read else reader.short()
    return Visible(readers, _hide(levels, real) if padded else levels)


def _hide(levels: Tensor, real: Tensor) -> Tensor:
    return levels.short().masked_fill(~real, NEVER)


def at_origin(values: Tensor, origin: Tensor, default: int | bool = 0) -> Tensor:
    """Values `[b, t]` of the text read at the positions `[b, n]` of a stream; inserted positions get `default`."""
    if origin.shape == values.shape and natural(origin):
        return values
    if not values.shape[1]:
        return torch.full_like(origin, default, dtype=values.dtype)
    return values.gather(1, origin.clamp(min=0)).masked_fill(origin < 0, default)


def position_of(stream: Stream, places: int) -> Tensor:
    """The position of a stream at which each of the text's places `[b, places]` stands (0 where it stands nowhere)."""
    rows, width = stream.origin.shape
    table = stream.origin.new_zeros((rows, places + 1))
    positions = torch.arange(width, device=table.device).expand(rows, width)
    return table.scatter(1, stream.origin.where(stream.origin >= 0, places), positions)[:, :places]
