"""Training of a compressed model: steps over texts, with any loss; what is exactly 0 and marked so stays 0."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import torch
from torch import Generator, Tensor, nn

from playground.compression.classifier import Classifier, weights_read
from playground.compression.distillation.reading import TextReading, read
from playground.compression.method import Compressed, TaskData
from playground.finetuning.data.dataset import Dataset
from playground.finetuning.run.trainer import order
from playground.models.dropout import dropping
from playground.optimisers import AdamW
from playground.zoo.recipe import BETAS

LEARNING_RATE = 4e-3
"""That of full fine-tuning here, which suits tiny models and short runs."""


@dataclass(frozen=True)
class StepBatch:
    """One step: a batch with gold labels, a batch that the teacher answers, and both models' readings of it.

    Without further texts the two batches are the same.
    """

    student: Classifier
    teacher: Classifier
    labelled: Dataset
    texts: Dataset

    @cached_property
    def student_reading(self) -> TextReading:
        """What the student computes of the batch that the teacher answers."""
        return read(self.student, self.texts)

    @cached_property
    def teacher_reading(self) -> TextReading:
        """What the teacher computes of it, without gradient."""
        with torch.no_grad():
            return read(self.teacher, self.texts)

    @cached_property
    def scores(self) -> tuple[Tensor, Tensor]:
        """The student's and the teacher's scores of each answer in that batch, `[n, c]` both."""
        student = self.student_reading.scores if self._is_read else self.student(self.texts)
        with torch.no_grad():
            teacher = self.teacher_reading.scores if self._is_read else self.teacher(self.texts)
        answer, labels = self.texts.answer, self.texts.labels
        return answer.pairs(student, labels)[0], answer.pairs(teacher, labels)[0]

    @cached_property
    def task_loss(self) -> Tensor:
        """The loss of the gold labels."""
        known = self.labelled is self.texts and self._is_read
        scores = self.student_reading.scores if known else self.student(self.labelled)
        return self.labelled.answer.loss(scores, self.labelled.labels)

    @property
    def _is_read(self) -> bool:
        """Whether another term of the loss has asked for the readings, which hold the scores too."""
        return "student_reading" in self.__dict__


Loss = Callable[[StepBatch], Mapping[str, Tensor]]
"""The terms of the loss of a step, each with its weight in it, by name."""


def task_loss(batch: StepBatch) -> dict[str, Tensor]:
    """The loss of the task alone."""
    return {"task": batch.task_loss}


@dataclass
class ClassifierTraining:
    """Steps of AdamW at one rate that falls to 0; `terms` are the values of each term of the loss by step.

    The loss of the task needs no teacher. With `unlabelled` the teacher answers so many further texts.
    """

    student: Compressed
    data: TaskData
    rng: Generator
    steps: int
    loss: Loss = task_loss
    teacher: Classifier | None = None
    unlabelled: int = 0
    terms: dict[str, list[float]] = field(default_factory=dict)
    _nonzero: dict[nn.Parameter, Tensor] = field(default_factory=dict, repr=False)

    @property
    def curves(self) -> dict[str, object]:
        """What was recorded before, and the terms of the loss."""
        return {**self.student.curves, **self.terms}

    def keep_zeros(self) -> None:
        """From now on the zeros that there are in marked matrices stay zeros."""
        original = ".parametrizations.weight.original"  # the name of a matrix that is masked or rounded in each step
        named = {n.replace(original, ".weight"): p for n, p in self.student.classifier.named_parameters()}
        self._nonzero = {p: p.detach() != 0 for name, p in named.items() if name in self.student.zeros}

    def each(self, learns: Mapping[str, nn.Parameter] | None = None) -> Iterator[int]:
        """Train, a step for each value, which is the number of steps that are done."""
        model = self.student.classifier
        teacher = self.teacher or model
        chosen = dict(weights_read(model) if learns is None else learns)
        for p in (*model.parameters(), *teacher.parameters()):
            p.requires_grad_(False)
        for p in chosen.values():
            p.requires_grad_(True)
        self.keep_zeros()
        optimiser = AdamW(chosen.values(), lr=LEARNING_RATE, betas=BETAS, weight_decay=0.01)
        train, seed = self.data.train, int(torch.randint(2**31, (), generator=self.rng))
        pool = self.data.unlabelled(self.unlabelled) if self.unlabelled else None
        for step in range(self.steps):
            labelled = _draw(train, self.data.batch_size, seed, step)
            texts = labelled if pool is None else _draw(pool, self.data.batch_size, seed, step)
            for group in optimiser.param_groups:
                group["lr"] = LEARNING_RATE * (1 - step / self.steps)
            with dropping(model, self.rng):
                terms = self.loss(StepBatch(model, teacher, labelled, texts))
                total = torch.stack(list(terms.values())).sum()
            if total.requires_grad:  # else nothing that learns took part in this step
                total.backward()
                optimiser.step()
            optimiser.zero_grad(set_to_none=True)
            with torch.no_grad():
                for p, mask in self._nonzero.items():
                    p.mul_(mask)
            for name, value in terms.items():
                self.terms.setdefault(name, []).append(float(value.detach()))
            yield step + 1
        model.requires_grad_(True)


def _draw(texts: Dataset, size: int, seed: int, step: int) -> Dataset:
    """The batch of a step."""
    return texts.pick(order(len(texts.labels), size, seed, step))


def fine_tune(
    start: Compressed,
    data: TaskData,
    rng: Generator,
    steps: int,
    loss: Loss = task_loss,
    teacher: Classifier | None = None,
    unlabelled: int = 0,
    learns: Mapping[str, nn.Parameter] | None = None,
) -> Compressed:
    """The same after some steps on texts of the task; all its weights learn, or only those that `learns` names."""
    if not steps:
        return start
    training = ClassifierTraining(start, data, rng, steps, loss, teacher, unlabelled)
    for _ in training.each(learns):
        pass
    return replace(start, curves=training.curves)
