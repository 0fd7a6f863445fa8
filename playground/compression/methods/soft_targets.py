"""Soft targets: a student learns the probabilities that its teacher gives to all classes."""

from dataclasses import dataclass

import torch
from torch import Generator, Tensor, nn

from playground.compression.classifier import Classifier, fine_tuned
from playground.compression.distillation.losses import soft_targets
from playground.compression.distillation.students import START, begin_student
from playground.compression.method import Compressed, Method, TaskData
from playground.compression.training import StepBatch, fine_tune
from playground.finetuning.data.dataset import Dataset
from playground.knob import knob
from playground.rng import derive


class Ensemble(Classifier):
    """Several teachers of one task, whose scores are averaged."""

    def __init__(self, teachers: list[Classifier]) -> None:
        super().__init__(teachers[0].model, teachers[0].head, teachers[0].kept_ids)
        self.teachers = nn.ModuleList(teachers)

    def forward(self, texts: Dataset) -> Tensor:
        return torch.stack([teacher(texts) for teacher in self.teachers]).mean(0)


@dataclass(frozen=True)
class SoftTargetLoss:
    """The divergence from the teacher's softened classes times T², and the loss of the gold labels."""

    layers: int = knob(0, 0, 12, unit="layers", why="Layers of the student; 0: half of the teacher's.")
    start: str = knob("every second", choices=START, why="Which of the teacher's layers the student starts with.")
    temperature: float = knob(2.0, 0.1, 50.0, unit="", why="Above 1, unlikely classes count more.")
    alpha: float = knob(0.5, 0.0, 1.0, unit="share of the loss", why="Weight of soft targets; the rest: gold labels.")
    unlabelled: int = knob(1000, 0, 10_000, unit="texts", why="Additional texts, labelled only by the teacher.")
    teachers: int = knob(1, 1, 5, unit="teachers", why="Fine-tuned with other seeds; their scores are averaged.")
    steps: int = knob(200, 0, 5000, unit="steps", why="Training steps of the student.")

    def apply(self, start: Compressed, data: TaskData, rng: Generator) -> Compressed:
        teacher = self.teacher(start.classifier, data)
        student = begin_student(start, data, rng, self.layers, self.start)
        return fine_tune(student, data, rng, self.steps, self.loss, teacher, self.unlabelled)

    def teacher(self, first: Classifier, data: TaskData) -> Classifier:
        """The model, or it and others that were fine-tuned on the same texts."""
        seeds = [derive(data.seed, "teacher", k) % 2**31 for k in range(1, self.teachers)]
        more = [fine_tuned(data.base, data.train, data.steps, data.batch_size, seed) for seed in seeds]
        return Ensemble([first, *more]) if more else first

    def loss(self, batch: StepBatch) -> dict[str, Tensor]:
        return {
            "soft targets": self.alpha * soft_targets(*batch.scores, self.temperature),
            "task": (1 - self.alpha) * batch.task_loss,
        }


SOFT_TARGETS = Method(
    name="soft targets",
    aliases=("knowledge distillation", "KD", "distillation", "distil"),
    family="distillation",
    rows=("C09", "C19", "C24"),
    idea="A small student learns how probable its teacher finds each class, including the wrong ones.",
    source="Hinton et al., arXiv:1503.02531, sec. 2; Buciluă et al. 2006; tags as in Tsai et al., arXiv:1909.00100",
    unlike_paper="the student starts with layers of its teacher, and also reads unlabelled texts; a pair of texts is "
    "read as one, not by two encoders (TwinBERT, arXiv:2002.06275)",
    step=SoftTargetLoss(),
    identity="layers=12, steps=0, start=first",
)
