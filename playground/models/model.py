"""A language model: embeddings, one or two stacks, heads. It reads a `Batch` and scores its targets."""

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import cast

import torch
from torch import Generator, Tensor, nn
from torch.nn.functional import gelu, pad

from playground.answers import Answer, Target
from playground.batch import (
    AttentionMask,
    Batch,
    Stream,
    Tokens,
    arange_rows,
    begin,
    causal_mask,
    full_mask,
    mask_by_level,
    ones_view,
    position_of,
    stream,
    zeros_view,
)
from playground.errors import NoHead, UserError
from playground.models.architecture import Architecture, need
from playground.models.characters import CharacterCNN
from playground.models.dropout import Dropout
from playground.models.heads import (
    BoundaryHead,
    ClassificationHead,
    RegressionHead,
    VocabularyHead,
    infersent_features,
)
from playground.models.multi_token import FurtherBlock, shifted
from playground.models.positions import PositionEncoding, RelativePositions, relative_bias, rotary, sinusoids
from playground.models.recurrent import RecurrentStack, init_recurrent
from playground.models.teacher import mlp_outputs, slow_copy
from playground.models.transformer import (
    AttentionWeights,
    Block,
    Memory,
    SdpaMask,
    Stack,
    Weights,
    init_mimetic,
    init_normal,
    make_norm,
    share_modules,
)
from playground.models.window import WindowHead, WindowStack, narrowed
from playground.models.word_vectors import DisentangledEmbedding, StaticHead, StaticNetwork
from playground.tokenizing.library import continuing

NO_LM_HEAD = (
    "This model has no head that scores words, so it has no predictions and no loss; look at its attention, probe "
    "its states or fine-tune it."
)


SHARED = (
    "position_embedding", "segment_embedding", "language_embedding", "label_embedding", "ln_embedding",
    "second_position_embedding", "characters",
)  # fmt: skip
"""The parts of a network that another one may read too (see `share_modules`)."""


