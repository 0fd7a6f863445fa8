"""The value in the middle: corpora make `Tokens`, an objective turns them into a `Batch`, models read it.

Axis letters everywhere in this project: b rows, t tokens of the text, n positions of a stack,
m places that are read or graded, h heads, d width, v words of the vocabulary, g layer groups, s steps, k seeds.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum
from functools import cache, cached_property, lru_cache
from typing import Literal

import torch
from torch import Tensor

MASKED_LEVEL = 2**14
"""A level that no reader reaches: the level of padding and of hidden columns. Levels are compared in 16 bits."""

OPTIONAL = ("example_ids", "epoch", "word_counts")
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

    `word_ids` and `sentence_ids` are running numbers; `vocabulary` holds the strings by id where somebody reads along.
    `example_ids` `[b]` names each text within its corpus and `epoch` `[b]` how often it was read before, where both are
    known (a fixed mask needs them); `word_counts` `[v]` says how often the corpus holds every word. `sizes` are the
    `lengths` as plain numbers, where they were read off a whole block of steps: to read them off a GPU, one must wait
    for it.
    """

    ids: Tensor
    lengths: Tensor
    word_ids: Tensor
    sentence_ids: Tensor
    specials: Specials
    labels: Mapping[str, Tensor] = field(default_factory=dict)
    neighbours: Mapping[str, "Tokens"] = field(default_factory=dict)
    vocabulary: tuple[str, ...] = ()
    padded: bool = True
    example_ids: Tensor | None = None
    epoch: Tensor | None = None
    word_counts: Tensor | None = None
    sizes: tuple[int, ...] | None = field(default=None, repr=False, compare=False)

    @cached_property
    def valid(self) -> Tensor:
        """Which places hold a token of the text and not padding, `[b, t]`; to be read only."""
        if not self.padded:
            return ones_view(self.ids)
        return arange_rows(self.ids) < self.lengths[:, None]

    @cached_property
    def maskable(self) -> Tensor:
        """Which tokens an objective may hide: real ones that are no specials (unknown words count as words)."""
        if self.words_alone:
            return ones_view(self.ids)
        words = self.ids >= self.specials.unknown
        return self.valid & words if self.padded else words

    @cached_property
    def words_alone(self) -> bool:
        """Whether nothing but words stands anywhere."""
        return not self.padded and bool(self.ids.numel()) and int(self.ids.min()) >= self.specials.unknown

    @cached_property
    def lengths_list(self) -> tuple[int, ...]:
        """How many tokens each text has; a GPU is waited for, unless this was found with a whole block of steps."""
        if not self.padded:
            return (self.ids.shape[1],) * len(self.ids)
        return tuple(self.lengths.tolist()) if self.sizes is None else self.sizes

    def to(self, device: torch.device) -> "Tokens":
        """The same batch on another device."""
        return replace(
            self,
            **{name: getattr(self, name).to(device) for name in ("ids", "lengths", "word_ids", "sentence_ids")},
            **{name: kept.to(device) for name in OPTIONAL if (kept := getattr(self, name)) is not None},
            labels={k: v.to(device) for k, v in self.labels.items()},
            neighbours={k: v.to(device) for k, v in self.neighbours.items()},
        )


