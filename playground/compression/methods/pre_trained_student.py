"""Pre-trained distillation: a small student is pre-trained first, then learns from the teacher's answers."""

from dataclasses import dataclass, replace

from torch import Generator, Tensor

from playground.compression.distillation.losses import soft_targets
from playground.compression.distillation.pretraining import objective_alone, train_on_text
from playground.compression.distillation.students import begin_student
from playground.compression.method import Compressed, Method, TaskData
from playground.compression.training import StepBatch, fine_tune
from playground.knob import knob


@dataclass(frozen=True)
class PreTrainStudent:
    """Random weights, the base's own objective, the teacher's answers on unlabelled texts, then the gold labels."""

    layers: int = knob(0, 0, 12, unit="layers", why="Layers of the student; 0: half of the teacher's.")
    text_steps: int = knob(300, 0, 10_000, unit="steps", why="Pre-training of the student.")
    temperature: float = knob(1.0, 0.1, 50.0, unit="", why="Temperature of the teacher's soft targets.")
    unlabelled: int = knob(1000, 0, 10_000, unit="texts", why="Additional texts, labelled only by the teacher.")
    distillation_steps: int = knob(150, 0, 5000, unit="steps", why="Training on the teacher's soft targets.")
    steps: int = knob(40, 0, 5000, unit="steps", why="Training on the gold labels, at the end.")

    def apply(self, start: Compressed, data: TaskData, rng: Generator) -> Compressed:
        student = begin_student(start, data, rng, self.layers, "new")
        model = student.classifier.model
        student = replace(student, curves=train_on_text(model, data, rng, self.text_steps, objective_alone))
        student = fine_tune(student, data, rng, self.distillation_steps, self.loss, start.classifier, self.unlabelled)
        return fine_tune(student, data, rng, self.steps)

    def loss(self, batch: StepBatch) -> dict[str, Tensor]:
        return {"soft targets": soft_targets(*batch.scores, self.temperature)}


PRE_TRAINED_STUDENT = Method(
    name="PD",
    aliases=("pre-trained distillation", "well-read students"),
    family="distillation",
    rows=("C16", "S100"),
    idea="Pre-train the small student itself before it learns from the teacher.",
    source="Turc et al., arXiv:1908.08962",
    unlike_paper="the student is pre-trained for a fraction of the base's steps",
    step=PreTrainStudent(),
    from_base=True,
)
