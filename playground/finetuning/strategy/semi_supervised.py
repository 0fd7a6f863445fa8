"""Losses without further labels: adversarially moved embeddings, pseudo-labels, cross-view training."""

from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

import torch
from torch import Tensor
from torch.nn.functional import kl_div

from playground.batch import arange_rows
from playground.errors import UserError
from playground.finetuning.data.dataset import Dataset
from playground.finetuning.data.input_format import InputFormat
from playground.finetuning.data.task import Task
from playground.finetuning.run.base import Base
from playground.finetuning.strategy.losses import AuxLoss, ReadingBudget, StepContext, TrainerView, describe_fewer
from playground.knob import knob
from playground.training.train_state import TrainState

SEED = 9_999
"""The seed of texts without labels, far from those of runs."""


@dataclass(frozen=True)
class AdversarialFGM(AuxLoss):
    """The same texts with their embeddings moved along the gradient of the loss (arXiv:1605.07725, sec. 3, eq. 5)."""

    epsilon: float = knob(
        0.1, 0.01, 10.0, unit="length of the shift", why="How far the embeddings of a text are shifted."
    )
    weight: float = knob(1.0, 0.0, 10.0, unit="times the task's loss", why="Weight of the adversarial copies.")
    name: ClassVar[str] = "moved embeddings"

    def tokens_read(self, budget: ReadingBudget) -> float:
        return 2 * budget.tokens * budget.steps

    def loss(self, run: TrainerView, now: StepContext) -> Tensor:
        texts, embedded = now.batch, run.embed(now.batch)
        fixed = embedded.detach().requires_grad_()
        (slope,) = torch.autograd.grad(texts.answer.loss(run.score(texts, fixed), texts.labels), [fixed])
        move = self.epsilon * slope / row_lengths(slope).clamp(min=1e-12)
        return self.weight * texts.answer.loss(run.score(texts, embedded + move), texts.labels)


def row_lengths(rows: Tensor) -> Tensor:
    """The Euclidean (Frobenius) length of each row `[r, 1, 1]` of embeddings `[r, t, d]`."""
    return rows.flatten(1).norm(dim=1)[:, None, None]


@dataclass(frozen=True)
class Unlabelled(AuxLoss):
    """A loss on texts of the task's training split whose labels are thrown away."""

    unlabelled_size: int = knob(512, 8, 4096, unit="texts", why="How many texts without labels there are.")

    def check(self, learner: TrainState, task: Task) -> None:
        check_classes(self.name, task)

    def texts(self, base: Base, input_format: InputFormat) -> Dataset:
        """The texts for a base, no more than a file has; where a task writes too few, half as many, and so on."""
        if base.task is None:
            raise UserError("Texts without labels need the task; give Base(..., task=...).")
        load = partial(base.task.load, base.words, seed=SEED, split="train")
        size = min(self.unlabelled_size, base.task.examples or self.unlabelled_size)

        def make() -> Dataset:
            number = size
            while True:
                try:
                    texts = load(count=number, input_format=input_format)
                    return replace(texts, labels=torch.zeros_like(texts.labels))
                except UserError:
                    if number < 2:
                        raise
                    number //= 2

        return base.remember(("unlabelled", size, input_format), make)

    def notices(self, base: Base, input_format: InputFormat) -> tuple[str, ...]:
        texts = self.texts(base, input_format)
        return (*describe_fewer(len(texts.labels), self.unlabelled_size, "texts without labels"), *texts.notices)


@dataclass(frozen=True)
class PseudoLabels(Unlabelled):
    """Texts without labels are learnt with the model's own confident answers (Lee 2013; arXiv:1809.08370, sec. 1)."""

    confidence: float = knob(0.9, 0.5, 1.0, unit="probability", why="Predictions above it become labels.")
    start_fraction: float = knob(
        0.3, 0.0, 0.9, unit="share of the steps", why="Before that, no prediction becomes a label."
    )
    name: ClassVar[str] = "own answers"

    def tokens_read(self, budget: ReadingBudget) -> float:
        return budget.tokens * (budget.steps - int(self.start_fraction * budget.steps))

    def loss(self, run: TrainerView, now: StepContext) -> Tensor:
        if now.step < int(self.start_fraction * run.steps):
            return torch.zeros(())
        texts = run.draw(self.texts(run.base, run.input_format), now.step)
        scores = run.score(texts)
        probability, predicted = scores.detach().softmax(1).max(1)
        sure = probability >= self.confidence
        believed = sure.nonzero()[:, 0]  # waits for a GPU, as only the model knows how many there are
        if not len(believed):
            return torch.zeros(())
        return texts.answer.loss(scores[believed], predicted[believed]) * sure.float().mean()


@dataclass(frozen=True)
class CrossViewTraining(Unlabelled):
    """Every second step also reads texts without labels: each half of a text must be answered as the whole is.

    The answer to the whole text is the target and gets no gradient; the divergences of both halves are added
    (cross-view training, arXiv:1809.08370, sec. 2.1).
    """

    weight: float = knob(1.0, 0.0, 10.0, unit="times the divergence", why="Weight of the halves.")
    name: ClassVar[str] = "cross views"

    def tokens_read(self, budget: ReadingBudget) -> float:
        return 3 * budget.tokens * (budget.steps // 2)

    def loss(self, run: TrainerView, now: StepContext) -> Tensor:
        if now.step % 2 == 0:
            return torch.zeros(())
        texts = run.draw(self.texts(run.base, run.input_format), now.step)
        with torch.no_grad():
            target = run.score(texts).softmax(1)
        views = [run.score(half_hidden(texts, side)).log_softmax(1) for side in (0, 1)]
        return self.weight * torch.stack([kl_div(view, target, reduction="batchmean") for view in views]).sum()


def half_hidden(texts: Dataset, side: int) -> Dataset:
    """The texts with the words of their first (0) or second (1) half replaced by [MASK]."""
    tokens = texts.tokens
    first = arange_rows(tokens.ids) * 2 < tokens.lengths[:, None]
    hidden = (first if side == 0 else ~first) & tokens.maskable
    ids = tokens.ids.masked_fill(hidden, tokens.specials.mask)
    return replace(texts, tokens=replace(tokens, ids=ids, example_ids=None))


def check_classes(name: str, task: Task) -> None:
    """Refuse a task whose answers are no classes of texts."""
    if not task.answer.classes:
        raise UserError(f"{name} need classes of texts, and the task {task.name!r} asks for something else.")
