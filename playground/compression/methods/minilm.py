"""MiniLM: the student follows only the last layer's attention and how its values are related."""

from dataclasses import dataclass, replace

from torch import Generator, Tensor

from playground.compression.distillation.losses import attention_transfer, value_relation
from playground.compression.distillation.pretraining import TextStep, train_on_text
from playground.compression.distillation.students import START, begin_pre_trained
from playground.compression.method import Compressed, Method, TaskData
from playground.compression.training import fine_tune
from playground.knob import knob


@dataclass(frozen=True)
class FollowLastAttention:
    """Two divergences on pre-training text, then the task with gold labels."""

    layers: int = knob(0, 0, 12, unit="layers", why="Layers of the student; 0: half of the teacher's.")
    start: str = knob("every second", choices=START, why="Which of the teacher's layers the student starts with.")
    attention: float = knob(1.0, 0.0, 100.0, unit="times the loss", why="Weight of the attention loss.")
    values: float = knob(1.0, 0.0, 100.0, unit="times the loss", why="Weight of the value-relation loss.")
    text_steps: int = knob(200, 0, 10_000, unit="steps", why="Distillation on pre-training text.")
    steps: int = knob(80, 0, 5000, unit="steps", why="Training on the task.")

    def apply(self, start: Compressed, data: TaskData, rng: Generator) -> Compressed:
        student = begin_pre_trained(start, data, rng, self.layers, self.start)
        terms = train_on_text(student.classifier.model, data, rng, self.text_steps, self.text_loss)
        layers = student.classifier.model.shape.layers
        last = tuple(() for _ in range(layers - 1)) + ((data.base.learner.model.shape.layers,),)
        student = replace(student, curves=terms, layers=last)
        return fine_tune(student, data, rng, self.steps)

    def text_loss(self, now: TextStep) -> dict[str, Tensor]:
        ours, theirs = now.traces()
        return {
            "attention": self.attention * attention_transfer(ours, theirs),
            "value relations": self.values * value_relation(ours, theirs),
        }


MINILM = Method(
    name="MiniLM",
    family="distillation",
    rows=("C14", "S102"),
    idea="The student matches the attention and the value relations of the last layer, and no other layer.",
    source="Wang et al., arXiv:2002.10957",
    unlike_paper="the student is as wide as its teacher and begins with its layers; no teaching assistant",
    step=FollowLastAttention(),
    from_base=True,
)
