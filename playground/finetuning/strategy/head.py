"""The task's head: which levels of the model it reads, which of their vectors, and how these become scores."""

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass
from typing import Literal, cast

import torch
from torch import Tensor, nn
from torch.nn.functional import layer_norm
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from playground.errors import UserError
from playground.finetuning.data.dataset import AnswerForm, Dataset
from playground.models.heads import infersent_features
from playground.models.model import LanguageModel
from playground.rng import generator


@dataclass(frozen=True)
class Head:
    """What the head reads: the top, one level (0: embeddings, k: layer k), a learnt mix of all, or all concatenated.

    "joined" are the embeddings concatenated with such a mix. A text is one vector, as its input format says, the
    maximum of all, or its last position, the maximum and the mean concatenated (ULMFiT). With `recurrent` a
    bidirectional LSTM of the task's own stands between, with `hidden` a layer of so many numbers with ReLU and batch
    norm (ULMFiT).
    """

    reads: Literal["top", "mix", "all", "joined"] | int = "top"
    pool: Literal["mean", "max", "concat"] = "mean"
    recurrent: bool = False
    hidden: int = 0

    def levels(self, model: LanguageModel) -> tuple[int, ...]:
        """The levels of a model that this head reads."""
        layers = min(model.shape.layers, model.top_hidden_state)  # static vectors have none
        if self.reads == "top":
            return (model.top_hidden_state,)
        if isinstance(self.reads, int):
            if not 0 <= self.reads <= layers:
                raise UserError(f"The head reads layer {self.reads}; this model has {layers} layers.")
            return (self.reads,)
        return (*range(layers), model.top_hidden_state)

    @property
    def mixes(self) -> bool:
        """Whether it learns how much of each level to read."""
        return self.reads in ("mix", "joined")


TOP = Head()


class LevelReader(nn.Module):
    """What a head reads of the levels `[b, t, d]`, `[b, t, d]` again, or wider where they are concatenated.

    Levels below the top are normalised first, without parameters. The mix is that of ELMo (arXiv:1802.05365, eq. 1):
    softmax weights over the levels and one scale.
    """

    def __init__(self, spec: Head, levels: tuple[int, ...], top: int) -> None:
        super().__init__()
        self.spec, self.levels, self.top = spec, levels, top
        if spec.mixes:
            self.weights, self.scale = nn.Parameter(torch.zeros(len(levels))), nn.Parameter(torch.ones(1))

    @torch.no_grad()
    def mix(self) -> Tensor:
        """The scale and how much of each level is in the mix, from the bottom up `[1 + l]`."""
        return torch.cat([self.scale, self.weights.softmax(0)])

    def read(self, known: Mapping[int, Tensor]) -> Tensor:
        """The levels as one."""
        states = [known[k] if k == self.top else layer_norm(known[k], known[k].shape[-1:]) for k in self.levels]
        if self.spec.mixes:
            mix = self.scale * torch.einsum("l,lbtd->btd", self.weights.softmax(0), torch.stack(states))
            return torch.cat([states[0], mix], dim=-1) if self.spec.reads == "joined" else mix
        return torch.cat(states, dim=-1) if len(states) > 1 else states[0]


