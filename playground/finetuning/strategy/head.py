"""The task's head: which levels of the model it reads, which of their vectors, and how these become scores."""

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn.functional import layer_norm
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from playground.errors import Refusal
from playground.finetuning.data.dataset import Dataset
from playground.finetuning.data.task_types import AnswerForm, Choice, Span
from playground.models.heads import infersent_features
from playground.models.model import LanguageModel
from playground.rng import generator

CLOSED = -1e4
"""The score of a place where no span may begin or end; finite, so that two runs can be subtracted."""


@dataclass(frozen=True)
class Head:
    """What the head reads: the top, one level (0: embeddings, k: layer k), a learnt mix of all, or all side by side.

    "joined" are the embeddings with such a mix beside them. A text is the vector that its packing says (the mean, the
    first or the last position), or its last position, the maximum and the mean side by side (ULMFiT); where every
    word has an answer of its own there is nothing to pool.
    With `recurrent` a small network of the task's own, an LSTM in both directions, stands between.
    """

    reads: Literal["top", "mix", "all", "joined"] | int = "top"
    pool: Literal["mean", "concat"] = "mean"
    recurrent: bool = False

    def levels(self, model: LanguageModel) -> tuple[int, ...]:
        """The levels of a model that this head reads."""
        if self.reads == "top":
            return (model.top_hidden_state,)
        if isinstance(self.reads, int):
            if not 0 <= self.reads <= model.shape.layers:
                raise Refusal(f"The head reads layer {self.reads}; this model has {model.shape.layers} layers.")
            return (self.reads,)
        return (*range(model.shape.layers), model.top_hidden_state)

    def wide(self, levels: int) -> int:
        """How many times as wide as the model what it reads of so many levels is."""
        return levels if self.reads == "all" else 2 if self.reads == "joined" else 1

    @property
    def mixes(self) -> bool:
        """Whether it learns how much of each level to read."""
        return self.reads in ("mix", "joined")


TOP = Head()


class LevelReader(nn.Module):
    """What a head reads of the levels `[b, t, d]`, `[b, t, d]` again, or wider where they stand side by side.

    Levels below the top are brought to one scale first, without parameters. The mix is that of ELMo
    (arXiv:1802.05365, eq. 1): softmax weights over the levels and one scale.
    """

    def __init__(self, spec: Head, levels: tuple[int, ...], top: int) -> None:
        super().__init__()
        self.spec, self.levels, self.top = spec, levels, top
        if spec.mixes:
            self.weights, self.scale = nn.Parameter(torch.zeros(len(levels))), nn.Parameter(torch.ones(1))

    @property
    def shares(self) -> tuple[float, ...]:
        """How much of each level is in the mix, from the bottom up; empty for other heads."""
        return tuple(self.weights.softmax(0).tolist()) if self.spec.mixes else ()

    def read(self, known: Mapping[int, Tensor]) -> Tensor:
        """The levels as one."""
        states = [known[k] if k == self.top else layer_norm(known[k], known[k].shape[-1:]) for k in self.levels]
        if self.spec.mixes:
            mix = self.scale * torch.einsum("l,lbtd->btd", self.weights.softmax(0), torch.stack(states))
            return torch.cat([states[0], mix], dim=-1) if self.spec.reads == "joined" else mix
        return torch.cat(states, dim=-1) if len(states) > 1 else states[0]


