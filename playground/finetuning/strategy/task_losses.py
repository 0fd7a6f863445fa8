"""Other forms of the task's own loss, each in the place of the plain one: R-Drop, FreeLB, mixout."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.func import functional_call
from torch.nn.functional import kl_div

from playground.batch import arange_rows
from playground.errors import UserError
from playground.finetuning.data.dataset import Dataset
from playground.finetuning.data.task import Task
from playground.finetuning.data.task_types import Number
from playground.finetuning.strategy.losses import TrainerView
from playground.finetuning.strategy.semi_supervised import row_lengths
from playground.knob import knob
from playground.models.dropout import dropping_everywhere
from playground.models.groups import layer_groups
from playground.models.model import LanguageModel
from playground.rng import generator
from playground.training.train_state import TrainState


class TaskLoss(ABC):
    """How the task's loss is taken in a step; with `mixes` it acts on the pre-trained matrices, which must learn."""

    name: ClassVar[str]
    mixes: ClassVar[bool] = False

    @property
    @abstractmethod
    def passes(self) -> int:
        """How often it reads each text of a batch."""

    @abstractmethod
    def take(self, run: TrainerView, step: int, batch: Dataset) -> tuple[Tensor, Tensor]:
        """The scores of a batch in the first pass, and the loss of all passes."""

    def check(self, learner: TrainState, task: Task) -> None:  # noqa: B027 (most suit every model and task)
        """Refuse a model or a task that it does not suit."""


@dataclass(frozen=True)
class RDrop(TaskLoss):
    """Two passes with different dropout must agree (R-Drop, arXiv:2106.14448).

    The loss is the mean of both cross-entropies plus `alpha` times the mean of both KL divergences, as in the authors'
    README; the paper's equation has the sum of the cross-entropies. Fine-tuning has no dropout here, so that these two
    passes turn it on at every place where the model can have it.
    """

    alpha: float = knob(1.0, 0.0, 10.0, unit="times the divergence", why="How much the two passes must agree.")
    dropout: float = knob(
        0.1, 0.01, 0.9, unit="share", why="Numbers that a pass sets to 0; no other strategy has dropout."
    )
    name: ClassVar[str] = "R-Drop"

    @property
    def passes(self) -> int:
        return 2

    def check(self, learner: TrainState, task: Task) -> None:
        _check_layers(self.name, learner)
        if isinstance(task.answer, Number):
            raise UserError(
                f"{self.name} compares probabilities of answers, and the task {task.name!r} asks for a number. Choose "
                "a task with classes, such as sentiment."
            )

    def take(self, run: TrainerView, step: int, batch: Dataset) -> tuple[Tensor, Tensor]:
        rng = generator(run.seed, self.name, step, device=run.learner.device)
        with dropping_everywhere(run.learner.model, self.dropout, rng):
            scores = run.score(batch), run.score(batch)
        one, other = (batch.answer.log_probabilities(each, batch.labels) for each in scores)
        plain = sum(batch.answer.loss(each, batch.labels) for each in scores) / 2
        return scores[0], plain + self.alpha * (_divergence(one, other) + _divergence(other, one)) / 2


def _divergence(one: Tensor, other: Tensor) -> Tensor:
    """KL(one || other) of log probabilities `[n, c, ...]`, the mean over answers."""
    return kl_div(other, one, reduction="none", log_target=True).sum(dim=1).mean()