class TaskHead(LevelReader):
    """One linear layer, behind a hidden one or not, that scores the vectors that the task's answers are about.

    A recurrent head has an LSTM over the row before it, in both directions, as wide as the model. `features` numbers
    stand beside what it reads of every word.
    """

    def __init__(
        self,
        spec: Head,
        levels: tuple[int, ...],
        top: int,
        width: int,
        answer: AnswerForm,
        sides: bool = False,
        features: int = 0,
    ) -> None:
        super().__init__(spec, levels, top)
        vectors = 4 if sides or answer.about == "marked" else 1
        vectors *= 3 if spec.pool == "concat" and answer.about == "text" else 1
        read = width * {"all": len(levels), "joined": 2}.get(str(spec.reads), 1) + features
        self.recurrent = nn.LSTM(read, width // 2, batch_first=True, bidirectional=True) if spec.recurrent else None
        read = (width if spec.recurrent else read) * vectors
        self.dense = hidden_layer(read, spec.hidden) if spec.hidden else None
        self.score = nn.Linear(spec.hidden or read, answer.scores)

    def forward(self, known: Mapping[int, Tensor], texts: Dataset) -> Tensor:
        hidden = self.read(known)
        if texts.features is not None:
            hidden = torch.cat([hidden, texts.features], dim=-1)
        if self.recurrent is not None:
            hidden = self._reread(self.recurrent, hidden, texts)
        return texts.answer.read(self._scores, hidden, texts, self._of_rows)

    def _scores(self, vectors: Tensor) -> Tensor:
        if self.dense is None:
            return self.score(vectors)
        return self.score(self.dense(vectors.flatten(0, -2))).unflatten(0, vectors.shape[:-1])

    def _reread(self, lstm: nn.LSTM, hidden: Tensor, texts: Dataset) -> Tensor:
        """The states of the LSTM; padding is not read. Rows are sorted here, because packing would wait for a GPU."""
        lengths, host = texts.tokens.lengths, texts.host
        longest_first = lengths.sort(descending=True).indices
        descending = (lengths.cpu() if host is None else host.lengths).sort(descending=True).values
        packed = pack_padded_sequence(hidden[longest_first], descending, batch_first=True)
        states = pad_packed_sequence(lstm(packed)[0], batch_first=True, total_length=hidden.shape[1])[0]
        return states[longest_first.argsort()]

    def _of_rows(self, hidden: Tensor, texts: Dataset) -> Tensor:
        """One vector for a whole row, or the two sides of a pair compared."""
        if texts.sides is None:
            return self._pooled(hidden, texts.tokens.valid, texts.vector)
        return infersent_features(*(self._pooled(hidden, texts.sides == side, texts.vector) for side in (0, 1)))

    def _pooled(self, hidden: Tensor, valid: Tensor, vector: str = "mean") -> Tensor:
        """One vector `[r, d]` of the valid positions `[r, t]` of each row."""
        weight = valid.to(hidden.dtype)[..., None]
        row, position = (torch.arange(n, device=hidden.device) for n in hidden.shape[:2])
        end = hidden[row, valid.long().argmax(1) if vector == "first" else (position * valid).amax(1)]
        if vector != "mean" and self.spec.pool == "mean":
            return end
        mean = (hidden * weight).sum(1) / weight.sum(1).clamp(min=1.0)
        if self.spec.pool == "mean":
            return mean
        largest = hidden.masked_fill(~valid[..., None], float("-inf")).amax(1)
        if self.spec.pool == "max":
            return largest
        return torch.cat([end, largest, mean], dim=-1)


def hidden_layer(read: int, width: int) -> nn.Sequential:
    """A layer with ReLU under batch norm (arXiv:1801.06146, sec. 3.3), whose means are the batch's while it learns."""
    return nn.Sequential(nn.BatchNorm1d(read), nn.Linear(read, width), nn.ReLU(), nn.BatchNorm1d(width)).eval()


class WritingHead(LevelReader):
    """Scores of the next word: the model's own output layer behind a residual linear layer that starts at 0.

    Only that layer and a copy of the output layer's bias belong to the task, so the pre-trained model stays as it is.
    """

    def __init__(self, spec: Head, levels: tuple[int, ...], model: LanguageModel) -> None:
        super().__init__(spec, levels, model.top_hidden_state)
        self.turn = nn.Linear(model.shape.width, model.shape.width, bias=False)
        words, bias = model.token_embedding.weight, model.vocabulary_head(model.network).bias
        self.bias = nn.Parameter(words.new_zeros(len(words)) if bias is None else bias.detach().clone())
        self._model = (model,)  # in a tuple, for its parameters are not the head's
        nn.init.zeros_(self.turn.weight)

    def on(self, model: LanguageModel) -> "WritingHead":
        """The same head, with the same weights, for another state of the model."""
        other = copy(self)
        other._model = (model,)
        return other

    def forward(self, known: Mapping[int, Tensor], texts: Dataset) -> Tensor:
        [model] = self._model
        if texts.decoder_input is None:
            hidden = self.read(known)
        else:
            hidden = model.decode(known[self.top], texts.tokens, texts.decoder_input)
        scored = hidden.flatten(0, 1)[texts.answered]
        head = model.vocabulary_head(model.network)
        return head(scored + self.turn(scored), model.token_embedding.weight, self.bias)


AnyHead = TaskHead | WritingHead


def new_head(
    model: LanguageModel, answer: AnswerForm, seed: int, spec: Head = TOP, sides: bool = False, features: int = 0
) -> AnyHead:
    """A fresh head for the task, the same for every strategy of a seed whose head reads the same."""
    levels = spec.levels(model)
    if answer.about == "written":
        check_writing(model, spec)
        return WritingHead(spec, levels, model).to(model.token_embedding.weight.device)
    head = TaskHead(spec, levels, model.top_hidden_state, model.shape.features_width, answer, sides, features)
    init_head(head, generator(seed, "head"))
    return head.to(model.token_embedding.weight.device)


@torch.no_grad()
def init_head(head: TaskHead, rng: torch.Generator) -> None:
    """Give a head random weights, and its linear layers a bias of 0."""
    head.score.weight.copy_(torch.randn(head.score.weight.shape, generator=rng) * 0.02)
    head.score.bias.zero_()
    if head.recurrent is not None:
        bound = (2 * head.recurrent.hidden_size) ** -0.5
        for parameter in head.recurrent.parameters():
            parameter.copy_((torch.rand(parameter.shape, generator=rng) * 2 - 1) * bound)
    if head.dense is not None:  # He et al., arXiv:1502.01852, eq. 10
        linear = cast("nn.Linear", head.dense[1])
        linear.weight.copy_(torch.randn(linear.weight.shape, generator=rng) * (2 / linear.in_features) ** 0.5)
        linear.bias.zero_()


def check_writing(model: LanguageModel, spec: Head) -> None:
    """Refuse heads that cannot write."""
    reasons = {
        "A recurrent head reads the row from both ends, so it would see the word that it is to write. Choose a "
        "strategy whose head reads the top, one level or a mix.": spec.recurrent,
        "A head that reads all levels side by side is wider than the words' vectors, so it cannot write. Choose a "
        "strategy that reads the top, one level or a mix.": spec.reads in ("all", "joined"),
        "A head that reads levels of the encoder cannot write, because the decoder writes. Choose a strategy whose "
        "head reads the top, or a base that reads left to right.": spec.reads != "top" and model.shape.decoder_layers,
    }
    for reason, holds in reasons.items():
        if holds:
            raise UserError(reason)
