"""The honest baseline: a small model with first weights, pre-trained and fine-tuned without any teacher."""

from dataclasses import dataclass, replace
from typing import ClassVar

from torch import Generator

from playground.compression.classifier import fresh
from playground.compression.distillation.pretraining import objective_alone, train_on_text
from playground.compression.method import Compressed, Method, TaskData
from playground.compression.methods.layer_dropping import half
from playground.compression.training import fine_tune
from playground.knob import knob


@dataclass(frozen=True)
class TrainSmall:
    """First weights, the base's objective, then the gold labels."""

    layers: int = knob(0, 0, 12, unit="layers", why="How many; 0: half of the base's.")
    width: int = knob(0, 0, 512, unit="numbers per position", why="How wide; 0: as the base.")
    text_steps: int = knob(300, 0, 10_000, unit="steps", why="Pre-training; 0 for none.")
    steps: int = knob(80, 0, 5000, unit="steps", why="On the task.")
    identity: ClassVar[None] = None

    def apply(self, start: Compressed, data: TaskData, rng: Generator) -> Compressed:
        teacher, shape = start.classifier, data.base.learner.model.shape
        small = replace(shape, layers=self.layers or half(shape.layers), width=self.width or shape.width)
        student = fresh(small, teacher, rng, data.train, data.base.words.words)
        terms = train_on_text(student.model, data, rng, self.text_steps, objective_alone)
        made = replace(start, classifier=student, layers=(), zeros=frozenset(), curves=terms)
        return fine_tune(made, teacher, data, rng, self.steps)


FROM_SCRATCH = Method(
    name="small from scratch",
    aliases=("from scratch",),
    family="baseline",
    rows=("C25",),
    idea="A model of the small size that never saw the large one: what compression must beat.",
    source="Turc et al., arXiv:1908.08962 (their pre-trained and fine-tuned baseline)",
    step=TrainSmall(),
)
