"""A language model: embeddings, one or two stacks, heads. It reads an `Example` and answers its questions."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import cast

import torch
from torch import Generator, Tensor, nn

from playground.example import (
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
from playground.models.architecture import Architecture, need
from playground.models.attention import Allowed, Turns
from playground.models.grading import Answer
from playground.models.heads import BoundaryHead, LabelHead, ReplacedHead, VocabularyHead
from playground.models.reading import Reading
from playground.models.static import StaticHead, StaticNetwork
from playground.models.transformer import Block, Stack, Taps, start_mimetic, start_normal
from playground.refusal import Refusal


class Network(nn.Module):
    """Stacks of one width that read token vectors; the embedding table belongs to the model.

    With a `lender` places, segments and languages are another network's, as wide as the table, and what is read is made
    narrow after they are added (ELECTRA, arXiv:2003.10555, sec. 3.2 and released code).
    """

    def __init__(self, shape: Architecture, width: int, inner: int, lender: "Network | None" = None) -> None:
        super().__init__()
        self.shape, self.width, self.borrows = shape, width, lender is not None
        self.narrow = nn.Linear(inner, width) if inner != width else None
        self.encoder = Stack(shape.layers, width, shape.heads, shape.mlp_ratio)
        if shape.decoder_layers:
            self.decoder = Stack(shape.decoder_layers, width, shape.heads, shape.mlp_ratio, crosses=True)
        if lender is not None:
            lent = {name: part for name, part in lender.named_children() if isinstance(part, nn.Embedding)}
            borrow(self, **lent)
        else:
            self._embeddings()
        if shape.two_streams:
            self.blank = nn.Parameter(torch.zeros(width))

    def _embeddings(self) -> None:
        shape = self.shape
        if shape.positions == "learned":
            self.place = nn.Embedding(shape.max_position_embeddings, self.width)
        if shape.segments:
            self.segment = nn.Embedding(shape.segments, self.width)
        if shape.languages:
            self.language = nn.Embedding(shape.languages, self.width)

    def read(self, stream: Stream, table: Tensor, taps: Taps | None = None, name: str = "encoder") -> Tensor:
        """What every position of a stream knows, `[b, n, d]`."""
        return self.encoder.read(
            self._embed(stream, table), Allowed.of(stream.attn_mask), self._turns(stream.position_ids), taps, name
        )

    def levels(self, stream: Stream, table: Tensor, below: Tensor | None, first: int, last: int) -> list[Tensor]:
        """The levels `first` to `last` of a stream `[b, n, d]`: 0 the embeddings, k layer k, one more the last norm."""
        if below is not None and first == last:
            return [below]
        x = self._embed(stream, table) if below is None else below
        allowed, turns = Allowed.of(stream.attn_mask), self._turns(stream.position_ids)
        return self.encoder.climb(x, allowed, turns, first, last)

    def answer_blind(self, stream: Stream, places: Tensor, table: Tensor, taps: Taps | None = None) -> Tensor:
        """What the query stream knows at the given places `[b, m]`, without their words: `[b, m, d]`."""
        assert stream.query_attn_mask is not None, "a see stage with an order must come before"
        allowed = Allowed.of(stream.query_attn_mask.at(places))
        position = stream.position_ids.gather(1, places)
        query = self.blank.expand(*places.shape, -1)
        if self.shape.positions == "learned":
            query = query + self.place(position)
        inner, outer = self._turns(stream.position_ids), self._turns(position)
        turns = None if inner is None or outer is None else (inner, outer)
        content = self._embed(stream, table)
        return self.encoder.read_twice(content, query, (Allowed.of(stream.attn_mask), allowed), turns, taps)

    def write(
        self, decoder: Stream, source: Stream, table: Tensor, taps: Taps | None = None, read: Tensor | None = None
    ) -> Tensor:
        """What every position of the decoder knows, having read the source (`read`: what it knows), `[b, n, d]`."""
        assert decoder.cross_attn_mask is not None
        own, other = self._turns(decoder.position_ids), self._turns(source.position_ids)
        turns = None if own is None or other is None else (own, other)
        read = self.read(source, table, taps) if read is None else read
        allowed = (Allowed.of(decoder.attn_mask), Allowed.of(decoder.cross_attn_mask))
        return self.decoder.write(self._embed(decoder, table), read, allowed, turns, taps)

    def _embed(self, stream: Stream, table: Tensor) -> Tensor:
        longest = self.shape.max_position_embeddings
        wide = self.shape.positions == "learned" and stream.ids.shape[1] > longest
        if wide and int(stream.position_ids.max()) >= longest:  # pairs of words keep the positions of their words
            raise Refusal(
                f"The text has {stream.ids.shape[1]} positions; this model learned {longest}. Shorten the text."
            )
        x = nn.functional.embedding(stream.ids, table)
        x = x if self.narrow is None or self.borrows else self.narrow(x)
        if self.shape.segments:
            x = x + self.segment(stream.segment_ids.clamp(max=self.shape.segments - 1))
        if self.shape.languages:
            x = x + self.language(stream.language_ids.clamp(max=self.shape.languages - 1))
        x = x + self.place(stream.position_ids) if self.shape.positions == "learned" else x
        return x if self.narrow is None or not self.borrows else self.narrow(x)

    def _turns(self, position: Tensor) -> Turns | None:
        if self.shape.positions == "learned":
            return None
        shared = position[:1] if position.stride(0) == 0 else position
        return Turns.of(shared, self.width // self.shape.heads)


class LanguageModel(nn.Module):
    """One embedding table, one network, the heads; ELECTRA adds a small generator that shares the table.

    `words` are the spellings of the vocabulary, which only vectors made of n-grams need.
    """

    def __init__(self, shape: Architecture, size: int, rng: Generator, words: Sequence[str] = ()) -> None:
        super().__init__()
        self.shape = shape
        self.table = nn.Embedding(size, shape.width)
        if shape.kind == "static":
            self.network = StaticNetwork(shape.width, shape.ngrams, words)
            self.vocabulary = StaticHead(shape.width, size, shape.counts)
        else:
            self.network = Network(shape, shape.width, shape.width)
            self.vocabulary = VocabularyHead(shape.width, size)
        if shape.rtd_head:
            self.replaced = ReplacedHead(shape.width)
        if shape.sbo_head:
            self.boundary = BoundaryHead(shape.width)
        self.labels = nn.ModuleDict(
            {name: LabelHead(shape.width, number, name in shape.paired) for name, number in shape.labels}
        )
        if shape.directions == 2:  # which knows the same word vectors, positions, segments and languages
            self.backward_network = Network(one_stack(shape), shape.width, shape.width, cast("Network", self.network))
        if shape.generator_ratio:
            self._add_generator(size)
        self._start(rng)

    def _add_generator(self, size: int) -> None:
        """The network that proposes words: the model's own, or a smaller one that has its embeddings in common."""
        shape, network = self.shape, self.network
        if shape.tie_generator == "all":
            borrow(self, generator=network, generator_vocabulary=self.vocabulary)
            return
        lender = network if shape.tie_generator == "embeddings" and isinstance(network, Network) else None
        self.generator = Network(one_stack(shape), shape.generator_width, shape.width, lender)
        self.generator_vocabulary = VocabularyHead(shape.generator_width, size, shape.width)

    def answers(self, example: Batch, taps: Taps | None = None) -> tuple[Answer, ...]:
        """Scores at the graded positions of every question; those of the examples beside come first."""
        reading = Reading(self, example, taps)
        return tuple(reading.answer(part, question) for part in example.with_auxiliary for question in part.questions)

    def network_of(self, example: Batch) -> Network | StaticNetwork:
        """The network that reads an example; without a second one, one network reads both directions."""
        if example.network == "generator":
            need(self.shape.generator_ratio, "needs a generator", "generator_share above 0")
            return self.generator
        return self.backward_network if example.network == "backward" and self.shape.directions == 2 else self.network

    def score(self, hidden: Tensor, head: str, network: Network | StaticNetwork) -> Tensor:
        """Scores `[k, c]` of what k positions know, by the head of a question."""
        if head == "replaced":
            need(self.shape.rtd_head, "asks 'original or replaced?'", "detects to yes")
            return self.replaced(hidden)
        if head.startswith("label:"):
            name = head.removeprefix("label:")
            need(name in self.labels, f"asks for the label {name!r}", f"labels to hold {name!r} and its classes")
            return self.labels[name](hidden)
        return self._vocabulary(network)(hidden, self.table.weight)

    def score_some(self, hidden: Tensor, words: Tensor, network: Network | StaticNetwork) -> Tensor:
        """Scores `[k, w]` of some words `[k, w]` only, for losses that tell the right word from a few wrong ones."""
        return self._vocabulary(network).some(hidden, words, self.table)

    def score_count(self, hidden: Tensor, words: Tensor, network: Network | StaticNetwork) -> Tensor:
        """Scores `[k, w]` of how often some words `[k, w]` are seen with what k positions hold."""
        return self._vocabulary(network).count(hidden, words, self.table)

    def _vocabulary(self, network: Network | StaticNetwork) -> VocabularyHead | StaticHead:
        small = self.shape.generator_ratio and network is self.generator
        return self.generator_vocabulary if small else self.vocabulary

    @torch.no_grad()
    def propose(self, example: Batch) -> Tensor:
        """The generator's scores `[k, v]` for the k chosen places of the text, without gradient."""
        need(self.shape.generator_ratio, "needs a generator", "generator_share above 0")
        inputs = example.inputs
        rows, places = example.selected_at
        there = position_of(inputs, example.tokens.ids.shape[1])[rows, places]
        hidden = self.generator.read(inputs, self.table.weight)[rows, there]
        scores = self.generator_vocabulary(hidden, self.table.weight)
        scores[:, : example.tokens.specials.first_word] = float("-inf")
        return scores

    def features(self, tokens: Tokens) -> Tensor:
        """What every position knows of a plain text, `[b, t, d]`, read as in pre-training; 2d with two directions."""
        if isinstance(self.network, StaticNetwork):
            return self.levels(tokens)[0]
        return torch.cat([network.read(plain, self.table.weight) for network, plain in self._readings(tokens)], -1)

    def levels(
        self, tokens: Tokens, below: Tensor | None = None, first: int = 0, last: int | None = None
    ) -> list[Tensor]:
        """What every position knows at the levels `first` to `last` of a plain text, `[b, t, d]` each.

        Level 0 are the embeddings, k is layer k, `top_level` is what `features` gives; with `below`, which is what is
        known at level `first`, nothing beneath it is computed. With a backward network each level holds the states of
        both directions side by side, `[b, t, 2d]`, at level 0 the embedding twice (ELMo, arXiv:1802.05365, sec. 3.2).
        """
        last = self.top_level if last is None else last
        if isinstance(self.network, StaticNetwork):
            vectors = nn.functional.embedding(tokens.ids, self.network.vectors(self.table.weight))
            return [vectors] * (last - first + 1)
        readings = self._readings(tokens)
        halves = [None] * len(readings) if below is None else below.chunk(len(readings), dim=-1)
        sides = [
            network.levels(plain, self.table.weight, half, first, last)
            for (network, plain), half in zip(readings, halves, strict=True)
        ]
        return sides[0] if len(sides) == 1 else [torch.cat(level, dim=-1) for level in zip(*sides, strict=True)]

    def write(self, read: Tensor, tokens: Tokens, written: Tensor) -> Tensor:
        """What a decoder knows at every place of what is `written` `[b, u]`, given what is `read` of a plain text."""
        real = written != tokens.specials.pad
        decoder, source = stream(written, zeros_view(written), real), self._plain(tokens)
        cross = full_mask(source.valid, source.padded, readers=real)
        decoder = replace(decoder, attn_mask=causal_mask(real, padded=True), cross_attn_mask=cross)
        return cast("Network", self.network).write(decoder, source, self.table.weight, read=read)

    @property
    def top_level(self) -> int:
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
        taps: Taps = {}
        self.answers(example, taps)
        return {name: torch.stack(layers) for name, layers in taps.items()}

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
        return "embeddings" if owner in ("table", "network", "backward_network") else "heads"

    @torch.no_grad()
    def _start(self, rng: Generator) -> None:
        mimetic = self.shape.init == "mimetic"
        for name, parameter in self.named_parameters():
            if parameter.dim() > 1 or name.endswith("blank"):
                parameter.copy_(torch.randn(parameter.shape, generator=rng) * (0.1 if mimetic else 0.02))
            elif name.endswith("bias"):
                parameter.zero_()
        for module in self.modules():
            if isinstance(module, Stack):
                (start_mimetic if mimetic else start_normal)(module, rng)


def branched(plain: Stream, labels: Mapping[str, Tensor]) -> Stream:
    """A text with facts in it: each is a branch that hangs on a word, and only that word and the branch see it.

    Positions go on within a branch and do not count it outside, so the text reads as if it were not there (K-BERT,
    arXiv:1909.07606, sec. 3.3: soft positions and the visible matrix).
    """
    branch, anchor = labels["branch"], labels["anchor"]
    place = torch.arange(branch.shape[1], device=branch.device)
    hangs = anchor[:, :, None] == place
    near = (branch[:, :, None] == branch[:, None, :]) | hangs | hangs.transpose(1, 2)
    visible = replace(plain.attn_mask, painted=near, form="levels")
    return replace(plain, attn_mask=visible, position=labels["position"])


def _seen(inputs: Stream, reads: str) -> AttentionMask:
    """What the positions of a plain text see."""
    if reads == "right to left":
        leftmost_last = -arange_rows(inputs.ids)
        return mask_by_level(leftmost_last, leftmost_last, inputs.valid, inputs.padded)
    return (causal_mask if reads == "left to right" else full_mask)(inputs.valid, inputs.padded)


def borrow(borrower: nn.Module, **parts: nn.Module) -> None:
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
