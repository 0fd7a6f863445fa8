"""Movement pruning: the weights that training moves towards 0 are left out."""

from dataclasses import dataclass, replace

import torch
from torch import Generator, Tensor, nn
from torch.nn.utils import parametrize

from playground.compression.classifier import matrices
from playground.compression.masks import gradual, owner
from playground.compression.method import Compressed, Method, TaskData
from playground.compression.methods.magnitude_pruning import STORED
from playground.compression.training import ClassifierTraining
from playground.knob import knob


class TopScores(nn.Module):
    """A matrix whose weights with the lowest scores are 0; a score learns as if its weight were multiplied by it.

    The gradient of a score is that of the masked weight times the weight (movement pruning), so the score
    falls where a step moves the weight towards 0.
    """

    def __init__(self, weight: Tensor) -> None:
        super().__init__()
        self.scores, self.sparsity = nn.Parameter(torch.zeros_like(weight)), 0.0

    def forward(self, weight: Tensor) -> Tensor:
        mask = self.mask(weight)
        return weight * mask + (self.scores - self.scores.detach()) * weight.detach()

    def mask(self, weight: Tensor) -> Tensor:
        """1 for the weights that stay, 0 for the others."""
        out = round(self.sparsity * weight.numel())
        mask = torch.ones_like(weight).flatten()
        mask[self.scores.detach().flatten().argsort(stable=True)[:out]] = 0.0
        return mask.view_as(weight)


@dataclass(frozen=True)
class PruneByMovement:
    """Learn a score for every weight beside the task, and set the weights with the lowest to 0, more and more."""

    sparsity: float = knob(0.5, 0.0, 0.99, unit="share of each matrix", why="How many weights become 0.")
    steps: int = knob(120, 0, 2000, unit="steps", why="Training of weights and scores on the task.")
    stored: str = knob("dense", choices=tuple(STORED), why="Sparse leaves zeros out of the file.")

    def apply(self, start: Compressed, data: TaskData, rng: Generator) -> Compressed:
        if not self.steps:
            return start
        names = list(matrices(start.classifier, embeddings=False))
        positions = [owner(start.classifier, name) for name in names]
        tops = [TopScores(getattr(module, attribute)) for module, attribute in positions]
        for (module, attribute), top in zip(positions, tops, strict=True):
            parametrize.register_parametrization(module, attribute, top)
        training, rise = ClassifierTraining(start, data, rng, self.steps), max(1, self.steps * 3 // 4)
        for step in training.each():
            for top in tops:
                top.sparsity = gradual(self.sparsity, step, rise)
        for module, attribute in positions:
            parametrize.remove_parametrizations(module, attribute)
            parameter = getattr(module, attribute)
            parameter.data = parameter.data + 0.0  # a masked negative weight is -0
        zeros = start.zeros | set(names)
        return replace(start, zeros=zeros, sparse=STORED[self.stored], curves=training.curves)


MOVEMENT_PRUNING = Method(
    name="movement pruning",
    family="pruning",
    rows=("C01",),
    idea="Set weights to 0 that training moves towards 0, however large they are.",
    source="Sanh et al., arXiv:2005.07683",
    unlike_paper="scores learn at the rate of the weights; no soft version; word vectors are not pruned",
    step=PruneByMovement(),
    identity="sparsity=0, steps=0",
)
