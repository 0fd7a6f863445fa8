"""The baseline: a small model with random weights, pre-trained and fine-tuned without any teacher."""

from dataclasses import dataclass, replace

from torch import Generator

from playground.compression.classifier import classifier_of, fresh
from playground.compression.distillation.pretraining import objective_alone, train_on_text
from playground.compression.method import Compressed, Method, TaskData
from playground.compression.methods.layer_dropping import half
from playground.compression.training import fine_tune
from playground.knob import knob


@dataclass(frozen=True)
class TrainSmall:
    """Random weights, the base's objective, then the gold labels."""

    layers: int = knob(0, 0, 12, unit="layers", why="Layers of the model; 0: half of the base's.")
    width: int = knob(0, 0, 512, unit="numbers per position", why="Width of the model; 0: that of the base.")
    text_steps: int = knob(300, 0, 10_000, unit="steps", why="Pre-training; 0 for none.")
    steps: int = knob(80, 0, 5000, unit="steps", why="Training on the task.")

    def apply(self, start: Compressed, data: TaskData, rng: Generator) -> Compressed:
        shape = data.base.learner.model.shape
        small = replace(shape, layers=self.layers or half(shape.layers), width=self.width or shape.width)
        student = fresh(small, start.classifier, rng, data.train, data.base.words.words)
        terms = train_on_text(student.model, data, rng, self.text_steps, objective_alone)
        student = classifier_of(student.model, student.head)  # the generator of ELECTRA was for pre-training only
        made = replace(start, classifier=student, layers=(), curves=terms)
        return fine_tune(made, data, rng, self.steps)


FROM_SCRATCH = Method(
    name="small from scratch",
    aliases=("from scratch",),
    family="baseline",
    rows=("C25",),
    idea="A small model that is trained without the large one: the baseline that compression must beat.",
    source="Turc et al., arXiv:1908.08962 (their pre-trained and fine-tuned baseline)",
    step=TrainSmall(),
)
