"""Patient knowledge distillation: the student also follows its teacher's layers on the way to the answer."""

from dataclasses import dataclass

from torch import Generator, Tensor

from playground.compression.distillation.losses import patient, soft_targets
from playground.compression.distillation.students import MAPPING_WHY, START, begin_student, layer_mapping, mapped
from playground.compression.method import Compressed, Method, TaskData
from playground.compression.training import StepBatch, fine_tune
from playground.knob import knob


@dataclass(frozen=True)
class Patient:
    """Gold labels, soft targets, and the distance of the normed vectors of texts or words in mapped layers."""

    layers: int = knob(0, 0, 12, unit="layers", why="Layers of the student; 0: half of the teacher's.")
    start: str = knob("first", choices=START, why="Which of the teacher's layers the student starts with.")
    mapping: str = knob("every", why=MAPPING_WHY)
    temperature: float = knob(5.0, 0.1, 50.0, unit="", why="Above 1, unlikely classes count more.")
    alpha: float = knob(0.5, 0.0, 1.0, unit="share of the loss", why="Weight of soft targets; the rest: gold labels.")
    beta: float = knob(10.0, 0.0, 1000.0, unit="times the loss", why="Weight of the patient loss.")
    unlabelled: int = knob(1000, 0, 10_000, unit="texts", why="Additional texts, labelled only by the teacher.")
    steps: int = knob(200, 0, 5000, unit="steps", why="Training steps of the student.")

    def apply(self, start: Compressed, data: TaskData, rng: Generator) -> Compressed:
        teacher = start.classifier
        student = begin_student(start, data, rng, self.layers, self.start)
        mapping = layer_mapping(teacher.model.shape.layers, student.classifier.model.shape.layers, self.mapping)

        def loss(batch: StepBatch) -> dict[str, Tensor]:
            return {
                "patient": self.beta * patient(batch.student_reading, batch.teacher_reading, mapping),
                "soft targets": self.alpha * soft_targets(*batch.scores, self.temperature),
                "task": (1 - self.alpha) * batch.task_loss,
            }

        return mapped(fine_tune(student, data, rng, self.steps, loss, teacher, self.unlabelled), start, mapping)


PKD = Method(
    name="PKD",
    aliases=("BERT-PKD", "patient knowledge distillation"),
    family="distillation",
    rows=("C11", "S99"),
    idea="The student matches its teacher's hidden states layer by layer, not only the answers.",
    source="Sun et al., arXiv:1908.09355",
    unlike_paper="the vectors are those that the task's head reads, of texts or of all words; the last layer is "
    "followed too where it is the only one, or is mapped by hand to a lower one; the student begins with layers of the "
    "fine-tuned teacher",
    step=Patient(),
    identity="layers=12, steps=0",
)
