"""DistilBERT: a student of half the depth learns from the pre-trained teacher's gaps, then the task."""

from dataclasses import dataclass, replace

import torch
from torch import Generator, Tensor
from torch.nn.functional import cosine_embedding_loss

from playground.compression.distillation.losses import soft_targets
from playground.compression.distillation.pretraining import TextStep, train_on_text
from playground.compression.distillation.students import START, begin_pre_trained
from playground.compression.method import Compressed, Method, TaskData
from playground.compression.training import StepBatch, fine_tune
from playground.knob import knob


@dataclass(frozen=True)
class DistilGaps:
    """Three losses on pre-training text: the teacher's words, the true words, and the direction of the last states.

    Then the task, with the fine-tuned teacher's soft targets where `task_alpha` is above 0 (the paper's second step of
    distillation).
    """

    layers: int = knob(0, 0, 12, unit="layers", why="Layers of the student; 0: half of the teacher's.")
    start: str = knob("every second", choices=START, why="Which of the teacher's layers the student starts with.")
    temperature: float = knob(2.0, 0.1, 50.0, unit="", why="Above 1, unlikely words count more.")
    alpha_ce: float = knob(5.0, 0.0, 100.0, unit="times the loss", why="Weight of the teacher's predictions.")
    alpha_mlm: float = knob(2.0, 0.0, 100.0, unit="times the loss", why="Weight of the pre-training loss.")
    alpha_cos: float = knob(1.0, 0.0, 100.0, unit="times the loss", why="Weight of the cosine loss of hidden states.")
    text_steps: int = knob(150, 0, 10_000, unit="steps", why="Distillation on pre-training text.")
    task_alpha: float = knob(0.5, 0.0, 1.0, unit="share of the loss", why="Weight of the soft targets.")
    unlabelled: int = knob(1000, 0, 10_000, unit="texts", why="Additional texts, labelled only by the teacher.")
    steps: int = knob(150, 0, 5000, unit="steps", why="Training on the task.")

    def apply(self, start: Compressed, data: TaskData, rng: Generator) -> Compressed:
        student = begin_pre_trained(start, data, rng, self.layers, self.start)
        terms = train_on_text(student.classifier.model, data, rng, self.text_steps, self.text_loss)
        student = replace(student, curves=terms)
        unlabelled = self.unlabelled if self.task_alpha else 0
        return fine_tune(student, data, rng, self.steps, self.task_loss, start.classifier, unlabelled)

    def text_loss(self, now: TextStep) -> dict[str, Tensor]:
        ours, theirs = now.last_states()
        return {
            "soft targets": self.alpha_ce * soft_targets(*now.scores(), self.temperature),
            "pre-training": self.alpha_mlm * now.objective_loss(),
            "cosine": self.alpha_cos * cosine_embedding_loss(ours, theirs, torch.ones(len(ours))),
        }

    def task_loss(self, batch: StepBatch) -> dict[str, Tensor]:
        if not self.task_alpha:
            return {"task": batch.task_loss}
        soft = self.task_alpha * soft_targets(*batch.scores, self.temperature)
        return {"soft targets": soft, "task": (1 - self.task_alpha) * batch.task_loss}


DISTILBERT = Method(
    name="DistilBERT",
    family="distillation",
    rows=("C10", "S97"),
    idea="A student of half the layers learns to predict words as the pre-trained model does, and then the task.",
    source="Sanh et al., arXiv:1910.01108; weights of the losses from the released code",
    unlike_paper="a few steps on the base's own text; the task's head is the teacher's; unlabelled texts of the task",
    step=DistilGaps(),
    from_base=True,
)
