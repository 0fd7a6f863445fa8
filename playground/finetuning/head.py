"""The task's head: which levels of the model it reads, and how a text becomes one vector."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn.functional import layer_norm

from playground.models.model import LanguageModel
from playground.refusal import Refusal
from playground.seeds import generator


@dataclass(frozen=True)
class Head:
    """What the head reads: the top, one level (0: embeddings, k: layer k), a learnt mix of all, or all side by side.

    A text is the mean of its positions, or its last position, the maximum and the mean side by side (ULMFiT).
    """

    reads: Literal["top", "mix", "all"] | int = "top"
    pool: Literal["mean", "concat"] = "mean"

    def levels(self, model: LanguageModel) -> tuple[int, ...]:
        """The levels of a model that this head reads."""
        if self.reads == "top":
            return (model.top_level,)
        if isinstance(self.reads, int):
            if not 0 <= self.reads <= model.shape.layers:
                raise Refusal(f"The head reads layer {self.reads}; this model has {model.shape.layers} layers.")
            return (self.reads,)
        return (*range(model.shape.layers), model.top_level)


TOP = Head()


class TaskHead(nn.Module):
    """Scores `[b, c]` for whole texts, from the levels `[b, t, d]` that it reads.

    Levels below the top are brought to one scale first, without parameters. The mix is that of ELMo
    (arXiv:1802.05365, eq. 1): softmax weights over the levels and one scale.
    """

    def __init__(self, spec: Head, levels: tuple[int, ...], top: int, width: int, classes: int) -> None:
        super().__init__()
        self.spec, self.levels, self.top = spec, levels, top
        if spec.reads == "mix":
            self.weights, self.scale = nn.Parameter(torch.zeros(len(levels))), nn.Parameter(torch.ones(1))
        wide = width * (len(levels) if spec.reads == "all" else 1) * (3 if spec.pool == "concat" else 1)
        self.score = nn.Linear(wide, classes)

    def forward(self, known: Mapping[int, Tensor], real: Tensor) -> Tensor:
        return self.score(self._pooled(self._read(known), real))

    @property
    def shares(self) -> tuple[float, ...]:
        """How much of each level is in the mix, from the bottom up; empty for other heads."""
        return tuple(self.weights.softmax(0).tolist()) if self.spec.reads == "mix" else ()

    def _read(self, known: Mapping[int, Tensor]) -> Tensor:
        states = [known[k] if k == self.top else layer_norm(known[k], known[k].shape[-1:]) for k in self.levels]
        if self.spec.reads == "mix":
            return self.scale * torch.einsum("l,lbtd->btd", self.weights.softmax(0), torch.stack(states))
        return torch.cat(states, dim=-1) if len(states) > 1 else states[0]

    def _pooled(self, hidden: Tensor, real: Tensor) -> Tensor:
        there = real.to(hidden.dtype)[..., None]
        mean = (hidden * there).sum(1) / there.sum(1).clamp(min=1.0)
        if self.spec.pool == "mean":
            return mean
        last = hidden[torch.arange(len(hidden), device=hidden.device), (real.sum(1) - 1).clamp(min=0)]
        return torch.cat([last, hidden.masked_fill(~real[..., None], float("-inf")).amax(1), mean], dim=-1)


def new_head(model: LanguageModel, classes: int, seed: int, spec: Head = TOP) -> TaskHead:
    """A fresh head for the task, the same for every strategy of a seed that reads alike."""
    head = TaskHead(spec, spec.levels(model), model.top_level, model.shape.width, classes)
    rng = generator(seed, "head")
    with torch.no_grad():
        head.score.weight.copy_(torch.randn(head.score.weight.shape, generator=rng) * 0.02)
        head.score.bias.zero_()
    return head.to(model.table.weight.device)
