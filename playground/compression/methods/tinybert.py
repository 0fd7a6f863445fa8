"""TinyBERT: embeddings, attention and states of all layers are followed, on pre-training text and on the task."""

from dataclasses import dataclass, replace

from torch import Generator, Tensor

from playground.compression.distillation.losses import attention_mse, hidden_mse, soft_targets, state_mse
from playground.compression.distillation.pretraining import TextStep, train_on_text
from playground.compression.distillation.reading import Trace
from playground.compression.distillation.students import (
    MAPPING_WHY,
    START,
    begin_pre_trained,
    layer_mapping,
    mapped,
)
from playground.compression.method import Compressed, Method, TaskData
from playground.compression.training import StepBatch, fine_tune
from playground.knob import knob


@dataclass(frozen=True)
class FollowLayers:
    """General distillation from the pre-trained model; on the task first its layers, then its answers."""

    layers: int = knob(0, 0, 12, unit="layers", why="Layers of the student; 0: half of the teacher's.")
    start: str = knob("every second", choices=START, why="Which of the teacher's layers the student starts with.")
    mapping: str = knob("every", why=MAPPING_WHY)
    embeddings: float = knob(1.0, 0.0, 100.0, unit="times the loss", why="Weight of the embedding loss.")
    attention: float = knob(1.0, 0.0, 100.0, unit="times the loss", why="Weight of the attention loss.")
    hidden: float = knob(1.0, 0.0, 100.0, unit="times the loss", why="Weight of the hidden-state loss.")
    temperature: float = knob(1.0, 0.1, 50.0, unit="", why="Temperature of the soft targets at the end.")
    unlabelled: int = knob(1000, 0, 10_000, unit="texts", why="Additional texts, labelled only by the teacher.")
    text_steps: int = knob(100, 0, 10_000, unit="steps", why="General distillation, on pre-training text.")
    layer_steps: int = knob(100, 0, 5000, unit="steps", why="Distillation of the layers on the task.")
    steps: int = knob(100, 0, 5000, unit="steps", why="Distillation of the answers on the task.")

    def apply(self, start: Compressed, data: TaskData, rng: Generator) -> Compressed:
        teacher, student = start.classifier, begin_pre_trained(start, data, rng, self.layers, self.start)
        mapping = layer_mapping(teacher.model.shape.layers, student.classifier.model.shape.layers, self.mapping)

        def text_loss(now: TextStep) -> dict[str, Tensor]:
            return self.terms(*now.traces(), mapping)

        def layer_loss(batch: StepBatch) -> dict[str, Tensor]:
            return self.terms(batch.student_reading.trace, batch.teacher_reading.trace, mapping)

        terms = train_on_text(student.classifier.model, data, rng, self.text_steps, text_loss)
        student = replace(student, curves=terms)
        student = fine_tune(student, data, rng, self.layer_steps, layer_loss, teacher, self.unlabelled)
        student = fine_tune(student, data, rng, self.steps, self.answer_loss, teacher, self.unlabelled)
        return mapped(student, start, mapping)

    def terms(self, student: Trace, teacher: Trace, mapping: list[int]) -> dict[str, Tensor]:
        """The weighted losses of the layers."""
        return {
            "embeddings": self.embeddings * state_mse(student, teacher, 0, 0),
            "attention": self.attention * attention_mse(student, teacher, mapping),
            "hidden": self.hidden * hidden_mse(student, teacher, mapping),
        }

    def answer_loss(self, batch: StepBatch) -> dict[str, Tensor]:
        return {"soft targets": soft_targets(*batch.scores, self.temperature)}


TINYBERT = Method(
    name="TinyBERT",
    family="distillation",
    rows=("C12", "S98"),
    idea="The student matches embeddings, attention and hidden states, first on pre-training text, then on the task.",
    source="Jiao et al., arXiv:1909.10351",
    unlike_paper="the student is as wide as its teacher, so no states are projected, and begins with its layers; "
    "additional texts of the task replace the data augmentation",
    step=FollowLayers(),
    from_base=True,
)
