"""What a strategy adds to the task's loss: penalties that hold weights back, and further losses in the same steps.

Each is a declaration; `begin` sees the lane as it starts and gives a function that is asked in every step.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn.functional import mse_loss

from playground.batch import Tokens
from playground.corpora.corpus import pick
from playground.errors import Refusal
from playground.finetuning.data.dataset import Dataset
from playground.finetuning.data.task import Task
from playground.finetuning.run.base import Base
from playground.finetuning.strategy.weight_averaging import WeightAverage
from playground.knob import knob
from playground.models import total_loss
from playground.rng import generator
from playground.training.train_state import TrainState


@dataclass(frozen=True)
class StepContext:
    """One step: its number from 0, the labelled texts of its batch and the scores they got."""

    step: int
    drawn: Dataset
    scores: Tensor


@dataclass(frozen=True)
class TermContext:
    """A lane as it begins.

    `learner` holds the copy that is being tuned, `named` the pre-trained parameters that reading a text uses, `every`
    all that may learn, the head included. `embed` gives the embeddings of a batch, `score` its scores anew, from moved
    embeddings where they are given; `other` is the loss of another task in a step, `unlabelled` a batch of the task's
    texts whose labels nobody may look at; `train` are all labelled texts.
    """

    base: Base
    learner: TrainState
    named: Mapping[str, nn.Parameter]
    every: tuple[nn.Parameter, ...]
    score: Callable[..., Tensor]
    embed: Callable[[Dataset], Tensor]
    other: Callable[[int], Tensor]
    unlabelled: Callable[[int], Dataset]
    seed: int
    steps: int
    train: Dataset

    def loss_on(self, tokens: Tokens, *path: object) -> Tensor:
        """The loss of the pre-training questions on a text; `path` names the draw."""
        return loss_on(self.learner, tokens, self.seed, *path)


def loss_on(learner: TrainState, tokens: Tokens, seed: int, *path: object) -> Tensor:
    """The loss of a learner's own questions on a text; the seed and `path` name the draw."""
    rng = generator(seed, *path, device=learner.device.type)
    return total_loss(learner.model(learner.objective.example(tokens, rng)), consume=True)[0]


@dataclass(frozen=True)
class Budget:
    """What a lane reads without its further losses: so many steps of so many `tokens` each, in rows of `seq_len`."""

    steps: int
    tokens: float
    seq_len: int


class AuxLoss(ABC):
    """A part of the loss; `rehearses` says that it reads pre-training text.

    One with a share `alone` stands alone in the first steps: the task's own loss is left out there.
    """

    name: ClassVar[str]
    rehearses: ClassVar[bool] = False

    @abstractmethod
    def begin(self, start: TermContext) -> Callable[[StepContext], Tensor]:
        """The loss as a function of a step, for a lane as it begins."""

    @abstractmethod
    def tokens_read(self, lane: Budget) -> float:
        """Tokens that it reads beside the batches of the task, over all steps."""

    def check(self, learner: TrainState, task: Task) -> None:  # noqa: B027 (most suit every model and task)
        """Refuse a model or a task that it does not suit."""


@dataclass(frozen=True)
class L2SPPenalty(AuxLoss):
    """Half the strength times the squared distance to the pre-trained weights (L2-SP, arXiv:1802.01483, sec. 3)."""

    strength: float = knob(0.1, 0.0, 100.0, unit="nats per squared distance", why="How hard the start pulls.")
    name: ClassVar[str] = "pull to the start"

    def tokens_read(self, lane: Budget) -> float:
        return 0.0

    def begin(self, start: TermContext) -> Callable[[StepContext], Tensor]:
        return _pulled(self, start)

    def need(self, base: Base, names: Sequence[str]) -> list[Tensor]:
        """Every weight is needed alike."""
        named = dict(base.learner.model.named_parameters())
        return [torch.ones_like(named[name]) for name in names]


@dataclass(frozen=True)
class EWCPenalty(AuxLoss):
    """The same, each weight pulled by how much pre-training needs it (EWC, arXiv:1612.00796, eq. 3).

    The need is the diagonal of the empirical Fisher information on rows of pre-training text, one row at a time: of the
    answers that the text gives, where the paper's would be drawn from the model. It is divided by its mean, so that the
    strength means the same for every model.
    """

    strength: float = knob(1.0, 0.0, 1000.0, unit="nats per squared distance", why="How hard the start pulls.")
    rows: int = knob(32, 1, 256, unit="rows", why="Texts from which the need is estimated.")
    name: ClassVar[str] = "pull by Fisher information"
    rehearses: ClassVar[bool] = True

    def tokens_read(self, lane: Budget) -> float:
        return self.rows * lane.seq_len

    def begin(self, start: TermContext) -> Callable[[StepContext], Tensor]:
        return _pulled(self, start)

    def need(self, base: Base, names: Sequence[str]) -> list[Tensor]:
        """The Fisher information, the same for all lanes."""
        return base.remember(("fisher", self.rows, tuple(names)), lambda: fisher(base, names, self.rows))


Pull = L2SPPenalty | EWCPenalty
"""Penalties that pull weights back to where they began: the strength times how much each of them is needed."""


