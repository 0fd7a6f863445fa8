"""Distillation to another structure: a small recurrent or convolutional network learns a transformer's scores."""

from dataclasses import dataclass, replace

from torch import Generator, Tensor
from torch.nn.functional import mse_loss

from playground.compression.classifier import fresh
from playground.compression.method import Compressed, Method, TaskData
from playground.compression.training import StepBatch, fine_tune
from playground.finetuning.strategy.head import Head
from playground.knob import knob
from playground.models import Architecture


@dataclass(frozen=True)
class DistilToOtherNetwork:
    """One layer of LSTM in each direction, or of convolution, with new vectors learns the squared difference of scores.

    The convolution lays the vectors of a window side by side under tanh; a text is its maximum over time (Kim 2014).
    """

    window_radius: int = knob(
        0, 0, 8, unit="words to each side", why="Words that a filter of the convolution reads; 0: a BiLSTM, not a CNN."
    )
    width: int = knob(16, 2, 128, unit="numbers", why="Width of the states of each direction, or number of filters.")
    embedding_size: int = knob(16, 2, 256, unit="numbers per word", why="Width of its own word vectors.")
    alpha: float = knob(0.0, 0.0, 1.0, unit="share of the loss", why="Weight of the gold labels.")
    unlabelled: int = knob(3000, 0, 10_000, unit="texts", why="Additional texts, labelled only by the teacher.")
    steps: int = knob(400, 0, 5000, unit="steps", why="Training steps of the student.")

    def apply(self, start: Compressed, data: TaskData, rng: Generator) -> Compressed:
        shape = Architecture(
            kind="lstm", layers=1, width=2 * round(self.width / 2), heads=1, embedding_size=self.embedding_size,
            backward=True, attention="left to right", init="normal",
        )  # fmt: skip
        if self.window_radius:
            window = {"window_radius": self.window_radius, "attention": "bidirectional"}
            shape = replace(shape, kind="window", backward=False, **window)
        student = fresh(shape, start.classifier, rng, data.train)
        if self.window_radius:
            student.head.spec = Head(pool="max")
        made = replace(start, classifier=student, layers=(), zeros=frozenset())
        return fine_tune(made, data, rng, self.steps, self.loss, start.classifier, self.unlabelled)

    def loss(self, batch: StepBatch) -> dict[str, Tensor]:
        return {"scores": (1 - self.alpha) * mse_loss(*batch.scores), "task": self.alpha * batch.task_loss}


BILSTM = Method(
    name="BiLSTM",
    aliases=("distilled BiLSTM", "Tang et al."),
    family="distillation",
    rows=("C17", "S108"),
    idea="A small recurrent network learns the scores of the transformer on unlabelled texts.",
    source="Tang et al., arXiv:1903.12136",
    unlike_paper="vectors are new, not word2vec; the head reads the mean of the states without a hidden layer; texts "
    "of the task's grammar replace the augmented ones",
    step=DistilToOtherNetwork(),
)