class Network(nn.Module):
    """Stacks of one width over token embeddings `inner` wide, whose table belongs to the model.

    Where word vectors are narrower than the network by design, the sum of all embeddings is projected (ALBERT,
    arXiv:1909.11942, sec. 3.1), and so with `projects_sum`, or with `shared`, the network whose position, segment and
    language embeddings are read (ELECTRA, arXiv:2003.10555, sec. 3.2 and released code).
    """

    def __init__(
        self,
        shape: Architecture,
        width: int,
        inner: int,
        shared: "Network | None" = None,
        words: Sequence[str] = (),
        projects_sum: bool = False,
    ) -> None:
        super().__init__()
        self.shape, self.width = shape, width
        self.projects_sum = projects_sum or shared is not None or bool(shape.embedding_size)
        self.embedding_projection = nn.Linear(inner, width) if inner != width else None
        make = RecurrentStack if shape.recurrent else Stack
        self.encoder = (WindowStack if shape.kind == "window" else make)(shape, shape.layers, width)
        if shape.decoder_layers:
            self.decoder = make(shape, shape.decoder_layers, width, crosses=True)
        self.characters = CharacterCNN(inner, words) if shape.char_cnn and shared is None else None
        summed = inner if self.projects_sum else width
        if shared is None:
            self._add_embeddings(summed)
        else:
            share_modules(self, **{part: getattr(shared, part) for part in SHARED if hasattr(shared, part)})
        if shape.decoder_layers and shape.decoder_positions:
            self.decoder_position_embedding = nn.Embedding(shape.max_position_embeddings, summed)
            self.decoder_ln_embedding = make_norm(shape, summed) if shape.embedding_norm else nn.Identity()
        self.embedding_dropout = Dropout(shape.dropout) if shape.dropout else None
        if shape.two_streams and not shape.recurrent:
            self.query_embedding = nn.Parameter(torch.zeros(summed))
        self.prompt: Callable[[], Tensor] | None = None  # virtual tokens before the text, as the first layer reads them

    def _add_embeddings(self, width: int) -> None:
        """The tables of learned positions, segments, languages and labels, for vectors of a width, and their norm."""
        shape, longest, second = self.shape, self.shape.max_position_embeddings, self.shape.second_positions
        if shape.positions == "learned" and second != "concatenated":
            self.position_embedding = nn.Embedding(longest, width)
        if second != "none":
            self.second_position_embedding = nn.Embedding(longest, width // 2 if second == "concatenated" else width)
        if self.adds_segments:
            self.segment_embedding = nn.Embedding(shape.segments, width)
        if shape.languages:
            self.language_embedding = nn.Embedding(shape.languages, width)
        tables = {name: nn.Embedding(number + 1, width) for name, number in shape.label_embeddings}
        self.label_embedding = nn.ModuleDict(tables)
        if shape.embedding_norm:
            self.ln_embedding = make_norm(shape, width)

    def forward(
        self,
        stream: Stream,
        table: Tensor,
        attn_weights: Weights = None,
        name: str = "encoder",
        states: list[Tensor] | None = None,
    ) -> Tensor:
        """The last states of every position of a stream, `[b, n, d]`; what each layer reads is appended to `states`."""
        stream = stream.alternating(self.shape.attention_window)
        x, stream, number = self._prompted(self._embed(stream, table), stream)
        positions = self._positions_in(stream, stream.position_ids)
        if isinstance(self.encoder, RecurrentStack | WindowStack):  # which have no attention weights
            return self.encoder.hidden_states(x, stream.attn_mask, positions, 0, len(self.encoder.blocks))[-1]
        x = self.encoder(x, stream.attn_mask, positions, attn_weights, name, Memory(stream.mems, states, number))
        return x[:, number:] if number else x

    def hidden_states(self, stream: Stream, table: Tensor, below: Tensor | None, first: int, last: int) -> list[Tensor]:
        """The states `[b, n, d]` at the levels `first` to `last`: 0 embeddings, k layer k, then the final norm."""
        if below is not None and first == last:
            return [below]
        x = self._embed(stream, table) if below is None else below
        x, stream, number = self._prompted(x, stream.alternating(self.shape.attention_window))
        assert not (number and first), "what virtual tokens become in the layers below is not known"
        positions = self._positions_in(stream, stream.position_ids)
        levels = self.encoder.hidden_states(x, stream.attn_mask, positions, first, last)
        return [level[:, number:] for level in levels] if number else levels

    def query_stream(
        self,
        stream: Stream,
        query_positions: Tensor,
        table: Tensor,
        attn_weights: Weights = None,
        states: list[Tensor] | None = None,
    ) -> Tensor:
        """The states `[b, m, d]` of the query stream at some positions `[b, m]`, without their tokens."""
        stream = stream.alternating(self.shape.attention_window)
        assert stream.query_attn_mask is not None, "a see stage with an order must come before"
        content = self._embed(stream, table)
        if isinstance(self.encoder, RecurrentStack):
            return self.encoder.two_stream(content, (stream.attn_mask, stream.query_attn_mask), query_positions)
        assert isinstance(self.encoder, Stack)
        second = self._second_positions(stream, written=False)
        second = None if second is None else second.gather(1, query_positions)
        content, stream, number = self._prompted(content, stream)
        query_positions = query_positions + number if number else query_positions
        masks = (stream.attn_mask, cast("AttentionMask", stream.query_attn_mask))
        here = stream.position_ids.gather(1, query_positions)
        query = self._finish(self.query_embedding.expand(*query_positions.shape, -1), here, second=second)
        positions = (self._positions_in(stream, stream.position_ids), self._positions_in(stream, here, query_positions))
        memory = Memory(stream.mems, states, number)
        return self.encoder.two_stream(content, query, masks, positions, attn_weights, query_positions, memory)

    def decode(
        self, decoder: Stream, source: Stream, table: Tensor, attn_weights: Weights = None, read: Tensor | None = None
    ) -> Tensor:
        """The last states of the decoder, `[b, n, d]`; `read` are the encoder's states of the source, if known."""
        assert decoder.cross_attn_mask is not None
        read = self.forward(source, table, attn_weights) if read is None else read
        masks = (decoder.attn_mask.alternating(self.shape.attention_window), decoder.cross_attn_mask)
        positions = (
            self._positions(decoder.position_ids, written=True),
            self._positions(decoder.position_ids, source.position_ids) if self.shape.positions == "rotary" else None,
        )
        return self.decoder.decode(self._embed(decoder, table, written=True), read, masks, positions, attn_weights)

    @property
    def adds_segments(self) -> bool:
        """Whether a position gets its segment by a vector; relative positions compare segments instead."""
        return bool(self.shape.segments) and self.shape.positions != "relative"

    def _embed(self, stream: Stream, table: Tensor, written: bool = False) -> Tensor:
        second, longest = self._second_positions(stream, written), self.shape.max_position_embeddings
        read = [
            ids
            for ids in (stream.position_ids if self.shape.positions == "learned" else None, second)
            if ids is not None
        ]
        wide = bool(read) and stream.ids.shape[1] + (second is not None) > longest
        if wide and max(int(ids.max()) for ids in read) >= longest:  # pairs of words keep the positions of their words
            raise UserError(
                f"The text has {stream.ids.shape[1]} positions; this model learned {longest}. Shorten the text."
            )
        x = nn.functional.embedding(stream.ids, table if self.characters is None else self.characters())  # [b, n, d]
        x = x if self.embedding_projection is None or self.projects_sum else self.embedding_projection(x)
        if self.adds_segments:
            x = x + self.segment_embedding(stream.segment_ids.clamp(max=self.shape.segments - 1))
        if self.shape.languages:
            x = x + self.language_embedding(stream.language_ids.clamp(max=self.shape.languages - 1))
        for name, embedding in self.label_embedding.items():
            label = stream.label_ids.get(name)
            x = x + embedding(zeros_view(stream.ids) if label is None else label.ids)
        return self._finish(x, stream.position_ids, written, second)

    def _second_positions(self, stream: Stream, written: bool) -> Tensor | None:
        """The second positions `[b, n]`, where the network reads them.

        A stream without any is a text in its own order: read from one side, the next word is predicted, else each token
        is outside of spans.
        """
        if self.shape.second_positions == "none":
            need(stream.second_position_ids is None, "gives each token a second position", "second_positions to added")
            return None
        if stream.second_position_ids is not None:
            return stream.second_position_ids
        ahead = self.shape.attention != "bidirectional" and not written
        return stream.position_ids + 1 if ahead else zeros_view(stream.ids)

    def embed_words(self, ids: Tensor, table: Tensor) -> Tensor:
        """What the first layer reads of some words `[k]`, each as a text of its own, `[k, d]`."""
        return self._embed(stream(ids[:, None], zeros_view(ids[:, None]), ones_view(ids[:, None])), table)[:, 0]

    def _prompted(self, x: Tensor, stream: Stream) -> tuple[Tensor, Stream, int]:
        """What the first layer reads with the virtual tokens before it, its masks and positions, and their number.

        The text keeps its positions, those of virtual tokens are below 0.
        """
        if self.prompt is None:
            return x, stream, 0
        virtual = self.prompt().to(x.dtype)  # [k, d]
        number, position = len(virtual), stream.position_ids
        rows = position[:1] if position.stride(0) == 0 else position  # the same in all rows
        before = torch.arange(-number, 0, device=x.device).expand(len(rows), -1)
        two_sided, asks = self.shape.attention == "bidirectional", stream.query_attn_mask
        stream = replace(
            stream, attn_mask=stream.attn_mask.behind(number, two_sided),
            query_attn_mask=None if asks is None else asks.behind(number, two_sided),
            position_ids=torch.cat([before, rows], dim=1).expand(len(x), -1),
            segment_ids=pad(stream.segment_ids, (number, 0)),
        )  # fmt: skip
        return torch.cat([virtual.expand(len(x), -1, -1), x], dim=1), stream, number

    def _finish(self, x: Tensor, position: Tensor, written: bool = False, second: Tensor | None = None) -> Tensor:
        """What the first layer reads: word, segment, language, labels and positions, under a norm, as wide as it."""
        own = "decoder_" if written and self.shape.decoder_positions else ""
        if self.shape.second_positions == "concatenated" and second is not None:
            x = x + torch.cat([self.second_position_embedding(ids) for ids in (position, second)], dim=-1)
        elif self.shape.positions == "learned":
            x = x + getattr(self, f"{own}position_embedding")(position)
        elif self.shape.positions == "sinusoidal":
            x = x + sinusoids(position, x.shape[-1])
        if self.shape.second_positions == "added" and second is not None:
            x = x + self.second_position_embedding(second)
        x = getattr(self, f"{own}ln_embedding")(x) if self.shape.embedding_norm else x
        x = x if self.embedding_dropout is None else self.embedding_dropout(x)
        return self.embedding_projection(x) if self.embedding_projection is not None and self.projects_sum else x

    def _positions_in(
        self, stream: Stream, query: Tensor, query_positions: Tensor | None = None
    ) -> PositionEncoding | None:
        """How attention learns the positions of a stream's keys and of its queries, all or at `query_positions`."""
        key, memory = stream.position_ids, stream.mems[0].shape[1] if stream.mems else 0
        other = None
        if self.shape.segments and self.shape.positions == "relative":  # a memory is of segment 0
            asks = stream.segment_ids if query_positions is None else stream.segment_ids.gather(1, query_positions)
            other = asks[:, :, None] != torch.nn.functional.pad(stream.segment_ids, (memory, 0))[:, None, :]
        shared = key.stride(0) == 0  # the numbers of the positions, the same in all rows
        span = (1 - key.shape[1], key.shape[1] - 1 + memory) if shared else None
        if memory:
            key = key[:1] if shared else key
            before = torch.arange(-memory, 0, device=key.device)
            key = torch.cat([before.expand(len(key), -1), key], dim=1)
        return self._positions(query, None if key is query else key, span=span, other=other)

    def _positions(
        self,
        query: Tensor,
        key: Tensor | None = None,
        written: bool = False,
        span: tuple[int, int] | None = None,
        other: Tensor | None = None,
    ) -> PositionEncoding | None:
        """How attention learns the positions of its queries and keys, in the encoder or among what is `written`."""
        if self.shape.kind != "transformer":
            return None
        query = query[:1] if query.stride(0) == 0 else query  # the same in all rows
        key = query if key is None else key[:1] if key.stride(0) == 0 else key
        match self.shape.positions:
            case "rotary":
                return rotary(query, key, self.shape.head_dim or self.width // self.shape.heads)
            case "relative":
                return RelativePositions.of(query, key, self.width, span, other)
            case "relative bias":
                stack = cast("Stack", self.decoder if written else self.encoder)
                return relative_bias(query, key, stack.relative_attention_bias, both_sides=not written)
            case _:
                return None


def stacked(attn_weights: AttentionWeights) -> dict[str, Tensor]:
    """Weights by matrix, `[layers, b, h, n, m]`; a layer of which heads were cut has zeros behind those that stay."""
    most = max((each.shape[1] for layers in attn_weights.values() for each in layers), default=0)
    return {
        name: torch.stack([pad(each, (0, 0, 0, 0, 0, most - each.shape[1])) for each in layers])
        for name, layers in attn_weights.items()
    }


class LanguageModel(nn.Module):
    """One embedding table, one network, the heads, for ELECTRA a generator; `words` are the vocabulary for n-grams.

    Without a generator of random numbers its weights stay as they come; such a model is there to be counted.
    """

    def __init__(self, shape: Architecture, size: int, rng: Generator | None, words: Sequence[str] = ()) -> None:
        super().__init__()
        self.shape = shape
        self.token_embedding = nn.Embedding(size, shape.table_width)
        if shape.kind == "static":
            radius = shape.window_radius
            self.network = StaticNetwork(shape.width, shape.ngrams, words, radius)
            self.lm_head = WindowHead(shape.width) if radius else StaticHead(shape.width, size, shape.counts)
        else:
            self.network = Network(shape, shape.width, shape.table_width, words=words)
            self.lm_head = VocabularyHead(shape, size, shape.width) if shape.lm_head else None
        if shape.rtd_head:
            self.rtd_head = ClassificationHead(shape.width, 1, gelu)
        if shape.sbo_head:
            self.sbo_head = BoundaryHead(shape.width)
        if shape.regression_head:
            self.regression_head = RegressionHead(shape.width)
        if shape.mtp_num_layers:
            self.mtp_blocks = nn.ModuleList(FurtherBlock(shape) for _ in range(shape.mtp_num_layers))
        self.label_heads = nn.ModuleDict(
            {n: ClassificationHead(shape.width, k, pairs=n in shape.paired) for n, k in shape.labels}
        )
        if shape.generator_ratio:
            self._add_generator(size, words)
        if shape.directions == 2:  # it shares the embeddings
            self.backward_network = Network(
                one_stack(shape).reading("right to left"), shape.width, shape.table_width, cast("Network", self.network)
            )
        if rng is not None:
            _init(self, rng)
        if shape.teacher:
            self.teacher = slow_copy(self.network)

    def _add_generator(self, size: int, words: Sequence[str]) -> None:
        shape, network = self.shape, self.network
        if shape.generator_reads_own_words:
            self.generator_token_embedding = nn.Embedding(size, shape.table_width)
        else:
            share_modules(self, generator_token_embedding=self.token_embedding)
        if shape.tie_generator == "all" and self.lm_head is not None:
            share_modules(self, generator=network, generator_lm_head=self.lm_head)
            return
        shared = network if shape.tie_generator == "embeddings" and isinstance(network, Network) else None
        wide = shape.generator_reads_own_words
        self.generator = Network(one_stack(shape), shape.generator_width, shape.table_width, shared, words, wide)
        self.generator_lm_head = VocabularyHead(shape, size, shape.generator_width)
        if shape.tie_generator == "gradient-disentangled":
            self.token_embedding = DisentangledEmbedding(self.generator_token_embedding)
            if hasattr(network, "position_embedding"):
                network.add_module("position_embedding", DisentangledEmbedding(self.generator.position_embedding))

    def forward(
        self, batch: Batch, attn_weights: Weights = None, states: list[Tensor] | None = None
    ) -> tuple[Answer, ...]:
        """Scores at the scored positions of every target; those of the auxiliary batches come first.

        What the layers read of the batch itself, `[b, n, d]` each, is appended to `states`, for a memory of it.
        """
        reading = ForwardPass(self, batch, attn_weights, states)
        return tuple(reading.answer(part, target) for part in batch.with_auxiliary for target in part.targets)

    def network_of(self, batch: Batch) -> Network | StaticNetwork:
        """The network that reads a batch; without a backward network, one network reads both directions."""
        if batch.is_generator:
            need(self.shape.generator_ratio, "needs a generator", "generator_ratio above 0")
            return self.generator
        return self.backward_network if batch.network == "backward" and self.shape.directions == 2 else self.network

    def table_of(self, network: Network | StaticNetwork) -> nn.Embedding | DisentangledEmbedding:
        """The word vectors that a network reads."""
        generates = self.shape.generator_ratio and network is self.generator
        return self.generator_token_embedding if generates else self.token_embedding

    def score(self, hidden: Tensor, head: str, network: Network | StaticNetwork) -> Tensor:
        """Scores `[k, c]` of k states by a head: "vocabulary", "rtd_head", "regression_head" or "label:NAME"."""
        if head == "vocabulary":
            return self.vocabulary_head(network)(hidden, self.table_of(network).weight)
        if head == "regression_head":
            need(self.shape.regression_head, "predicts vectors", "regression_head to yes")
            return self.regression_head(hidden)
        if head == "rtd_head":
            need(self.shape.rtd_head, "asks 'original or replaced?'", "rtd_head to yes")
            return self.rtd_head(hidden)
        name = head.removeprefix("label:")
        need(name in self.label_heads, f"asks for the label {name!r}", f"labels to hold {name!r} and its classes")
        return self.label_heads[name](hidden)

    def vocabulary_head(self, network: Network | StaticNetwork) -> VocabularyHead | StaticHead | WindowHead:
        """The head that scores words from the states of a network."""
        if self.shape.generator_ratio and network is self.generator:
            return self.generator_lm_head
        if self.lm_head is None:
            raise NoHead(NO_LM_HEAD)
        return self.lm_head

    def unscored(self, batch: Batch) -> str:
        """Why the targets of a batch have no scores, in a sentence; empty where this model can answer."""
        asks = any(target.kind.head == "vocabulary" for target in batch.targets)
        return NO_LM_HEAD if asks and not batch.is_generator and self.lm_head is None else ""

    @torch.no_grad()
    def propose(self, batch: Batch) -> Tensor:
        """The generator's scores `[k, v]` for the k selected tokens of the text, without gradient."""
        need(self.shape.generator_ratio, "needs a generator", "generator_ratio above 0")
        inputs = batch.inputs
        rows, positions = batch.selected_at
        there = position_of(inputs, batch.tokens.ids.shape[1])[rows, positions]
        table = self.generator_token_embedding.weight
        hidden = self.generator(inputs, table)[rows, there]
        scores = self.generator_lm_head(hidden, table)
        specials = batch.tokens.specials
        return scores.masked_fill(~specials.is_word(torch.arange(specials.size, device=scores.device)), float("-inf"))

    def teacher_outputs(self, stream: Stream, attn_weights: Weights = None) -> list[Tensor]:
        """What the MLP of each layer of the teacher gives for a stream, `[b, n, d]` each, without gradient."""
        need(self.shape.teacher, "needs a teacher", "teacher to yes")
        return mlp_outputs(self.teacher, stream, self.token_embedding.weight, attn_weights)

    def features(self, tokens: Tokens, attn_weights: Weights = None) -> Tensor:
        """The last states of a plain text, `[b, t, d]`, read as in pre-training; 2d with two directions."""
        if isinstance(self.network, StaticNetwork):
            return self.hidden_states(tokens)[0]
        table = self.token_embedding.weight
        sides = [network(plain, table, attn_weights) for network, plain in self._readings(tokens)]
        return torch.cat(at_word_ends(tokens, *sides) if self.shape.word_states else sides, dim=-1)

    def hidden_states(
        self, tokens: Tokens, below: Tensor | None = None, first: int = 0, last: int | None = None
    ) -> list[Tensor]:
        """The states of a plain text at the levels `first` to `last`, `[b, t, d]` each.

        Level 0 are the embeddings, k is layer k, `top_hidden_state` is what `features` gives; with `below`, the states
        at level `first`, nothing beneath it is computed. With a backward network each level concatenates the states of
        both directions, `[b, t, 2d]`, at level 0 the embedding twice (ELMo, arXiv:1802.05365, sec. 3.2).
        """
        last = self.top_hidden_state if last is None else last
        if isinstance(self.network, StaticNetwork):
            vectors = nn.functional.embedding(tokens.ids, self.network.vectors(self.token_embedding.weight))
            return [vectors] * (last - first + 1)
        readings = self._readings(tokens)
        halves = [None] * len(readings) if below is None else below.chunk(len(readings), dim=-1)
        sides = [
            network.hidden_states(plain, self.token_embedding.weight, half, first, last)
            for (network, plain), half in zip(readings, halves, strict=True)
        ]
        if self.shape.word_states and last == self.top_hidden_state and (below is None or first < last):
            for side, states in zip(sides, at_word_ends(tokens, *(side[-1] for side in sides)), strict=True):
                side[-1] = states
        return sides[0] if len(sides) == 1 else [torch.cat(level, dim=-1) for level in zip(*sides, strict=True)]

    def decode(self, read: Tensor, tokens: Tokens, written: Tensor, language: int = 0) -> Tensor:
        """The decoder's states of what is `written` `[b, u]`, given the encoder's states `read` of a plain text.

        It is asked to write a `language`. Where one vector stands for the text, that is all it reads (LASER).
        What pads a row stands at its end; the first token may have the same id (T5).
        """
        there = (written != tokens.specials.pad).long().flip(1).cummax(1).values.flip(1)
        real = there.bool().index_fill(1, there.new_zeros(1), True)
        decoder, source = stream(written, zeros_view(written), real), self._plain(tokens)
        first = source.valid.clone().index_fill(1, torch.arange(1, source.valid.shape[1], device=written.device), False)
        cross = full_mask(first if self.shape.max_pooling else source.valid, padded=True, readers=real)
        language_ids = torch.full_like(written, language)
        decoder = replace(
            decoder, attn_mask=causal_mask(real, padded=True), cross_attn_mask=cross, language_ids=language_ids
        )
        return cast("Network", self.network).decode(decoder, source, self.token_embedding.weight, read=read)

    @property
    def top_hidden_state(self) -> int:
        """The number of the highest level of `hidden_states`: the final norm, or the last layer where norms come last.

        Static vectors have one level.
        """
        if self.shape.kind == "static":
            return 0
        return self.shape.layers + (self.shape.norm_first and self.shape.kind == "transformer")

    @property
    def layers(self) -> list[Block]:
        """The encoder's layers from the bottom up, of each direction, for adapters; one where all are the same."""
        shape = self.shape
        if shape.kind != "transformer" or shape.layer_sharing in ("attention", "mlp"):
            raise UserError(
                "Adapters need a transformer whose layers share all weights or none, and this is kind="
                f"{shape.kind}, layer_sharing={shape.layer_sharing}. Choose a base such as BERT."
            )
        stacks = [cast("Stack", network.encoder).layers for network in self.networks]
        return [layer for stack in stacks for layer in (stack[:1] if shape.layer_sharing == "all" else stack)]

    @property
    def networks(self) -> list[Network]:
        """The networks that read a plain text, one for each direction."""
        main = cast("Network", self.network)
        return [main, self.backward_network] if self.shape.directions == 2 else [main]

    def _readings(self, tokens: Tokens) -> list[tuple[Network, Stream]]:
        """Each network that reads a plain text, with the text under its attention mask."""
        reads = ("left to right", "right to left") if self.shape.directions == 2 else (self.shape.attention,)
        plain = [self._plain(tokens, side) for side in reads]
        return list(zip(self.networks, plain, strict=True))

    def _plain(self, tokens: Tokens, reads: str = "") -> Stream:
        inputs = begin(tokens).inputs
        segment = tokens.labels.get("segment", inputs.segment_ids)
        plain = replace(inputs, attn_mask=_attn_mask(inputs, reads or self.shape.attention), segment_ids=segment)
        if self.shape.layer_window:
            plain = replace(plain, attn_mask=narrowed(plain, self.shape.layer_window - 1))
        plain = branched(plain, tokens.labels) if "branch" in tokens.labels else plain
        return plain.alternating(self.shape.attention_window)

    def masked(self, batch: Batch) -> Batch:
        """A batch with the attention masks of all layers, as this model reads it."""
        if not (size := self.shape.attention_window):
            return batch
        decoder = None if batch.decoder is None else batch.decoder.alternating(size)
        auxiliary = tuple(map(self.masked, batch.auxiliary))
        return replace(batch, inputs=batch.inputs.alternating(size), decoder=decoder, auxiliary=auxiliary)

    @torch.no_grad()
    def attention(self, batch: Batch) -> dict[str, Tensor]:
        """Attention weights by matrix, `[layers, b, h, n, m]`, of the pass that the targets read."""
        attn_weights: AttentionWeights = {}
        if self.unscored(batch):
            reading = ForwardPass(self, batch, attn_weights)
            for target in batch.targets:
                reading.read(batch, target)
        else:
            self(batch, attn_weights)
        return stacked(attn_weights)


@torch.no_grad()
def _init(model: LanguageModel, rng: Generator) -> None:
    mimetic = model.shape.init == "mimetic"
    for name, parameter in model.named_parameters():
        if parameter.dim() > 1 or name.endswith("query_embedding"):
            parameter.copy_(torch.randn(parameter.shape, generator=rng) * (0.1 if mimetic else 0.02))
        elif name.endswith("bias"):
            parameter.zero_()
    for module in model.modules():
        if isinstance(module, RecurrentStack | WindowStack):
            init_recurrent(module, rng)
        if isinstance(module, CharacterCNN):
            module.init(rng)
        if isinstance(module, DisentangledEmbedding):
            module.delta.zero_()
        if isinstance(module, Stack):
            init_mimetic(module, rng) if mimetic else init_normal(module, rng, model.shape.init == "scaled")
        if isinstance(module, FurtherBlock):
            init_mimetic(module, rng) if mimetic else init_normal(module, rng)


@dataclass
class ForwardPass:
    """The states of the streams read so far; `attn_weights` and `memory` collect those of the main batch only."""

    model: "LanguageModel"
    batch: Batch
    attn_weights: Weights = None
    memory: list[Tensor] | None = None
    _known: list[tuple[Batch, str, Tensor]] = field(default_factory=list)

    def answer(self, part: Batch, target: Target) -> Answer:
        """The scores of one target at its scored positions."""
        hidden, at = self.read(part, target), target.loss_positions
        return Answer(target, at.rows, at.positions, *target.kind.scores(self, part, target, hidden))

    def read(self, part: Batch, target: Target) -> Tensor:
        """The states `[k, d]` from which a target is answered."""
        return self._query_states(part, target) if target.at_query else self._states(part, target)

    def states(self, part: Batch, stream: str) -> Tensor:
        """The hidden states of a stream, `[b, n, d]`."""
        if (known := self._find(part, stream)) is not None:
            return known
        model, network = self.model, self.model.network_of(part)
        table = model.table_of(network).weight
        if stream == "inputs":
            name = "encoder" if part.inputs.query_attn_mask is None else "content"
            layers = self._remembered(part) or ([list[Tensor]()] if model.shape.mtp_num_layers else [])
            found = network(part.inputs, table, self._weights(part), name, *layers)
            if model.shape.mtp_num_layers:  # what the last layer reads is what the other heads read too
                self._known.append((part, "trunk", layers[0][-1]))
        else:
            assert part.decoder is not None
            need(model.shape.decoder_layers, "writes with a decoder", "decoder_layers to at least 1")
            found = network.decode(part.decoder, part.inputs, table, self._weights(part))
        self._known.append((part, stream, found))
        return found

    def states_ahead(self, part: Batch, ahead: int) -> Tensor:
        """The states `[b, n, d]` that predict the word `ahead` positions after the next one."""
        if (known := self._find(part, f"{ahead} ahead")) is not None:
            return known
        model, network = self.model, cast("Network", self.model.network_of(part))
        need(model.shape.mtp_num_layers >= ahead, "predicts words after the next one", f"mtp_num_layers to {ahead}")
        block, stack = model.mtp_blocks[ahead - 1], cast("Stack", network.encoder)
        stream = replace(part.inputs, mems=()).alternating(model.shape.attention_window)
        mask = SdpaMask.of(stream.attn_mask).layer(len(stack.blocks) - 1)
        positions = network._positions_in(stream, stream.position_ids)
        weights = None if self.attn_weights is None else list[Tensor]()  # so that a counter of products sees them
        below = self.states(part, "inputs")
        if model.shape.mtp_sequential:
            below = self.states_ahead(part, ahead - 1) if ahead > 1 else below
            token = nn.functional.embedding(shifted(stream.ids, ahead), model.table_of(network).weight)
            found = block(below, mask, positions, token, weights)
        else:
            found = stack.ln_f(block(cast("Tensor", self._find(part, "trunk")), mask, positions, weights=weights))
        self._known.append((part, f"{ahead} ahead", found))
        return found

    def _find(self, part: Batch, name: str) -> Tensor | None:
        """The states that are known by a name."""
        return next((found for read, known, found in self._known if read is part and known == name), None)

    def score(self, part: Batch, hidden: Tensor, head: str) -> Tensor:
        return self.model.score(hidden, head, self.model.network_of(part))

    def score_candidates(self, part: Batch, hidden: Tensor, words: Tensor) -> Tensor:
        network = self.model.network_of(part)
        return self.model.vocabulary_head(network).score_candidates(hidden, words, self.model.table_of(network))

    def log_counts(self, part: Batch, hidden: Tensor, words: Tensor) -> Tensor:
        network = self.model.network_of(part)
        return self.model.vocabulary_head(network).log_counts(hidden, words, self.model.table_of(network))

    def teacher_outputs(self, part: Batch) -> list[Tensor]:
        assert part.teacher is not None, "a stage that lets a teacher read must come before"
        return self.model.teacher_outputs(part.teacher.inputs, None if self.attn_weights is None else {})

    def _weights(self, part: Batch) -> Weights:
        return self.attn_weights if part is self.batch else None

    def _remembered(self, part: Batch) -> list[list[Tensor]]:
        """The list for what the layers read, where it is needed and still empty."""
        if self.memory is None or self.memory or part is not self.batch:
            return []
        return [self.memory]

    def _states(self, part: Batch, target: Target) -> Tensor:
        """The states `[k, d]` of the scored positions, or what is made of the two positions that a target reads."""
        rows, positions = target.loss_positions.rows, target.loss_positions.positions
        hidden, shape = self.states(part, target.stream), self.model.shape
        if target.reads is None:
            return hidden[rows, positions]  # [b, n, d] at the scored positions: [k, d]
        left, right = target.scored(target.reads).unbind(-1)
        if name := target.kind.label:
            need(name in shape.paired, f"compares two texts for the label {name!r}", f"paired to hold {name!r}")
            return infersent_features(hidden[rows, left], hidden[rows, right])
        need(shape.sbo_head, "guesses spans from their ends", "sbo_head to yes")
        return self.model.sbo_head(hidden[rows, left], hidden[rows, right], positions - left - 1)

    def _query_states(self, part: Batch, target: Target) -> Tensor:
        """The states `[k, d]` of the query stream at the scored positions; weights need every position in its order."""
        need(self.model.shape.two_streams, "is answered by a query stream", "two_streams to yes")
        weights, mask, at = self._weights(part), target.loss_mask, target.loss_positions
        if weights is not None:
            query_positions, columns = arange_rows(mask), at.positions
        else:
            each = mask.sum(1)
            query_positions = mask.long().argsort(dim=1, descending=True, stable=True)[:, : at.most_per_row]
            columns = torch.arange(len(at.rows), device=at.rows.device) - (each.cumsum(0) - each)[at.rows]
        network = self.model.network_of(part)
        table = self.model.table_of(network).weight
        hidden = network.query_stream(
            part.inputs, query_positions, table, weights, *self._remembered(part)
        )  # [b, m, d]
        return hidden[at.rows, columns]  # [k, d]


def at_word_ends(tokens: Tokens, forward: Tensor, backward: Tensor) -> tuple[Tensor, Tensor]:
    """The states of both directions `[b, t, d]` where each has read the whole word of a position, and no more.

    From the left that is its last piece, from the right its first one (Akbik et al. 2018, eq. 9).
    """
    begins = ~_continuing(tokens.vocabulary, tokens.specials.ids).to(tokens.ids.device)[tokens.ids]
    position = arange_rows(tokens.ids)
    first = (position * begins).cummax(1).values
    ends = torch.nn.functional.pad(
        position.masked_fill(~begins, tokens.ids.shape[1])[:, 1:], (0, 1), value=position.shape[1]
    )
    last = ends.flip(1).cummin(1).values.flip(1) - 1
    at = (where[..., None].expand(-1, -1, forward.shape[-1]) for where in (last, first))
    return forward.gather(1, next(at)), backward.gather(1, next(at))


@lru_cache(maxsize=8)
def _continuing(vocabulary: tuple[str, ...], specials: tuple[int, ...]) -> Tensor:
    """Which entries of a vocabulary `[v]` continue a word."""
    return torch.tensor(continuing(vocabulary, frozenset(specials)))


def branched(plain: Stream, labels: Mapping[str, Tensor]) -> Stream:
    """A text with facts in it: each is a branch at a word, and attention is between that word and the branch only.

    Positions go on within a branch and do not count it outside, so that the text's own positions stay (K-BERT,
    arXiv:1909.07606, sec. 3.3: soft positions and the visible matrix).
    """
    branch, anchor = labels["branch"], labels["anchor"]
    position = torch.arange(branch.shape[1], device=branch.device)
    hangs = anchor[:, :, None] == position
    near = (branch[:, :, None] == branch[:, None, :]) | hangs | hangs.transpose(1, 2)
    return replace(
        plain, attn_mask=replace(plain.attn_mask, overrides=near, form="levels"), position_ids=labels["position"]
    )


def _attn_mask(inputs: Stream, reads: str) -> AttentionMask:
    """The attention mask of a plain text."""
    if reads == "right to left":
        level = -arange_rows(inputs.ids)
        return mask_by_level(level, level, inputs.valid, inputs.padded)
    return (causal_mask if reads == "left to right" else full_mask)(inputs.valid, inputs.padded)


def one_stack(shape: Architecture) -> Architecture:
    """The shape of a second network: one stream, one stack."""
    return replace(shape, two_streams=False, decoder_layers=0)


def make_model(shape: Architecture, size: int, rng: Generator, words: Sequence[str] = ()) -> LanguageModel:
    """A fresh model for a vocabulary of `size` words; `words` are their strings where vectors are made of n-grams."""
    return LanguageModel(shape, size, rng, words)


def with_merged_embeddings(model: LanguageModel) -> LanguageModel:
    """A copy whose gradient-disentangled tables are their sums, as released; any other model is returned as it is."""
    if model.shape.tie_generator != "gradient-disentangled" or not model.shape.generator_ratio:
        return model
    model = deepcopy(model)
    for owner, name in ((model, "token_embedding"), (model.network, "position_embedding")):
        if isinstance(table := getattr(owner, name, None), DisentangledEmbedding):
            setattr(owner, name, table.merged())
    model.shape = replace(model.shape, tie_generator="none")
    return model


def model_without_weights(shape: Architecture, size: int) -> LanguageModel:
    """A model on PyTorch's meta device, whose weights have names and shapes and no values."""
    with torch.device("meta"):
        return LanguageModel(shape, size, None, ["word"] * size if shape.char_cnn or shape.ngrams else ())


def count_parameters(shape: Architecture, size: int, generator: bool = True) -> int:
    """The parameters of a model with a vocabulary of `size` words, with its generator or not; no weight is made."""
    named = model_without_weights(shape, size).named_parameters()
    return sum(p.numel() for name, p in named if generator or not name.startswith("generator"))
