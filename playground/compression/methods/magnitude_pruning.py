"""Magnitude pruning: the smallest weights become 0, before, during or after fine-tuning."""

from dataclasses import dataclass, replace

from torch import Generator

from playground.compression.classifier import classifier_of, matrices
from playground.compression.masks import gradual, zero_smallest
from playground.compression.method import Compressed, Method, TaskData
from playground.compression.training import ClassifierTraining, fine_tune
from playground.errors import UserError
from playground.knob import knob

STORED = {"dense": False, "sparse": True}
"""How a file holds exact zeros: as numbers, or as one bit for each weight and the numbers that are left."""


@dataclass(frozen=True)
class PruneSmallest:
    """Set the weights with the smallest size to 0; they stay 0 in all later training."""

    sparsity: float = knob(0.5, 0.0, 0.99, unit="share of the weights", why="How many weights become 0.")
    when: str = knob(
        "during", choices=("before", "during", "after"),
        why="Before fine-tuning, more and more during further fine-tuning, or at the end without training.",
    )  # fmt: skip
    scope: str = knob("all", choices=("all", "each"), why="The smallest weights of all matrices, or of each matrix.")
    steps: int = knob(80, 0, 2000, unit="steps", why="Training during or after pruning.")
    stored: str = knob("dense", choices=tuple(STORED), why="Sparse leaves zeros out of the file.")

    def apply(self, start: Compressed, data: TaskData, rng: Generator) -> Compressed:
        if not self.sparsity and not self.steps:
            return start
        together = self.scope == "all"
        if self.when == "before":
            start = self._pre_trained(start, data)
        names = matrices(start.classifier)
        start = replace(start, zeros=start.zeros | set(names), sparse=STORED[self.stored])
        if self.when != "during":
            zero_smallest(start.classifier, names, self.sparsity, together)
            return start if self.when == "after" else fine_tune(start, data, rng, self.steps)
        training, rise = ClassifierTraining(start, data, rng, self.steps), max(1, self.steps * 3 // 4)
        for step in training.each():
            if step <= rise:  # then the weights that are left settle
                zero_smallest(start.classifier, names, gradual(self.sparsity, step, rise), together)
                training.keep_zeros()
        if not self.steps:
            zero_smallest(start.classifier, names, self.sparsity, together)
        return replace(start, curves=training.curves)

    def _pre_trained(self, start: Compressed, data: TaskData) -> Compressed:
        """The weights from before fine-tuning."""
        if start.methods:
            raise UserError("Pruning before fine-tuning begins with the pre-trained model; put it first.")
        return replace(start, classifier=classifier_of(data.base.learner.model, start.classifier.head))


MAGNITUDE_PRUNING = Method(
    name="pruning",
    aliases=("magnitude pruning", "weight pruning"),
    family="pruning",
    rows=("C01",),
    idea="Set the smallest weights to 0; many of them add little to the answers.",
    source="Zhu and Gupta, arXiv:1710.01878, eq. 1; Gordon et al., arXiv:2002.08307",
    unlike_paper="pruned at every step of the rise; word vectors are pruned too",
    step=PruneSmallest(),
    identity="sparsity=0, steps=0",
)