class TaskHead(LevelReader):
    """One linear layer that scores what the task asks about: texts, marked words, or words.

    Where the head is recurrent an LSTM over the row comes before it, from both ends, as wide as the model.
    """

    def __init__(
        self,
        spec: Head,
        levels: tuple[int, ...],
        top: int,
        width: int,
        answer: AnswerForm,
        sides: bool = False,
        given: int = 0,
    ) -> None:
        super().__init__(spec, levels, top)
        pooled = 3 if spec.pool == "concat" and answer.about == "text" else 1
        vectors = 4 if sides or answer.about == "marked" else 1
        read = width * spec.wide(len(levels)) + given
        self.recurrent = nn.LSTM(read, width // 2, batch_first=True, bidirectional=True) if spec.recurrent else None
        wide = (width if spec.recurrent else read) * pooled * vectors
        self.score = nn.Linear(wide, answer.scores)

    def forward(self, known: Mapping[int, Tensor], texts: Dataset) -> Tensor:
        read, answer = self.read(known), texts.answer
        wide = read if texts.given is None else torch.cat([read, texts.given], dim=-1)
        hidden = self._running(wide, texts.tokens.lengths)
        if isinstance(answer, Span):
            return self.score(hidden).masked_fill(~_open(texts)[..., None], CLOSED)
        if answer.about == "words":
            return self.score(hidden[texts.labels >= 0])
        if answer.about == "marked":
            return self.score(infersent_features(*_marked(hidden, texts)))
        scores = self.score(self._text(hidden, texts)).unflatten(0, (-1, texts.ways))
        return scores[..., 0] if isinstance(answer, Choice) else scores.mean(dim=1)

    def _running(self, hidden: Tensor, lengths: Tensor) -> Tensor:
        """What the recurrent network makes of the rows, `[b, t, d]`; padding is not read."""
        if self.recurrent is None:
            return hidden
        packed = pack_padded_sequence(hidden, lengths.cpu(), batch_first=True, enforce_sorted=False)
        return pad_packed_sequence(self.recurrent(packed)[0], batch_first=True, total_length=hidden.shape[1])[0]

    def _text(self, hidden: Tensor, texts: Dataset) -> Tensor:
        """One vector for a whole row, or the two sides of a pair compared."""
        if texts.sides is None:
            return self._pooled(hidden, texts.tokens.valid, texts.vector)
        return infersent_features(*(self._pooled(hidden, texts.sides == side, texts.vector) for side in (0, 1)))

    def _pooled(self, hidden: Tensor, real: Tensor, vector: str = "mean") -> Tensor:
        there = real.to(hidden.dtype)[..., None]
        row, place = (torch.arange(n, device=hidden.device) for n in hidden.shape[:2])
        end = hidden[row, real.long().argmax(1) if vector == "first" else (place * real).amax(1)]
        if vector != "mean" and self.spec.pool == "mean":
            return end
        mean = (hidden * there).sum(1) / there.sum(1).clamp(min=1.0)
        if self.spec.pool == "mean":
            return mean
        return torch.cat([end, hidden.masked_fill(~real[..., None], float("-inf")).amax(1), mean], dim=-1)


def _open(texts: Dataset) -> Tensor:
    """Where a span may begin and end, `[b, t]`."""
    assert texts.places is not None
    place = torch.arange(texts.tokens.ids.shape[1], device=texts.places.device)
    return (place >= texts.places[:, :1]) & (place <= texts.places[:, 1:])


def _marked(hidden: Tensor, texts: Dataset) -> tuple[Tensor, Tensor]:
    """The vectors of the two marked words."""
    assert texts.places is not None
    row = torch.arange(len(hidden), device=hidden.device)
    return hidden[row, texts.places[:, 0]], hidden[row, texts.places[:, 1]]


class WritingHead(LevelReader):
    """Scores of the coming word: the model's own output layer behind a turn that starts as nothing.

    Only the turn and a copy of the output layer's bias belong to the task, so the pre-trained model stays as it is.
    """

    def __init__(self, spec: Head, levels: tuple[int, ...], model: LanguageModel) -> None:
        super().__init__(spec, levels, model.top_hidden_state)
        self.turn = nn.Linear(model.shape.width, model.shape.width, bias=False)
        bias = model.lm_head.bias
        assert bias is not None, "static vectors cannot write"
        self.bias = nn.Parameter(bias.detach().clone())
        self._model = (model,)  # in a tuple, for its parameters are not the head's
        nn.init.zeros_(self.turn.weight)

    def on(self, model: LanguageModel) -> "WritingHead":
        """The same head, with the same weights, for another state of the model."""
        other = copy(self)
        other._model = (model,)
        return other

    def forward(self, known: Mapping[int, Tensor], texts: Dataset) -> Tensor:
        [model] = self._model
        if texts.written is None:
            hidden = self.read(known)
        else:
            hidden = model.decode(known[self.top], texts.tokens, texts.written)
        asked = hidden[texts.labels >= 0]
        return torch.addmm(self.bias, asked + self.turn(asked), model.token_embedding.weight.T)


AnyHead = TaskHead | WritingHead


def new_head(
    model: LanguageModel, answer: AnswerForm, seed: int, spec: Head = TOP, sides: bool = False, given: int = 0
) -> AnyHead:
    """A fresh head for the task, the same for every strategy of a seed that reads alike.

    `given` numbers stand beside what it reads of every word.
    """
    levels = spec.levels(model)
    if answer.about == "written":
        check_writing(model, spec)
        return WritingHead(spec, levels, model).to(model.token_embedding.weight.device)
    head = TaskHead(spec, levels, model.top_hidden_state, model.shape.features_width, answer, sides, given)
    rng = generator(seed, "head")
    with torch.no_grad():
        head.score.weight.copy_(torch.randn(head.score.weight.shape, generator=rng) * 0.02)
        head.score.bias.zero_()
        for parameter in head.recurrent.parameters() if head.recurrent else ():
            parameter.copy_((torch.rand(parameter.shape, generator=rng) * 2 - 1) * model.shape.features_width**-0.5)
    return head.to(model.token_embedding.weight.device)


def check_writing(model: LanguageModel, spec: Head) -> None:
    """Refuse heads that cannot write."""
    if spec.recurrent:
        raise Refusal(
            "A recurrent head reads the row from both ends, so it would see the word that it is to write; take a "
            "strategy whose head reads the top, one level or a mix."
        )
    if spec.reads in ("all", "joined"):
        raise Refusal(
            "A head that reads all levels side by side is wider than the words' vectors, so it cannot write; take a "
            "strategy that reads the top, one level or a mix."
        )
    if spec.reads != "top" and model.shape.decoder_layers:
        raise Refusal(
            "A head that reads levels of the encoder cannot write, because the decoder writes; take a strategy whose "
            "head reads the top, or a model that reads left to right."
        )