@dataclass(frozen=True)
class AttentionMask:
    """Who may look at whom, reader x read: a reader sees every place whose level is at most its own.

    One comparison says nearly all masks of the field: full (all levels 0), causal (level = place), prefix, permutation
    (level = rank), padding (level `MASKED_LEVEL`). `window` adds the first and the last place that each reader may see,
    `excluded` one place that it may not (-1: none), all `[b, n]`; `overrides` `[b, n, m]` closes single cells. `form`
    is a promise that lets a model take a short way: "full" and "causal" are exactly that, unpadded; "alone" is itself
    and nothing else; "window" is the window without one place, all of it real. `odd_layers` is what is seen instead in
    every second layer, where not all layers see alike.
    """

    query_level: Tensor
    key_level: Tensor
    form: Literal["full", "causal", "alone", "window", "levels"] = "levels"
    overrides: Tensor | None = None
    window: tuple[Tensor, Tensor] | None = None
    excluded: Tensor | None = None
    odd_layers: "AttentionMask | None" = None

    def layer(self, number: int) -> "AttentionMask":
        """What is seen in a layer, counted from 0."""
        return self if self.odd_layers is None or number % 2 == 0 else self.odd_layers

    def dense(self) -> Tensor:
        """The matrix `[b or 1, n, m]` of booleans, row = reader, column = read.

        What is read must stand below the level that follows its reader's. The sign of the difference says so, in 16
        bits: to compare them takes three times as long, because that writes other numbers of bits than it reads.
        """
        above = (self.query_level.short() + 1)[:, :, None] - self.key_level.short()[:, None, :]
        cells = above.relu_().bool()
        if self.window is not None or self.excluded is not None:
            cells = cells & self._near()
        return cells if self.overrides is None else cells & self.overrides

    def _near(self) -> Tensor:
        """Which places lie in the window of their reader and are not the one that it may not see."""
        place = arange(self.key_level.shape[1], self.key_level.device)
        near = torch.ones_like(place, dtype=torch.bool)
        if self.window is not None:
            first, last = self.window
            near = (place >= first[:, :, None]) & (place <= last[:, :, None])
        return near if self.excluded is None else near & (place != self.excluded[:, :, None])

    def at(self, places: Tensor) -> "AttentionMask":
        """What the readers at some places `[b, m]` see, in that order."""

        def rows(values: Tensor) -> Tensor:
            return values.expand(len(places), -1).gather(1, places)

        return AttentionMask(
            rows(self.query_level),
            self.key_level,
            overrides=None if self.overrides is None else self._painted_at(places),
            window=None if self.window is None else (rows(self.window[0]), rows(self.window[1])),
            excluded=None if self.excluded is None else rows(self.excluded),
            odd_layers=None if self.odd_layers is None else self.odd_layers.at(places),
        )

    def _painted_at(self, places: Tensor) -> Tensor:
        assert self.overrides is not None
        index = places[..., None].expand(-1, -1, self.overrides.shape[-1])
        return self.overrides.expand(len(places), -1, -1).gather(1, index)


MASK_TITLES = {
    "encoder": "Attention mask",
    "content": "Content stream: sees itself and what came before",
    "query": "Query stream: sees only what came before",
    "decoder": "Decoder: sees what is written",
    "cross": "Cross: decoder looks at the encoder",
}
"""What the attention masks of a model are called on screen."""


@dataclass(frozen=True)
class Stream:
    """One row of positions of a stack, `[b, n]`, and whom each may look at.

    `origin` is the place in the text that a position comes from (-1: inserted). `query_attn_mask` exists where a
    second, content-blind stream answers (XLNet); `cross_attn_mask` exists where a decoder looks at an encoder.
    `predicts_next` says that each position answers for the one that comes after it in the order, whichever that is.
    `known_ends` are the `ends` where they were read off a whole block of steps.
    """

    ids: Tensor
    origin: Tensor
    valid: Tensor
    segment_ids: Tensor
    position_ids: Tensor
    language_ids: Tensor
    attn_mask: AttentionMask
    query_attn_mask: AttentionMask | None = None
    cross_attn_mask: AttentionMask | None = None
    padded: bool = True
    predicts_next: bool = False
    known_ends: tuple[int, ...] | None = field(default=None, repr=False, compare=False)

    @cached_property
    def ends(self) -> tuple[int, ...]:
        """After how many positions each row ends, 0 where it is empty; a GPU is waited for, unless this is known."""
        if self.known_ends is not None:
            return self.known_ends
        place = torch.arange(1, self.valid.shape[1] + 1, device=self.valid.device)
        return tuple((self.valid * place.short()).amax(1).tolist())


@dataclass(frozen=True)
class Spans:
    """Runs of the text, `[b, m]`: first place and length; length 0 is a gap before `start`, length -1 is no span."""

    start: Tensor
    length: Tensor

    @cached_property
    def is_span(self) -> Tensor:
        """Which of them are spans, `[b, m]`."""
        return self.length >= 0


