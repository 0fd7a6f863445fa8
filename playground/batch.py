"""The value in the middle: corpora make `Tokens`, an objective turns them into a `Batch`, models read it.

Axis letters everywhere in this project: b rows, t tokens of the text, n positions of a stream,
m key or scored positions, h heads, d width, v words of the vocabulary, g layer groups, s steps, k seeds.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum
from functools import cache, cached_property, lru_cache
from typing import TYPE_CHECKING, Literal

import torch
from torch import Tensor

from playground.errors import UserError
from playground.pickling import declared_fields

if TYPE_CHECKING:
    from playground.answers import Target

MASKED_LEVEL = 2**14
"""A level above that of every query: padding and hidden keys. Levels are compared in 16 bits."""

OPTIONAL = ("example_ids", "epoch", "previous_ids", "word_counts")
"""Names of the optional tensors of `Tokens`."""


class Action(IntEnum):
    """What the change stage did to a token of the text."""

    KEPT = 0
    MASKED = 1
    RANDOMISED = 2
    SCORED_AS_IS = 3
    DELETED = 4
    MOVED = 5
    REPLACED = 6
    SAME_BY_LUCK = 7


@dataclass(frozen=True)
class Specials:
    """The roles of tokens that are no words, each as an id of a vocabulary of `size` entries, wherever that stands.

    Two roles may share an id (GPT-2's end also begins, parts and pads). A role that the vocabulary lacks (None) is
    refused where it is asked for. `ids` are all entries that no text is made of, ascending, without the unknown word.
    """

    size: int
    ids: tuple[int, ...]
    roles: Mapping[str, int]
    sentinels: tuple[int, ...] = ()

    __getstate__ = declared_fields

    def id_of(self, role: str) -> int:
        """The id of a role; a vocabulary without it is refused."""
        if (number := self.roles.get(role)) is None:
            way = "" if role == "unknown" else f"give it one (playground import DIR --add-special-tokens {role}), or "
            raise UserError(f"The vocabulary has no {role} token, which this needs; {way}choose what needs none.")
        return number

    pad = property(lambda self: self.id_of("pad"))
    start = property(lambda self: self.id_of("start"))
    end = property(lambda self: self.id_of("end"))
    cls = property(lambda self: self.id_of("cls"))
    sep = property(lambda self: self.id_of("sep"))
    mask = property(lambda self: self.id_of("mask"))

    @property
    def unknown(self) -> int:
        """The id of the unknown word; -1, which no token has, where the vocabulary can spell everything."""
        return self.roles.get("unknown", -1)

    @property
    def signs(self) -> tuple[int, ...]:
        """What stands for hidden text: the mask token, where there is one, and the sentinels."""
        mask = self.roles.get("mask")
        return self.sentinels if mask is None else (mask, *self.sentinels)

    @cached_property
    def _first(self) -> int | None:
        """The first id of the text where all special ones stand before it, which is compared instead of looked up."""
        return len(self.ids) if self.ids == tuple(range(len(self.ids))) else None

    def in_text(self, ids: Tensor) -> Tensor:
        """Which ids are words or the unknown word."""
        return ids >= self._first if self._first is not None else _in_text(self.ids, self.size, ids.device)[ids]

    def is_word(self, ids: Tensor) -> Tensor:
        """Which ids are words that the vocabulary knows."""
        if self._first is not None and self._first == self.unknown:
            return ids > self._first
        return self.in_text(ids) & (ids != self.unknown)

    @cached_property
    def words(self) -> Tensor:
        """The ids of all words `[w]`, ascending."""
        return self.is_word(torch.arange(self.size)).nonzero()[:, 0]

    def nth_word(self, number: Tensor) -> Tensor:
        """The ids of the words with these numbers, counted from 0 in the order of their ids."""
        if self._first is not None and self._first == self.unknown:
            return number + self._first + 1
        return self.words.to(number.device)[number]

    def number_of(self, ids: Tensor) -> Tensor:
        """The inverse of `nth_word`; -1 for what is no word."""
        words = self.is_word(torch.arange(self.size, device=ids.device))
        return (words.cumsum(0) * words - 1)[ids]


@lru_cache(maxsize=16)
def _in_text(special: tuple[int, ...], size: int, device: torch.device) -> Tensor:
    table = torch.ones(size, dtype=torch.bool)
    table[list(special)] = False
    return table.to(device)


@dataclass(frozen=True)
class Tokens:
    """A batch of texts as ids `[b, t]`, with what the corpus knows about every token.

    `word_ids` and `sentence_ids` are running numbers; `vocabulary` holds the strings by id where they are shown.
    `example_ids` `[b]` are the numbers of the texts in the corpus and `epoch` `[b]` counts their earlier visits (static
    masks need both); `previous_ids` `[b]` are the tokens before rows that continue those of the step before, -1
    or none where they begin anew; `word_counts` `[v]` are the corpus frequencies. `reuse_len` is the number of first
    tokens of a row that those of the next step go on behind (0: all). `sizes` are the `lengths` as plain numbers, read
    once for a whole block of steps, because each read synchronises with the GPU.
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
    previous_ids: Tensor | None = None
    word_counts: Tensor | None = None
    reuse_len: int = 0
    sizes: tuple[int, ...] | None = field(default=None, repr=False, compare=False)

    __getstate__ = declared_fields

    @cached_property
    def valid(self) -> Tensor:
        """True at tokens of the text, False at padding, `[b, t]`; read-only."""
        return arange_rows(self.ids) < self.lengths[:, None] if self.padded else ones_view(self.ids)

    @cached_property
    def maskable(self) -> Tensor:
        """Which tokens an objective may select: neither padding nor special tokens (unknown words count as words)."""
        if self.words_alone:
            return ones_view(self.ids)
        words = self.specials.in_text(self.ids)
        return self.valid & words if self.padded else words

    @cached_property
    def words_alone(self) -> bool:
        """Whether there is neither padding nor a special token."""
        return not self.padded and bool(self.ids.numel()) and bool(self.specials.in_text(self.ids).all())

    @cached_property
    def lengths_list(self) -> tuple[int, ...]:
        """The number of tokens of each text; synchronises with the GPU unless `sizes` are known."""
        if not self.padded:
            return (self.ids.shape[1],) * len(self.ids)
        return tuple(self.lengths.tolist()) if self.sizes is None else self.sizes

    def to(self, device: torch.device) -> "Tokens":
        return replace(
            self,
            **{name: getattr(self, name).to(device) for name in ("ids", "lengths", "word_ids", "sentence_ids")},
            **{name: kept.to(device) for name in OPTIONAL if (kept := getattr(self, name)) is not None},
            labels={k: v.to(device) for k, v in self.labels.items()},
            neighbours={k: v.to(device) for k, v in self.neighbours.items()},
        )


@dataclass(frozen=True)
class Stretches:
    """The stretches of the rows of a batch that a recurrent network reads each for itself, and in which directions.

    `begins` `[b, n]` marks their first positions; `starts` are these positions of each row as plain numbers.
    """

    begins: Tensor
    starts: tuple[tuple[int, ...], ...]
    leftwards: bool
    rightwards: bool


@dataclass(frozen=True)
class AttentionMask:
    """Which keys each query may attend to: query x key, allowed where the key's level is at most the query's.

    One comparison covers nearly all masks of the field: full (all levels 0), causal (level = position), prefix,
    permutation (level = rank), padding (level `MASKED_LEVEL`). `window` holds the first and the last key position of
    each query, `excluded` one key position that it may not attend to (-1: none), all `[b, n]`; `overrides` `[b, n, m]`
    closes single cells. `form` is a promise that allows a faster path: "full" and "causal" are exactly that, unpadded;
    "alone" is the position itself only; "window" the window without one position, unpadded. `odd_layers` is the mask
    of every second layer where layers differ. `stretches` are known where a recurrent network trains on exactly this
    mask; they are read once for a whole block of steps.
    """

    query_level: Tensor
    key_level: Tensor
    form: Literal["full", "causal", "alone", "window", "levels"] = "levels"
    overrides: Tensor | None = None
    window: tuple[Tensor, Tensor] | None = None
    excluded: Tensor | None = None
    odd_layers: "AttentionMask | None" = None
    stretches: Stretches | None = field(default=None, repr=False, compare=False)

    def layer(self, number: int) -> "AttentionMask":
        return self if self.odd_layers is None or number % 2 == 0 else self.odd_layers

    def alternating(self, window: int) -> "AttentionMask":
        """The mask with a band in every second layer: only keys less than `window` positions away; 0: none."""
        if not window:
            return self
        above = self.layer(1)
        position = arange(above.key_level.shape[1], above.key_level.device)[None]
        first, last = position - window + 1, position + window - 1
        if above.window is not None:
            first, last = torch.maximum(first, above.window[0]), torch.minimum(last, above.window[1])
        return replace(self, odd_layers=replace(above, form="levels", window=(first, last), odd_layers=None))

    def dense(self) -> Tensor:
        """The matrix `[b or 1, n, m]` of booleans, row = query, column = key.

        A key is allowed below the level after its query's. The sign of the difference says so in 16 bits; a comparison
        takes three times as long, because it writes other numbers of bits than it reads.
        """
        above = (self.query_level.short() + 1)[:, :, None] - self.key_level.short()[:, None, :]
        cells = above.relu_().bool()
        if self.window is not None:
            position = arange(self.key_level.shape[1], self.key_level.device)
            cells = cells & (position >= self.window[0][:, :, None]) & (position <= self.window[1][:, :, None])
        if self.excluded is not None:
            cells = cells & (arange(self.key_level.shape[1], self.key_level.device) != self.excluded[:, :, None])
        return cells if self.overrides is None else cells & self.overrides

    def behind(self, number: int, two_sided: bool) -> "AttentionMask":
        """The mask behind so many virtual tokens, which every position may attend to.

        They attend to each other and to what every position of the text may attend to, so that no
        answer reaches a position that may not see it. If the text is read from one side, each attends to those before
        it alone.
        """
        text = self.dense()
        among, read = text.new_ones(len(text), number, number), text.all(dim=1, keepdim=True) & two_sided
        first = torch.cat([among if two_sided else among.tril(), read.expand(-1, number, -1)], dim=2)
        rest = torch.cat([text.new_ones(*text.shape[:2], number), text], dim=2)
        cells = torch.cat([first, rest], dim=1)
        level = zeros_view(cells[..., 0])
        above = None if self.odd_layers is None else self.odd_layers.behind(number, two_sided)
        return AttentionMask(level, level, overrides=cells, odd_layers=above)

    def at(self, positions: Tensor) -> "AttentionMask":
        """The mask of the queries at some positions `[b, m]`, in that order."""

        def rows(values: Tensor) -> Tensor:
            return values.expand(len(positions), -1).gather(1, positions)

        overrides = self.overrides
        if overrides is not None:
            index = positions[..., None].expand(-1, -1, overrides.shape[-1])
            overrides = overrides.expand(len(positions), -1, -1).gather(1, index)
        return AttentionMask(
            rows(self.query_level),
            self.key_level,
            overrides=overrides,
            window=None if self.window is None else (rows(self.window[0]), rows(self.window[1])),
            excluded=None if self.excluded is None else rows(self.excluded),
            odd_layers=None if self.odd_layers is None else self.odd_layers.at(positions),
        )


MASK_TITLES = {
    "encoder": "Attention mask",
    "content": "Content stream: attends to its own token and to earlier ones",
    "query": "Query stream: attends to earlier tokens only",
    "decoder": "Decoder: attends to what is written so far",
    "cross": "Cross-attention: decoder to encoder",
}
"""The titles of the attention masks on screen."""


@dataclass(frozen=True)
class LabelIds:
    """A label that a stack reads at every position, `[b, n]`: 0 where it is not known, else its class from 1 on."""

    ids: Tensor
    classes: tuple[str, ...]


@dataclass(frozen=True)
class Stream:
    """The positions of one stack, `[b, n]`, and their attention masks.

    `origin` is where in the text a position comes from (-1: inserted). `query_attn_mask` belongs to a second,
    content-blind stream (XLNet), `cross_attn_mask` to a decoder. With `predicts_next` each position answers for the one
    that comes after it in the prediction order. `mems` are states of the text before, `[b, m, d]` for each layer,
    to which every position attends as well (Transformer-XL). `label_ids` are labels by name that are read with the
    words (SentiLR). `second_position_ids` `[b, n]` are those of the words to predict (sigma-GPT), or count the tokens
    of a span from 1 and are 0 elsewhere (GLM). `known_ends` are the `ends`, read once for a whole block of steps.
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
    label_ids: Mapping[str, LabelIds] = field(default_factory=dict)
    second_position_ids: Tensor | None = None
    mems: tuple[Tensor, ...] = field(default=(), repr=False)
    known_ends: tuple[int, ...] | None = field(default=None, repr=False, compare=False)

    def alternating(self, window: int) -> "Stream":
        """The stream with a band in every second layer of its self-attention (see `AttentionMask.alternating`)."""
        if not window:
            return self
        query = None if self.query_attn_mask is None else self.query_attn_mask.alternating(window)
        return replace(self, attn_mask=self.attn_mask.alternating(window), query_attn_mask=query)

    @cached_property
    def ends(self) -> tuple[int, ...]:
        """The length of each row, 0 where it is empty; synchronises with the GPU unless known."""
        if self.known_ends is not None:
            return self.known_ends
        position = torch.arange(1, self.valid.shape[1] + 1, device=self.valid.device)
        return tuple((self.valid * position.short()).amax(1).tolist())


@dataclass(frozen=True)
class Spans:
    """Spans of the text, `[b, m]`: first position and length; length 0 is a gap before `start`, -1 is no span."""

    start: Tensor
    length: Tensor

    @cached_property
    def is_span(self) -> Tensor:
        return self.length >= 0


@dataclass(frozen=True)
class Batch:
    """A batch on its way from text to training: the model's input, what was changed, what is predicted.

    `selected`, `actions` and `prediction_order` `[b, t]` are by position in the text, so they stay true when tokens
    move. `auxiliary` holds batches of the same texts that are trained in the same step (a generator's, another
    direction's); `network` names the network of the model that reads this one. `dupe_factor` is the number of fixed
    corruptions of each text (0: a new one at every visit), so that all stages of a static mask agree. `time` `[b, t]`
    is the probability with which diffusion hides each token, `block` `[b, t]` the number of the block that it is in.
    """

    tokens: Tokens
    inputs: Stream
    selected: Tensor
    actions: Tensor
    prediction_order: Tensor
    spans: Spans
    decoder: Stream | None = None
    auxiliary: tuple["Batch", ...] = ()
    network: Literal["main", "generator", "backward", "teacher"] = "main"
    targets: "tuple[Target, ...]" = ()
    dupe_factor: int = 0
    time: Tensor | None = None
    block: Tensor | None = None
    drawn: "DrawnSelection | None" = field(default=None, repr=False, compare=False)

    @cached_property
    def count(self) -> int:
        """The number of tokens of its texts; synchronises with the GPU unless `tokens.sizes` are known."""
        return sum(self.tokens.lengths_list)

    @property
    def maskable(self) -> Tensor:
        return self.tokens.maskable

    @property
    def is_generator(self) -> bool:
        return self.network == "generator"

    @property
    def answering(self) -> Stream:
        """The stream whose positions answer its first target."""
        return self.stream_of(self.targets[0])

    def actions_at(self, stream: Stream) -> Tensor:
        """What was done to the token that each position of a stream shows, `[b, n]`.

        A masked token that is shown as it was, as in the clean copy of block diffusion, is kept there.
        """
        action = gather_origin(self.actions, stream.origin, int(Action.KEPT))
        clean = (action == Action.MASKED) & (stream.ids == gather_origin(self.tokens.ids, stream.origin))
        return action.masked_fill(clean, int(Action.KEPT))

    def stream_of(self, target: "Target") -> Stream:
        """The stream whose positions answer a target."""
        return self.decoder if self.decoder is not None and target.at_decoder else self.inputs

    @cached_property
    def selected_positions(self) -> Tensor:
        """The selected positions `[m]`, counted through the rows; in the order of their draws, if that is known."""
        if self.drawn is not None and self.drawn.selected is self.selected:
            return self.drawn.positions
        return self.selected.flatten().nonzero()[:, 0]

    @cached_property
    def prediction_step(self) -> Tensor:
        """The step at which each selected position is predicted, `[b, t]`; -1 for the others."""
        return (self.prediction_order + 1) * self.selected - 1

    @property
    def selected_at(self) -> tuple[Tensor, Tensor]:
        """The row and the position of each selected token `[m]`, row by row."""
        inside, width = self.selected_positions.sort().values, max(1, self.selected.shape[1])
        return inside // width, inside % width

    @property
    def generator(self) -> "Batch | None":
        """The batch that the generator trains on, where one takes part."""
        return next((e for e in self.auxiliary if e.is_generator), None)

    @property
    def teacher(self) -> "Batch | None":
        """The batch that the teacher reads, where one takes part."""
        return next((e for e in self.auxiliary if e.network == "teacher"), None)

    @property
    def with_auxiliary(self) -> tuple["Batch", ...]:
        """All batches of this step: the auxiliary ones in their order, this one last."""
        return (*(e for part in self.auxiliary for e in part.with_auxiliary), self)


@dataclass(frozen=True)
class DrawnSelection:
    """The positions `[m]` that are `selected` `[b, t]`, in the order of their draws, which the next draws follow."""

    selected: Tensor
    positions: Tensor


def with_selection(batch: Batch, chosen: Tensor, positions: Tensor, copies: int) -> Batch:
    """The batch with other tokens selected, whose `positions` are known."""
    return replace(batch, selected=chosen, dupe_factor=copies, drawn=DrawnSelection(chosen, positions))


def token_strings(ids: Tensor, real: Tensor, vocabulary: Sequence[str]) -> list[str]:
    """The strings of a row's real tokens."""
    return [str(vocabulary[i]) for i in ids[real].tolist()]


def begin(tokens: Tokens) -> Batch:
    """The text as it stands: nothing selected or changed, full attention, no target."""
    empty, positions = tokens.ids[:, :0], arange_rows(tokens.ids)
    origin = positions.where(tokens.valid, -1) if tokens.padded else positions
    return Batch(
        tokens=tokens,
        inputs=stream(
            tokens.ids,
            origin,
            tokens.valid,
            padded=tokens.padded,
            language=tokens.labels["language"].clamp(min=0) if "language" in tokens.labels else None,
        ),
        selected=zeros_view(tokens.ids, dtype=torch.bool),
        actions=zeros_view(tokens.ids),
        prediction_order=positions,
        spans=Spans(empty, empty),
    )


@cache
def arange(width: int, device: torch.device) -> Tensor:
    """The numbers 0, 1, 2 ... `[width]`; made once, so read-only."""
    return torch.arange(width, device=device)


def arange_rows(like: Tensor) -> Tensor:
    """The numbers 0, 1, 2 ... in every row of a shape, as a view of one row; read-only."""
    return _rows(like.shape, like.device)


@lru_cache
def _rows(shape: torch.Size, device: torch.device) -> Tensor:
    return arange(shape[1], device).expand(shape)


def is_identity(origin: Tensor) -> bool:
    """Whether positions are the positions of an unpadded text: the very view that `arange_rows` gives."""
    return origin.stride(0) == 0 and origin.data_ptr() == arange(origin.shape[1], origin.device).data_ptr()


@lru_cache(maxsize=512)
def _constant(value: int, shape: torch.Size, dtype: torch.dtype, device: torch.device) -> Tensor:
    return torch.full((), value, dtype=dtype, device=device).expand(shape)


def zeros_view(like: Tensor, dtype: torch.dtype = torch.long) -> Tensor:
    """Zeros of a shape as a view of one number; read-only."""
    return _constant(0, like.shape, dtype, like.device)


def ones_view(like: Tensor) -> Tensor:
    """True everywhere, as a view of one value; read-only."""
    return _constant(1, like.shape, torch.bool, like.device)


def full_view(number: int, rows: int, device: torch.device) -> Tensor:
    """One number in every row, `[rows]`, as a view; read-only."""
    return _constant(number, torch.Size((rows,)), torch.long, device)


def is_all_true(values: Tensor) -> bool:
    """Whether booleans are the view that `ones_view` gives, known without reading any."""
    return not any(values.stride()) and values.data_ptr() == ones_view(values).data_ptr()


def language_ids_at(tokens: Tokens, origin: Tensor, part: Tensor | None = None) -> Tensor:
    """The language `[b, n]` of every position, 0 where the text has none (XLM, arXiv:1901.07291, sec. 3.4).

    An inserted token has the language of the word before it, else of the word after it, within its own `part`.
    """
    if "language" not in tokens.labels or not tokens.ids.shape[1] or not origin.shape[1]:
        return zeros_view(origin)
    width = origin.shape[1]
    position = torch.arange(width, device=origin.device).expand_as(origin)
    before = position.masked_fill(origin < 0, -1).cummax(1).values
    after = position.masked_fill(origin < 0, width).flip(1).cummin(1).values.flip(1)
    near = before.where(before >= 0, after)
    if part is not None:
        own = (before >= 0) & (part.gather(1, before.clamp(min=0)) == part)
        near = before.where(own, after.where(after < width, before))
    language = gather_origin(tokens.labels["language"].clamp(min=0), origin)
    return language.gather(1, near.clamp(0, width - 1))


def stream(ids: Tensor, origin: Tensor, real: Tensor, *, padded: bool = True, language: Tensor | None = None) -> Stream:
    """A stream with natural positions, one segment and full attention, to be narrowed by later stages."""
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
    """Every query attends to every real key; `readers` `[b, n]` gives the number of queries where it differs."""
    reader = zeros_view(real if readers is None else readers)
    if not padded:
        return AttentionMask(reader, zeros_view(real), "full")
    return AttentionMask(reader, (~real).short() * MASKED_LEVEL)


def causal_mask(real: Tensor, padded: bool) -> AttentionMask:
    """A query attends to itself and to what stands to its left."""
    position = arange_rows(real)
    return AttentionMask(position, _hide(position, real)) if padded else AttentionMask(position, position, "causal")


def mask_by_level(reader: Tensor, read: Tensor, real: Tensor, padded: bool = True) -> AttentionMask:
    """A query attends to the real keys whose level is at most its own."""
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


def position_of(stream: Stream, length: int) -> Tensor:
    """The position of a stream at which each of the text's length `[b, length]` stands (0 where it stands nowhere)."""
    rows, width = stream.origin.shape
    table = stream.origin.new_zeros((rows, length + 1))
    positions = torch.arange(width, device=table.device).expand(rows, width)
    return table.scatter(1, stream.origin.where(stream.origin >= 0, length), positions)[:, :length]
