"""Neuron pruning: the neurons of the MLPs on which the answers depend least are cut out."""

from dataclasses import dataclass

from torch import Generator

from playground.compression.classifier import cut_neurons, unshared_stack
from playground.compression.importance import neuron_importance
from playground.compression.method import Compressed, Method, TaskData
from playground.compression.training import fine_tune
from playground.knob import knob


@dataclass(frozen=True)
class CutNeurons:
    """Cut the same share of neurons out of the two matrices of each MLP."""

    share: float = knob(0.5, 0.0, 0.99, unit="share of the neurons", why="How many neurons are cut.")
    steps: int = knob(40, 0, 2000, unit="steps", why="Training on the task afterwards.")

    def apply(self, start: Compressed, data: TaskData, rng: Generator) -> Compressed:
        stack = unshared_stack(start.classifier, "Neuron pruning")
        for block, importance in zip(stack.layers, neuron_importance(start.classifier, data.train), strict=True):
            number = max(1, round((1 - self.share) * len(importance)))
            if number < len(importance):
                cut_neurons(block.mlp, importance.argsort(descending=True, stable=True)[:number].sort().values)
        return fine_tune(start, data, rng, self.steps)


NEURON_PRUNING = Method(
    name="neuron pruning",
    aliases=("channel pruning",),
    family="pruning",
    rows=("C03",),
    idea="Cut the neurons of the MLPs on which the answers depend least.",
    source="after Molchanov et al., arXiv:1611.06440 (first-order Taylor criterion)",
    unlike_paper="all neurons at once, and of linear layers, not of feature maps",
    step=CutNeurons(),
    identity="share=0, steps=0",
)