@dataclass(frozen=True)
class NegativeSampling:
    """Wrong answers `[b, n, k]` (-1: none) that the right one is told from, and how.

    "sampled": yes or no for each (negative sampling), "nce": the same with the chance of each word as noise,
    `log_chance` `[v]`, taken off its score, "hinge": the right one must score 1 more than the wrong one, "softmax":
    cross-entropy of the right one among them all.
    """

    negatives: Tensor
    loss: Literal["sampled", "nce", "hinge", "softmax"] = "sampled"
    log_noise_prob: Tensor | None = None


@dataclass(frozen=True)
class CooccurrenceTarget:
    """A number to be met instead of a word to be named: how often a pair was seen, `[b, n]`, capped at `most`."""

    counts: Tensor
    x_max: float = 100.0
    alpha: float = 0.75


@dataclass(frozen=True)
class SoftTargets:
    """The answer is what a head says of the whole text, without gradient (cross-view training).

    `place` `[b, n]` is the place in the text whose label each position answers for.
    """

    head: str
    positions: Tensor


@dataclass(frozen=True)
class Target:
    """What is asked of a stream: targets `[b, n]`, which of them are graded, by which head, with what weight.

    Heads: "vocabulary" (which word), "replaced" (yes or no), "match" (which row's partner), "label:NAME" (one of
    `classes`). `origin` is the place in the text that holds the answer (-1: nowhere, as for a label). `copying` says
    that the input may show the answer because finding its place is the task (denoising). `reads` `[b, n, 2]` are the
    two positions an answer is made from where that is not the position itself (span boundary). `loss` replaces the
    cross-entropy over all classes. `known` says where the answers stand that are graded, where that was found with a
    whole block of steps; it counts only as long as it speaks of the very tensor `loss_mask`.
    """

    name: str
    head: str
    stream: Literal["inputs", "query", "decoder"]
    targets: Tensor
    loss_mask: Tensor
    origin: Tensor
    weight: float = 1.0
    copying: bool = False
    classes: tuple[str, ...] = ()
    reads: Tensor | None = None
    loss: NegativeSampling | CooccurrenceTarget | SoftTargets | None = None
    known: "LossPositions | None" = field(default=None, repr=False, compare=False)

    @cached_property
    def loss_positions(self) -> "LossPositions":
        """Where the scored answers stand; a GPU is waited for, unless this is known."""
        if self.known is not None and self.known.loss_mask is self.loss_mask:
            return self.known
        if is_all_true(self.loss_mask):
            rows, width = self.loss_mask.shape
            there = torch.arange(rows * width, device=self.loss_mask.device)
            return LossPositions(there // max(1, width), there % max(1, width), self.loss_mask, (width,) * rows)
        at, places = self.loss_mask.nonzero(as_tuple=True)
        return LossPositions(at, places, self.loss_mask)


@dataclass(frozen=True)
class LossPositions:
    """The row and the place of each scored answer `[k]` of what is `graded [b, n]`; `known` says how many a row has."""

    rows: Tensor
    positions: Tensor
    loss_mask: Tensor
    known: tuple[int, ...] | None = None

    @cached_property
    def per_row(self) -> tuple[int, ...]:
        """How many answers each row has; a GPU is waited for where that is not known."""
        return tuple(self.loss_mask.sum(1).tolist()) if self.known is None else self.known

    @cached_property
    def most_per_row(self) -> int:
        """How many the fullest row has."""
        return max(self.per_row, default=0)


@dataclass(frozen=True)
class Batch:
    """A batch on its way from text to training: what the model sees, what was done, what is asked.

    `selected`, `actions` and `prediction_order` `[b, t]` speak of places in the text, so they stay true when positions
    move. `auxiliary` holds examples of the same texts that are trained in the same step (a generator's, another
    direction's); `network` says which network of the model reads this one. `dupe_factor` says how many fixed
    corruptions each text has (0: a new one at every visit), so that all stages of a static mask agree.
    """

    tokens: Tokens
    inputs: Stream
    selected: Tensor
    actions: Tensor
    prediction_order: Tensor
    spans: Spans
    decoder: Stream | None = None
    auxiliary: tuple["Batch", ...] = ()
    network: Literal["main", "generator", "backward"] = "main"
    questions: tuple[Target, ...] = ()
    dupe_factor: int = 0
    drawn: "DrawnSelection | None" = field(default=None, repr=False, compare=False)

    @cached_property
    def count(self) -> int:
        """How many tokens its texts have; a GPU is waited for, unless this was found with a whole block of steps."""
        return sum(self.tokens.lengths_list)

    @property
    def maskable(self) -> Tensor:
        """Which tokens of the text an objective may hide, `[b, t]`."""
        return self.tokens.maskable

    @property
    def answering(self) -> Stream:
        """The stream at which its questions are answered."""
        return self.decoder if self.decoder is not None and self.questions[0].stream == "decoder" else self.inputs

    @cached_property
    def selected_positions(self) -> Tensor:
        """The chosen places `[m]`, counted through the rows; in the order of their draws, if that is known."""
        if self.drawn is not None and self.drawn.selected is self.selected:
            return self.drawn.positions
        return self.selected.flatten().nonzero()[:, 0]

    @cached_property
    def prediction_step(self) -> Tensor:
        """The step at which each chosen place comes, `[b, t]`; -1 for the others."""
        return (self.prediction_order + 1) * self.selected - 1

    @property
    def selected_at(self) -> tuple[Tensor, Tensor]:
        """The row and the place of each chosen token `[m]`, row by row."""
        inside, width = self.selected_positions.sort().values, max(1, self.selected.shape[1])
        return inside // width, inside % width

    @property
    def generator(self) -> "Batch | None":
        """The example that the generator trains on, where one takes part."""
        return next((e for e in self.auxiliary if e.network == "generator"), None)

    @property
    def with_auxiliary(self) -> tuple["Batch", ...]:
        """All examples of this step: those beside first, in their order, this one last."""
        return (*(e for part in self.auxiliary for e in part.with_auxiliary), self)


@dataclass(frozen=True)
class DrawnSelection:
    """The places `[m]` of what is `chosen [b, t]` in the order of their draws: the next draws go by that order."""

    selected: Tensor
    positions: Tensor


def with_selection(example: Batch, chosen: Tensor, places: Tensor, copies: int) -> Batch:
    """The example with other tokens chosen, whose `places` are known."""
    return replace(example, selected=chosen, dupe_factor=copies, drawn=DrawnSelection(chosen, places))


def token_strings(ids: Tensor, real: Tensor, vocabulary: Sequence[str]) -> list[str]:
    """The strings of a row's real tokens."""
    return [str(vocabulary[i]) for i in ids[real].tolist()]


def begin(tokens: Tokens) -> Batch:
    """The text as it stands: nothing chosen, nothing changed, everybody sees everybody, nothing asked."""
    none = zeros_view(tokens.ids, dtype=torch.bool)
    empty = tokens.ids[:, :0]
    places = arange_rows(tokens.ids)
    origin = places.where(tokens.valid, -1) if tokens.padded else places
    return Batch(
        tokens=tokens,
        inputs=stream(
            tokens.ids,
            origin,
            tokens.valid,
            padded=tokens.padded,
            language=tokens.labels["language"].clamp(min=0) if "language" in tokens.labels else None,
        ),
        selected=none,
        actions=zeros_view(tokens.ids),
        prediction_order=places,
        spans=Spans(empty, empty),
    )


@cache
def arange(width: int, device: torch.device) -> Tensor:
    """The numbers 0, 1, 2 ... `[width]`; made once, so never to be written to."""
    return torch.arange(width, device=device)


def arange_rows(like: Tensor) -> Tensor:
    """The numbers 0, 1, 2 ... in every row of a shape: one row seen everywhere, so never to be written to."""
    return _running(like.shape, like.device)


@lru_cache
def _running(shape: torch.Size, device: torch.device) -> Tensor:
    return arange(shape[1], device).expand(shape)


def is_identity(origin: Tensor) -> bool:
    """Whether positions are the places of an unpadded text: their origin is the one row that `arange_rows` shows."""
    return origin.stride(0) == 0 and origin.data_ptr() == arange(origin.shape[1], origin.device).data_ptr()


def zeros_view(like: Tensor, dtype: torch.dtype = torch.long) -> Tensor:
    """Zeros of a shape that take no memory: one zero seen everywhere, so never to be written to."""
    return _nothing(like.shape, dtype, like.device)


@lru_cache
def _nothing(shape: torch.Size, dtype: torch.dtype, device: torch.device) -> Tensor:
    return torch.zeros((), dtype=dtype, device=device).expand(shape)


def ones_view(like: Tensor) -> Tensor:
    """True everywhere, without taking memory; never to be written to."""
    return _everything(like.shape, like.device)


@lru_cache
def _everything(shape: torch.Size, device: torch.device) -> Tensor:
    return torch.ones((), dtype=torch.bool, device=device).expand(shape)


@lru_cache(maxsize=64)
def full_view(number: int, rows: int, device: torch.device) -> Tensor:
    """One number `[rows]`, seen in every row without taking memory; never to be written to."""
    return torch.tensor(number, device=device).expand(rows)


def is_all_true(values: Tensor) -> bool:
    """Whether booleans are the one True that `ones_view` shows, as is known without a look at any."""
    return not any(values.stride()) and values.data_ptr() == ones_view(values).data_ptr()


def language_ids_at(tokens: Tokens, origin: Tensor, part: Tensor | None = None) -> Tensor:
    """The language `[b, n]` of every position, 0 where the text has none (XLM, arXiv:1901.07291, sec. 3.4).

    An inserted sign speaks the language of the word before it, else of the word after it, within its own `part`.
    """
    if "language" not in tokens.labels or not tokens.ids.shape[1] or not origin.shape[1]:
        return zeros_view(origin)
    width = origin.shape[1]
    place = torch.arange(width, device=origin.device).expand_as(origin)
    before = place.masked_fill(origin < 0, -1).cummax(1).values
    after = place.masked_fill(origin < 0, width).flip(1).cummin(1).values.flip(1)
    near = before.where(before >= 0, after)
    if part is not None:
        own = (before >= 0) & (part.gather(1, before.clamp(min=0)) == part)
        near = before.where(own, after.where(after < width, before))
    language = gather_origin(tokens.labels["language"].clamp(min=0), origin)
    return language.gather(1, near.clamp(0, width - 1))


def stream(ids: Tensor, origin: Tensor, real: Tensor, *, padded: bool = True, language: Tensor | None = None) -> Stream:
    """A stream with natural positions, one segment and full visibility, to be narrowed by later stages."""
    zeros = zeros_view(ids)
    return Stream(
        ids=ids,
        origin=origin,
        valid=real,
        segment_ids=zeros,
        position_ids=arange_rows(ids),
        language_ids=zeros if language is None else language,
        attn_mask=full_mask(real, padded),
        padded=padded,
    )


def full_mask(real: Tensor, padded: bool, readers: Tensor | None = None) -> AttentionMask:
    """Every reader sees every real place; `readers` `[b, n]` only gives the number of rows (for a decoder)."""
    reader = zeros_view(real if readers is None else readers)
    if not padded:
        return AttentionMask(reader, zeros_view(real), "full")
    return AttentionMask(reader, (~real).short() * MASKED_LEVEL)


def causal_mask(real: Tensor, padded: bool) -> AttentionMask:
    """A reader sees itself and what stands to its left."""
    place = arange_rows(real)
    return AttentionMask(place, _hide(place, real)) if padded else AttentionMask(place, place, "causal")


def mask_by_level(reader: Tensor, read: Tensor, real: Tensor, padded: bool = True) -> AttentionMask:
    """A reader sees the real places whose level is at most its own."""
    levels = read.short()
    readers = levels if reader is read else reader.short()
    return AttentionMask(readers, _hide(levels, real) if padded else levels)


def _hide(levels: Tensor, real: Tensor) -> Tensor:
    return levels.short().masked_fill(~real, MASKED_LEVEL)


def gather_origin(values: Tensor, origin: Tensor, default: int | bool = 0) -> Tensor:
    """Values `[b, t]` of the text read at the positions `[b, n]` of a stream; inserted positions get `default`."""
    if origin.shape == values.shape and is_identity(origin):
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
