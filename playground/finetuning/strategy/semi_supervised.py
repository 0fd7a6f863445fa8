"""Two further losses without further labels: texts a little moved must keep their answer, and sure guesses teach."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

import torch
from torch import Tensor
from torch.nn.functional import kl_div

from playground.batch import arange_rows
from playground.errors import Refusal
from playground.finetuning.data.dataset import Dataset
from playground.finetuning.data.input_format import packing_for
from playground.finetuning.data.task import Task
from playground.finetuning.data.task_types import Classes
from playground.finetuning.run.base import Base
from playground.finetuning.strategy.losses import AuxLoss, Budget, StepContext, TermContext
from playground.knob import knob
from playground.training.train_state import TrainState

SEED = 9_999
"""The seed of texts without labels, far from those of lanes."""


@dataclass(frozen=True)
class AdversarialFGM(AuxLoss):
    """The same texts with their embeddings moved a little where it hurts most (arXiv:1605.07725, sec. 3, eq. 5)."""

    epsilon: float = knob(0.5, 0.01, 10.0, unit="length of the move", why="How far the embeddings of a text are moved.")
    weight: float = knob(1.0, 0.0, 10.0, unit="times the task's loss", why="How much the moved texts count.")
    name: ClassVar[str] = "moved embeddings"

    def tokens_read(self, lane: Budget) -> float:
        return 2 * lane.tokens * lane.steps

    def begin(self, start: TermContext) -> Callable[[StepContext], Tensor]:
        def loss(moment: StepContext) -> Tensor:
            drawn = moment.drawn
            here = start.embed(drawn)
            still = here.detach().requires_grad_()
            (slope,) = torch.autograd.grad(drawn.answer.loss(start.score(drawn, still), drawn.labels), [still])
            size = slope.flatten(1).norm(dim=1).clamp(min=1e-12)[:, None, None]
            return self.weight * drawn.answer.loss(start.score(drawn, here + self.epsilon * slope / size), drawn.labels)

        return loss


@dataclass(frozen=True)
class PseudoLabels(AuxLoss):
    """Texts without labels are learnt with the model's own sure answers (Lee 2013; arXiv:1809.08370, sec. 1).

    The texts come from the task's training split; their labels are thrown away.
    """

    unlabelled_size: int = knob(512, 8, 4096, unit="texts", why="How many texts without labels there are.")
    confidence: float = knob(0.9, 0.5, 1.0, unit="probability", why="From where on an answer is believed.")
    start_fraction: float = knob(0.3, 0.0, 0.9, unit="share of the steps", why="How long nothing is believed.")
    name: ClassVar[str] = "own answers"

    def check(self, learner: TrainState, task: Task) -> None:
        check_classes(self.name, task)

    def tokens_read(self, lane: Budget) -> float:
        return lane.tokens * (lane.steps - int(self.start_fraction * lane.steps))

    def begin(self, start: TermContext) -> Callable[[StepContext], Tensor]:
        def loss(moment: StepContext) -> Tensor:
            if moment.step < int(self.start_fraction * start.steps):
                return torch.zeros(())
            drawn = start.unlabelled(moment.step)
            scores = start.score(drawn)
            chance, said = scores.detach().softmax(1).max(1)
            sure = chance >= self.confidence
            if not bool(sure.any()):
                return torch.zeros(())
            return drawn.answer.loss(scores[sure], said[sure]) * sure.float().mean()

        return loss


@dataclass(frozen=True)
class CrossViewTraining(AuxLoss):
    """Every second step also reads texts without labels: who sees half of a text must answer as who sees all of it.

    The whole text is the teacher and is not taught by this loss (cross-view training, arXiv:1809.08370, sec. 2.1).
    """

    unlabelled_size: int = knob(512, 8, 4096, unit="texts", why="How many texts without labels there are.")
    weight: float = knob(1.0, 0.0, 10.0, unit="times the divergence", why="How much the halves count.")
    name: ClassVar[str] = "cross views"

    def check(self, learner: TrainState, task: Task) -> None:
        check_classes(self.name, task)

    def tokens_read(self, lane: Budget) -> float:
        return 3 * lane.tokens * (lane.steps // 2)

    def begin(self, start: TermContext) -> Callable[[StepContext], Tensor]:
        def loss(moment: StepContext) -> Tensor:
            if moment.step % 2 == 0:
                return torch.zeros(())
            drawn = start.unlabelled(moment.step)
            with torch.no_grad():
                taught = start.score(drawn).softmax(1)
            said = (start.score(half_hidden(drawn, side)).log_softmax(1) for side in (0, 1))
            return self.weight * torch.stack([kl_div(one, taught, reduction="batchmean") for one in said]).mean()

        return loss


def half_hidden(drawn: Dataset, side: int) -> Dataset:
    """The texts with the words of their first (0) or second (1) half hidden behind [MASK]."""
    tokens = drawn.tokens
    first = arange_rows(tokens.ids) * 2 < tokens.lengths[:, None]
    gone = (first if side == 0 else ~first) & tokens.maskable
    return replace(
        drawn, tokens=replace(tokens, ids=tokens.ids.masked_fill(gone, tokens.specials.mask), example_ids=None)
    )


def check_classes(name: str, task: Task) -> None:
    """Refuse a task whose answers are no classes of texts."""
    if not isinstance(task.answer, Classes) or task.answer.about != "text":
        raise Refusal(f"{name} need classes of texts, and the task {task.name!r} asks for something else.")


def without_labels(term: "PseudoLabels | CrossViewTraining", base: Base, packing: str | None) -> Dataset:
    """Texts of the task, labels thrown away; of the user's file as many as it has, halved until they are there."""
    task, tokenizer = base.task, base.tokenizer
    if task is None or tokenizer is None:
        raise Refusal("Texts without labels need the task and the tokenizer; give Base(..., tokenizer=..., task=...).")
    suited = packing_for(base.learner.model.shape, packing)

    def load(number: int) -> Dataset:
        try:
            texts = task.load(tokenizer, number, SEED, "train", suited)
        except Refusal:
            if number < 2:
                raise
            return load(number // 2)
        return replace(texts, labels=torch.zeros_like(texts.labels))

    return base.remember(("unlabelled", term.unlabelled_size, packing), lambda: load(term.unlabelled_size))
