"""A language model: embeddings, one or two stacks, heads. It reads a `Batch` and answers its questions."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import cast

import torch
from torch import Generator, Tensor, nn

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
    position_of,
    stream,
    zeros_view,
)
from playground.errors import Refusal
from playground.models.architecture import Architecture, need
from playground.models.attention import RotaryEmbedding, SdpaMask
from playground.models.forward import ForwardPass
from playground.models.heads import BoundaryHead, LabelHead, ReplacedHead, VocabularyHead
from playground.models.losses import Answer
from playground.models.transformer import AttentionWeights, Block, Stack, init_mimetic, init_normal
from playground.models.word_vectors import StaticHead, StaticNetwork


class Network(nn.Module):
    """Stacks of one width that read token vectors; the embedding table belongs to the model.

    With a `lender` places, segments and languages are another network's, as wide as the table, and what is read is made
    narrow after they are added (ELECTRA, arXiv:2003.10555, sec. 3.2 and released code).
    """

    def __init__(self, shape: Architecture, width: int, inner: int, lender: "Network | None" = None) -> None:
        super().__init__()
        self.shape, self.width, self.shares_embeddings = shape, width, lender is not None
        self.embedding_projection = nn.Linear(inner, width) if inner != width else None
        self.encoder = Stack(shape.layers, width, shape.heads, shape.mlp_ratio)
        if shape.decoder_layers:
            self.decoder = Stack(shape.decoder_layers, width, shape.heads, shape.mlp_ratio, crosses=True)
        if lender is not None:
            lent = {name: part for name, part in lender.named_children() if isinstance(part, nn.Embedding)}
            share_modules(self, **lent)
        else:
            self._embeddings()
        if shape.two_streams:
            self.query_embedding = nn.Parameter(torch.zeros(width))

    def _embeddings(self) -> None:
        shape = self.shape
        if shape.positions == "learned":
            self.position_embedding = nn.Embedding(shape.max_position_embeddings, self.width)
        if shape.segments:
            self.segment_embedding = nn.Embedding(shape.segments, self.width)
        if shape.languages:
            self.language_embedding = nn.Embedding(shape.languages, self.width)

    def forward(
        self, stream: Stream, table: Tensor, attn_weights: AttentionWeights | None = None, name: str = "encoder"
    ) -> Tensor:
        """What every position of a stream knows, `[b, n, d]`."""
        return self.encoder(
            self._embed(stream, table),
            SdpaMask.of(stream.attn_mask),
            self._rotary(stream.position_ids),
            attn_weights,
            name,
        )

    def hidden_states(self, stream: Stream, table: Tensor, below: Tensor | None, first: int, last: int) -> list[Tensor]:
        """The levels `first` to `last` of a stream `[b, n, d]`: 0 the embeddings, k layer k, one more the last norm."""
        if below is not None and first == last:
            return [below]
        x = self._embed(stream, table) if below is None else below
        allowed, rotary = SdpaMask.of(stream.attn_mask), self._rotary(stream.position_ids)
        return self.encoder.hidden_states(x, allowed, rotary, first, last)

    def query_stream(
        self, stream: Stream, places: Tensor, table: Tensor, attn_weights: AttentionWeights | None = None
    ) -> Tensor:
        """What the query stream knows at the given places `[b, m]`, without their words: `[b, m, d]`."""
        assert stream.query_attn_mask is not None, "a see stage with an order must come before"
        allowed = SdpaMask.of(stream.query_attn_mask.at(places))
        position = stream.position_ids.gather(1, places)
        query = self.query_embedding.expand(*places.shape, -1)
        if self.shape.positions == "learned":
            query = query + self.position_embedding(position)
        inner, outer = self._rotary(stream.position_ids), self._rotary(position)
        rotary = None if inner is None or outer is None else (inner, outer)
        content = self._embed(stream, table)
        return self.encoder.two_stream(content, query, (SdpaMask.of(stream.attn_mask), allowed), rotary, attn_weights)

    def decode(
        self,
        decoder: Stream,
        source: Stream,
        table: Tensor,
        attn_weights: AttentionWeights | None = None,
        read: Tensor | None = None,
    ) -> Tensor:
        """What every position of the decoder knows, having read the source (`read`: what it knows), `[b, n, d]`."""
        assert decoder.cross_attn_mask is not None
        own, other = self._rotary(decoder.position_ids), self._rotary(source.position_ids)
        rotary = None if own is None or other is None else (own, other)
        read = self.forward(source, table, attn_weights) if read is None else read
        allowed = (SdpaMask.of(decoder.attn_mask), SdpaMask.of(decoder.cross_attn_mask))
        return self.decoder.decode(self._embed(decoder, table), read, allowed, rotary, attn_weights)

    def _embed(self, stream: Stream, table: Tensor) -> Tensor:
        longest = self.shape.max_position_embeddings
        wide = self.shape.positions == "learned" and stream.ids.shape[1] > longest
        if wide and int(stream.position_ids.max()) >= longest:  # pairs of words keep the positions of their words
            raise Refusal(
                f"The text has {stream.ids.shape[1]} positions; this model learned {longest}. Shorten the text."
            )
        x = nn.functional.embedding(stream.ids, table)
        x = x if self.embedding_projection is None or self.shares_embeddings else self.embedding_projection(x)
        if self.shape.segments:
            x = x + self.segment_embedding(stream.segment_ids.clamp(max=self.shape.segments - 1))
        if self.shape.languages:
            x = x + self.language_embedding(stream.language_ids.clamp(max=self.shape.languages - 1))
        x = x + self.position_embedding(stream.position_ids) if self.shape.positions == "learned" else x
        return x if self.embedding_projection is None or not self.shares_embeddings else self.embedding_projection(x)

    def _rotary(self, position: Tensor) -> RotaryEmbedding | None:
        if self.shape.positions == "learned":
            return None
        shared = position[:1] if position.stride(0) == 0 else position
        return RotaryEmbedding.of(shared, self.width // self.shape.heads)


class LanguageModel(nn.Module):
    """One embedding table, one network, the heads; ELECTRA adds a small generator that shares the table.

    `words` are the spellings of the vocabulary, which only vectors made of n-grams need.
    """

    def __init__(self, shape: Architecture, size: int, rng: Generator, words: Sequence[str] = ()) -> None:
        super().__init__()
        self.shape = shape
        self.token_embedding = nn.Embedding(size, shape.width)
        if shape.kind == "static":
            self.network = StaticNetwork(shape.width, shape.ngrams, words)
            self.lm_head = StaticHead(shape.width, size, shape.counts)
        else:
            self.network = Network(shape, shape.width, shape.width)
            self.lm_head = VocabularyHead(shape.width, size)
        if shape.rtd_head:
            self.rtd_head = ReplacedHead(shape.width)
        if shape.sbo_head:
            self.sbo_head = BoundaryHead(shape.width)
        self.label_heads = nn.ModuleDict(
            {name: LabelHead(shape.width, number, name in shape.paired) for name, number in shape.labels}
        )
        if shape.directions == 2:  # which knows the same word vectors, positions, segments and languages
            self.backward_network = Network(one_stack(shape), shape.width, shape.width, cast("Network", self.network))
        if shape.generator_ratio:
            self._add_generator(size)
        self._init(rng)

    def _add_generator(self, size: int) -> None:
        """The network that proposes words: the model's own, or a smaller one that has its embeddings in common."""
        shape, network = self.shape, self.network
        if shape.tie_generator == "all":
            share_modules(self, generator=network, generator_lm_head=self.lm_head)
            return
        lender = network if shape.tie_generator == "embeddings" and isinstance(network, Network) else None
        self.generator = Network(one_stack(shape), shape.generator_width, shape.width, lender)
        self.generator_lm_head = VocabularyHead(shape.generator_width, size, shape.width)

    def forward(self, example: Batch, attn_weights: AttentionWeights | None = None) -> tuple[Answer, ...]:
        """Scores at the scored positions of every question; those of the examples beside come first."""
        reading = ForwardPass(self, example, attn_weights)
        return tuple(reading.answer(part, question) for part in example.with_auxiliary for question in part.questions)

    def network_of(self, example: Batch) -> Network | StaticNetwork:
        """The network that reads an example; without a second one, one network reads both directions."""
        if example.network == "generator":
            need(self.shape.generator_ratio, "needs a generator", "generator_ratio above 0")
            return self.generator
        return self.backward_network if example.network == "backward" and self.shape.directions == 2 else self.network

    def score(self, hidden: Tensor, head: str, network: Network | StaticNetwork) -> Tensor:
        """Scores `[k, c]` of what k positions know, by the head of a question."""
        if head == "replaced":
            need(self.shape.rtd_head, "asks 'original or replaced?'", "rtd_head to yes")
            return self.rtd_head(hidden)
        if head.startswith("label:"):
            name = head.removeprefix("label:")
            need(name in self.label_heads, f"asks for the label {name!r}", f"labels to hold {name!r} and its classes")
            return self.label_heads[name](hidden)
        return self._lm_head(network)(hidden, self.token_embedding.weight)

    def score_candidates(self, hidden: Tensor, words: Tensor, network: Network | StaticNetwork) -> Tensor:
        """Scores `[k, w]` of some words `[k, w]` only, for losses that tell the right word from a few wrong ones."""
        return self._lm_head(network).score_candidates(hidden, words, self.token_embedding)

    def log_counts(self, hidden: Tensor, words: Tensor, network: Network | StaticNetwork) -> Tensor:
        """Scores `[k, w]` of how often some words `[k, w]` are seen with what k positions hold."""
        return self._lm_head(network).log_counts(hidden, words, self.token_embedding)

    def _lm_head(self, network: Network | StaticNetwork) -> VocabularyHead | StaticHead:
        small = self.shape.generator_ratio and network is self.generator
        return self.generator_lm_head if small else self.lm_head

    @torch.no_grad()
    def propose(self, example: Batch) -> Tensor:
        """The generator's scores `[k, v]` for the k chosen places of the text, without gradient."""
        need(self.shape.generator_ratio, "needs a generator", "generator_ratio above 0")
        inputs = example.inputs
        rows, places = example.selected_at
        there = position_of(inputs, example.tokens.ids.shape[1])[rows, places]
        hidden = self.generator(inputs, self.token_embedding.weight)[rows, there]
        scores = self.generator_lm_head(hidden, self.token_embedding.weight)
        scores[:, : example.tokens.specials.first_word] = float("-inf")
        return scores

    def features(self, tokens: Tokens) -> Tensor:
        """What every position knows of a plain text, `[b, t, d]`, read as in pre-training; 2d with two directions."""
        if isinstance(self.network, StaticNetwork):
            return self.hidden_states(tokens)[0]
        return torch.cat([network(plain, self.token_embedding.weight) for network, plain in self._readings(tokens)], -1)

    def hidden_states(
        self, tokens: Tokens, below: Tensor | None = None, first: int = 0, last: int | None = None
    ) -> list[Tensor]:
        """What every position knows at the levels `first` to `last` of a plain text, `[b, t, d]` each.

        Level 0 are the embeddings, k is layer k, `top_level` is what `features` gives; with `below`, which is what is
        known at level `first`, nothing beneath it is computed. With a backward network each level holds the states of
        both directions side by side, `[b, t, 2d]`, at level 0 the embedding twice (ELMo, arXiv:1802.05365, sec. 3.2).
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
        return sides[0] if len(sides) == 1 else [torch.cat(level, dim=-1) for level in zip(*sides, strict=True)]

    def decode(self, read: Tensor, tokens: Tokens, written: Tensor) -> Tensor:
        """What a decoder knows at every place of what is `written` `[b, u]`, given what is `read` of a plain text."""
        real = written != tokens.specials.pad
        decoder, source = stream(written, zeros_view(written), real), self._plain(tokens)
        cross = full_mask(source.valid, source.padded, readers=real)
        decoder = replace(decoder, attn_mask=causal_mask(real, padded=True), cross_attn_mask=cross)
        return cast("Network", self.network).decode(decoder, source, self.token_embedding.weight, read=read)

    @property
    def top_hidden_state(self) -> int:
        """The number of the level above all layers; static vectors have one level."""
        return 0 if self.shape.kind == "static" else self.shape.layers + 1

    @property
    def layers(self) -> list[Block]:
        """The layers that read a text, from the bottom up in each direction, for parts that are plugged into them."""
        need(isinstance(self.network, Network), "plugs parts into layers", "kind to transformer")
        return [layer for network in self._networks() for layer in network.encoder.layers]

    def _networks(self) -> list[Network]:
        """The networks that read a plain text, one for each direction."""
        main = cast("Network", self.network)
        return [main, self.backward_network] if self.shape.directions == 2 else [main]

    def _readings(self, tokens: Tokens) -> list[tuple[Network, Stream]]:
        """Each network that reads a plain text, with the text as it sees it."""
        reads = ("left to right", "right to left") if self.shape.directions == 2 else (self.shape.attention,)
        plain = [self._plain(tokens, side) for side in reads]
        return list(zip(self._networks(), plain, strict=True))

    def _plain(self, tokens: Tokens, reads: str = "") -> Stream:
        inputs = begin(tokens).inputs
        segment = tokens.labels.get("segment", inputs.segment_ids)
        plain = replace(inputs, attn_mask=_seen(inputs, reads or self.shape.attention), segment_ids=segment)
        return branched(plain, tokens.labels) if "branch" in tokens.labels else plain

    @torch.no_grad()
    def attention(self, example: Batch) -> dict[str, Tensor]:
        """Attention weights by matrix, `[layers, b, h, n, m]`: the very ones that carried the answers."""
        attn_weights: AttentionWeights = {}
        self(example, attn_weights)
        return {name: torch.stack(layers) for name, layers in attn_weights.items()}

    def groups(self) -> dict[str, list[str]]:
        """Parameter names by layer group, from the bottom up: embeddings, every layer, then the heads of pre-training.

        The last norm of a stack belongs to its highest layer; the layers of both directions of ELMo go together.
        """
        found: dict[str, list[str]] = {}
        for name, _ in self.named_parameters():
            found.setdefault(self._group(name), []).append(name)
        return dict(sorted(found.items(), key=lambda item: _height(item[0])))

    def _group(self, name: str) -> str:
        """The layer group of a parameter."""
        owner, *parts = name.split(".")
        network = "generator " if owner == "generator" else ""
        if owner.endswith(("network", "generator")) and parts[0] in ("encoder", "decoder"):
            stack = cast("Stack", self.get_submodule(f"{owner}.{parts[0]}"))
            number = int(parts[2]) + 1 if parts[1] == "blocks" else len(stack.blocks)
            return f"{network}{parts[0]} layer {number}"
        if owner.startswith("generator"):
            return "generator"
        return "embeddings" if owner in ("token_embedding", "network", "backward_network") else "heads"

    @torch.no_grad()
    def _init(self, rng: Generator) -> None:
        mimetic = self.shape.init == "mimetic"
        for name, parameter in self.named_parameters():
            if parameter.dim() > 1 or name.endswith("query_embedding"):
                parameter.copy_(torch.randn(parameter.shape, generator=rng) * (0.1 if mimetic else 0.02))
            elif name.endswith("bias"):
                parameter.zero_()
        for module in self.modules():
            if isinstance(module, Stack):
                (init_mimetic if mimetic else init_normal)(module, rng)


def branched(plain: Stream, labels: Mapping[str, Tensor]) -> Stream:
    """A text with facts in it: each is a branch that hangs on a word, and only that word and the branch see it.

    Positions go on within a branch and do not count it outside, so the text reads as if it were not there (K-BERT,
    arXiv:1909.07606, sec. 3.3: soft positions and the visible matrix).
    """
    branch, anchor = labels["branch"], labels["anchor"]
    place = torch.arange(branch.shape[1], device=branch.device)
    hangs = anchor[:, :, None] == place
    near = (branch[:, :, None] == branch[:, None, :]) | hangs | hangs.transpose(1, 2)
    visible = replace(plain.attn_mask, overrides=near, form="levels")
    return replace(plain, attn_mask=visible, position_ids=labels["position"])


def _seen(inputs: Stream, reads: str) -> AttentionMask:
    """What the positions of a plain text see."""
    if reads == "right to left":
        leftmost_last = -arange_rows(inputs.ids)
        return mask_by_level(leftmost_last, leftmost_last, inputs.valid, inputs.padded)
    return (causal_mask if reads == "left to right" else full_mask)(inputs.valid, inputs.padded)


def share_modules(borrower: nn.Module, **parts: nn.Module) -> None:
    """Give a module parts that belong to another one, which alone lists and saves their weights."""
    for name, part in parts.items():
        object.__setattr__(borrower, name, part)


def one_stack(shape: Architecture) -> Architecture:
    """The shape of a second network, which has one stream and one stack."""
    return replace(shape, two_streams=False, decoder_layers=0)


def _height(group: str) -> tuple[int, int]:
    order = ("embeddings", "encoder", "decoder", "heads", "generator")
    first, *rest = group.split()
    return (order.index(first), int(rest[-1]) if rest else 0)
