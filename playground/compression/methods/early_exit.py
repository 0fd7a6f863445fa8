"""Early exit: every layer has a head, and a text whose answer is sure leaves."""

from copy import deepcopy
from dataclasses import dataclass

import torch
from torch import Generator, Tensor, nn

from playground.compression.classifier import Classifier, unshared_stack
from playground.compression.distillation.losses import soft_targets
from playground.compression.method import Compressed, Method, TaskData
from playground.compression.training import StepBatch, fine_tune
from playground.errors import UserError
from playground.finetuning.strategy.head import TaskHead, init_head
from playground.knob import knob


@dataclass(frozen=True)
class ExitEarly:
    """Heads below the top learn the answers of the top; at `speed` 0 every text takes all layers."""

    speed: float = knob(
        0.5,
        0.0,
        1.0,
        unit="share of the entropy",
        why="A text leaves where its entropy is below this share.",
    )
    unlabelled: int = knob(1000, 0, 10_000, unit="texts", why="Additional texts, labelled by the last head.")
    steps: int = knob(100, 0, 5000, unit="steps", why="Training of the new heads; the model itself does not change.")

    def apply(self, start: Compressed, data: TaskData, rng: Generator) -> Compressed:
        if not self.speed and not self.steps:
            return start
        model = start.classifier
        layers = len(unshared_stack(model, "Early exit").layers)
        if layers < 2:
            raise UserError("Early exit needs a layer below the last one, and this model has one layer.")
        if data.train.answer.about != "text" or data.train.answer.scores < 2 or data.train.rows_each > 1:
            raise UserError(f"Early exit needs a task with one class for each text, which {data.task.name!r} is not; "
                            "take sentiment.")  # fmt: skip
        teacher = deepcopy(model)
        model.exits = nn.ModuleList(exit_head(model, k + 1, rng) for k in range(layers - 1))
        learns = dict(model.exits.named_parameters())
        start = fine_tune(start, data, rng, self.steps, self.loss, teacher, self.unlabelled, learns)
        model.speed = self.speed
        return start

    def loss(self, batch: StepBatch) -> dict[str, Tensor]:
        """The divergence of each new head from the top, self-distillation (FastBERT)."""
        with torch.no_grad():
            theirs = batch.teacher(batch.texts)
        each = batch.student.exit_scores(batch.texts)[:-1]
        return {f"exit {k + 1}": soft_targets(ours, theirs, 1.0) for k, ours in enumerate(each)}


def exit_head(classifier: Classifier, level: int, rng: Generator) -> TaskHead:
    """A head with random weights that reads a layer, from 1."""
    head = deepcopy(classifier.head)
    head.top, head.levels = level, (level,)
    init_head(head, rng)
    return head


EARLY_EXIT = Method(
    name="early exit",
    aliases=("FastBERT", "sample-wise adaptive depth"),
    family="early exit",
    rows=("C22", "S107"),
    idea="A text leaves at the first layer whose head is sure of its answer.",
    source="Liu et al. (FastBERT), arXiv:2004.02178",
    unlike_paper="a head is one linear layer without attention of its own",
    step=ExitEarly(),
    identity="speed=0, steps=0",
)