@dataclass(frozen=True)
class FreeLB(TaskLoss):
    """Embeddings are moved uphill in several small steps, and all passes on the way are learnt (FreeLB, algorithm 1).

    arXiv:1909.11764; norms are those of a row of text, as in the authors' code. The move starts at random in the real
    positions and is added to the sum of all embeddings, where theirs is added to the word's alone. The gradient is the
    mean over the passes; the dropout mask, which they keep over the passes, does not exist here.
    """

    adv_steps: int = knob(3, 1, 10, unit="passes", why="How often each text is read, shifted a little more each time.")
    adv_lr: float = knob(0.1, 0.0, 10.0, unit="length of a step", why="Size of one step of gradient ascent.")
    adv_init_mag: float = knob(
        0.05, 0.0, 10.0, unit="length at most", why="Size of the random shift of the first pass."
    )
    adv_max_norm: float = knob(0.2, 0.0, 10.0, unit="length at most", why="Bound on the whole shift; 0 for none.")
    name: ClassVar[str] = "FreeLB"

    @property
    def passes(self) -> int:
        return self.adv_steps

    def take(self, run: TrainerView, step: int, batch: Dataset) -> tuple[Tensor, Tensor]:
        embedded, losses = run.embed(batch), list[Tensor]()
        move, first = self.start(embedded, batch, generator(run.seed, self.name, step, device=embedded.device)), None
        for number in range(self.adv_steps):
            move = move.requires_grad_()
            scores = run.score(batch, embedded + move)
            losses.append(batch.answer.loss(scores, batch.labels))
            first = scores if first is None else first
            if number + 1 < self.adv_steps:
                (slope,) = torch.autograd.grad(losses[-1], [move], retain_graph=True)
                move = self.moved(move.detach(), slope)
        assert first is not None
        return first, torch.stack(losses).mean()

    def start(self, embedded: Tensor, batch: Dataset, rng: torch.Generator) -> Tensor:
        """The first move `[r, t, d]`: uniform, and at most `adv_init_mag` long in each row."""
        lengths = batch.tokens.lengths[:, None, None]
        noise = torch.rand(embedded.shape, generator=rng, device=rng.device).to(embedded) * 2 - 1
        real = arange_rows(batch.tokens.ids)[..., None] < lengths
        return noise * real * self.adv_init_mag / (lengths * embedded.shape[-1]) ** 0.5

    def moved(self, move: Tensor, slope: Tensor) -> Tensor:
        """A move after one step uphill, brought back into the ball."""
        move = move + self.adv_lr * slope / row_lengths(slope).clamp(min=1e-8)
        if not self.adv_max_norm:
            return move
        return move * (self.adv_max_norm / row_lengths(move).clamp(min=1e-8)).clamp(max=1.0)


@dataclass(frozen=True)
class Mixout(TaskLoss):
    """All weights out of a unit are the pre-trained ones with probability `p` (mixout, arXiv:1909.11299, fig. 1).

    The result is corrected so that its expected value is the weight itself: `(mixed - p * start) / (1 - p)`, and the
    gradient is that of this formula; the authors' code leaves out its factor `1 / (1 - p)`. Only the matrices of the
    layers are mixed, so no bias, no norm, no embedding and nothing new. What is frozen is pre-trained anyway.
    """

    p: float = knob(0.7, 0.0, 0.95, unit="probability", why="How many units have their pre-trained weights in a step.")
    name: ClassVar[str] = "mixout"
    mixes: ClassVar[bool] = True

    @property
    def passes(self) -> int:
        return 1

    def check(self, learner: TrainState, task: Task) -> None:
        _check_layers(self.name, learner)

    def take(self, run: TrainerView, step: int, batch: Dataset) -> tuple[Tensor, Tensor]:
        mixed = {f"model.{name}": weight for name, weight in self.mixed(run, step).items()}
        scores = functional_call(_Scoring(run), mixed, (batch,))
        return scores, batch.answer.loss(scores, batch.labels)

    def mixed(self, run: TrainerView, step: int) -> dict[str, Tensor]:
        """The matrices that learn, by name, each mixed with the pre-trained one."""
        start, mixed = dict(run.base.learner.model.named_parameters()), dict[str, Tensor]()
        groups = layer_groups(run.learner.model).items()
        for name in (name for group, names in groups if "layer" in group for name in names if name in run.named):
            weight = run.named[name]
            if weight.requires_grad and _is_matrix(run.learner.model, name):
                rng = generator(run.seed, self.name, step, name, device=weight.device)
                kept = torch.rand(weight.shape[-1], generator=rng, device=weight.device) < self.p  # of each input
                old = start[name].detach()
                mixed[name] = (torch.where(kept, old, weight) - self.p * old) / (1 - self.p)
        return mixed


def _is_matrix(model: LanguageModel, name: str) -> bool:
    """Whether a parameter is a matrix of a layer; vectors, biases and tables of embeddings are not."""
    owner, _, own = name.rpartition(".")
    module = model.get_submodule(owner)
    return own.startswith("weight") and not isinstance(module, nn.Embedding) and getattr(module, own).dim() > 1


class _Scoring(nn.Module):
    """The scores of a batch as a module, so that the weights of its model can be given."""

    def __init__(self, run: TrainerView) -> None:
        super().__init__()
        self.model, self.score = run.learner.model, run.score

    def forward(self, batch: Dataset) -> Tensor:
        return self.score(batch)


def _check_layers(name: str, learner: TrainState) -> None:
    """Refuse a model without layers."""
    if learner.model.shape.kind == "static":
        raise UserError(
            f"{name} changes what the layers of a model compute, and {learner.entry.name} has no layers. "
            "Choose a base with layers, such as BERT."
        )