def fisher(base: Base, names: Sequence[str], rows: int) -> list[Tensor]:
    """How much the pre-training loss of single rows depends on each weight."""
    text = base.rehearse()
    alone = (pick(text, row) for row in torch.arange(min(rows, len(text.ids)), device=text.ids.device).split(1))
    losses = (loss_on(base.learner, one, 0, "fisher", row) for row, one in enumerate(alone))
    return needed(base.learner.model, names, losses)


def needed(model: nn.Module, names: Sequence[str], losses: Iterable[Tensor]) -> list[Tensor]:
    """Mean squared gradient of losses for each weight, divided by the mean of all (Fisher information's diagonal)."""
    named = dict(model.named_parameters())
    parameters = [named[name] for name in names]
    need = [torch.zeros_like(p) for p in parameters]
    for loss in losses:
        gradients = torch.autograd.grad(loss, parameters, allow_unused=True)
        need = [n if g is None else n + g**2 for n, g in zip(need, gradients, strict=True)]
    mean = torch.cat([n.flatten() for n in need]).mean().clamp(min=1e-30)
    return [n / mean for n in need]


def _pulled(pull: Pull, start: TermContext) -> Callable[[StepContext], Tensor]:
    """Half the strength times the squared distance of what learns in a step to where it began, weighed by the need."""
    old = [p.detach().clone() for p in start.named.values()]
    need = pull.need(start.base, tuple(start.named))

    def loss(_: StepContext) -> Tensor:
        total = torch.zeros((), device=old[0].device)
        for p, began, weight in zip(start.named.values(), old, need, strict=True):
            if p.requires_grad:
                total = total + (weight * (p - began) ** 2).sum()
        return pull.strength / 2 * total

    return loss


@dataclass(frozen=True)
class Replay(AuxLoss):
    """In a share of the steps pre-training texts are read as well, so that they are not forgotten."""

    replay_ratio: float = knob(0.5, 0.0, 1.0, unit="share of the steps", why="How often old texts come again.")
    rows: int = knob(8, 1, 64, unit="rows", why="Old texts in such a step.")
    name: ClassVar[str] = "replay"
    rehearses: ClassVar[bool] = True

    def tokens_read(self, lane: Budget) -> float:
        return int(self.replay_ratio * lane.steps) * self.rows * lane.seq_len

    def begin(self, start: TermContext) -> Callable[[StepContext], Tensor]:
        text = start.base.rehearse()

        def loss(moment: StepContext) -> Tensor:
            if int((moment.step + 1) * self.replay_ratio) == int(moment.step * self.replay_ratio):
                return torch.zeros(())
            index = torch.randint(len(text.ids), (self.rows,), generator=generator(start.seed, "replay", moment.step))
            return start.loss_on(pick(text, index.to(text.ids.device)), "replayed", moment.step)

        return loss


@dataclass(frozen=True)
class AuxiliaryLM(AuxLoss):
    """The pre-training question, asked of the task's own texts.

    Beside the task it is GPT's auxiliary loss (Radford et al. 2018, sec. 3.2, eq. 5); alone in the first steps it is
    further pre-training (arXiv:2004.10964, sec. 4).
    """

    weight: float = knob(0.5, 0.0, 10.0, unit="times the loss", why="How much it counts beside the task.")
    lm_fraction: float = knob(
        0.0, 0.0, 0.9, unit="share of the steps", why="How long it is asked alone, and only then."
    )
    name: ClassVar[str] = "reading the task's texts"

    def check(self, learner: TrainState, task: Task) -> None:
        """Refuse a pre-training question that a task's texts cannot be asked."""
        lacking = [need for need in learner.objective.needs if need.startswith(("pair", "translation", "label:"))]
        if lacking:
            raise Refusal(
                f"{learner.objective.name} needs {_said(lacking[0])}, which the texts of a task do not have, so "
                f"{self.name} is not possible; take another strategy or another base."
            )

    def tokens_read(self, lane: Budget) -> float:
        return lane.tokens * (int(self.lm_fraction * lane.steps) or lane.steps)

    def begin(self, start: TermContext) -> Callable[[StepContext], Tensor]:
        last = int(self.lm_fraction * start.steps)

        def loss(moment: StepContext) -> Tensor:
            if self.lm_fraction and moment.step >= last:
                return torch.zeros(())
            return self.weight * start.loss_on(moment.drawn.tokens, "read", moment.step)

        return loss


def _said(need: str) -> str:
    """What an objective needs, in words."""
    known = {"pair": "a second text", "translation": "a translation"}
    return known.get(need) or f"the label {need.removeprefix('label:')!r} of every word"


@dataclass(frozen=True)
class MeanTeacher(AuxLoss):
    """The scores shall stay near those of the mean of all earlier weights (self-distillation, arXiv:2002.10345)."""

    weight: float = knob(1.0, 0.0, 10.0, unit="times the squared distance", why="How much the teacher counts.")
    name: ClassVar[str] = "following the mean of earlier weights"

    def tokens_read(self, lane: Budget) -> float:
        return lane.tokens * lane.steps

    def begin(self, start: TermContext) -> Callable[[StepContext], Tensor]:
        mean = WeightAverage(start.every)

        def loss(moment: StepContext) -> Tensor:
            mean.take()
            with torch.no_grad(), mean.in_place():
                taught = start.score(moment.drawn)
            return self.weight * mse_loss(moment.scores, taught)

        return loss
