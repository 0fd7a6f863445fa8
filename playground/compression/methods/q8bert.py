"""Quantization-aware training: the model learns the task while it computes with rounded weights."""

from dataclasses import dataclass

from torch import Generator

from playground.compression.classifier import matrices
from playground.compression.grids import round_activations
from playground.compression.method import Compressed, Method, TaskData
from playground.compression.quantization import (
    FULL,
    MOST,
    add_fake_quantization,
    groups_of,
    on_grids,
    remove_fake_quantization,
)
from playground.compression.training import fine_tune
from playground.knob import knob


@dataclass(frozen=True)
class TrainQuantised:
    """Train with rounded weights and activations, through which gradients pass unchanged, then round for good."""

    bits: int = knob(8, 1, FULL, unit="bits", why="Bits of weights; 32: not rounded.")
    activation_bits: int = knob(8, 2, FULL, unit="bits", why="Bits of activations; 32: not rounded.")
    granularity: str = knob("tensor", choices=("tensor", "channel"), why="One scale for each matrix, or for each row.")
    steps: int = knob(80, 0, 2000, unit="steps", why="Training on the task with rounded numbers.")

    def apply(self, start: Compressed, data: TaskData, rng: Generator) -> Compressed:
        groups = groups_of(start.classifier, self.granularity)
        if self.activation_bits < FULL:
            round_activations(start.classifier, self.activation_bits)
        if self.bits <= MOST:
            add_fake_quantization(start.classifier, self.bits, groups)
        start = fine_tune(start, data, rng, self.steps)
        if self.bits <= MOST:
            remove_fake_quantization(start.classifier, groups)
        bits = dict.fromkeys(matrices(start.classifier), self.bits)
        return on_grids(start, bits, groups)


Q8BERT = Method(
    name="Q8BERT",
    aliases=("quantization-aware training", "QAT"),
    family="quantization",
    rows=("C06",),
    idea="Learn the task with weights that are rounded in every "
    "step, so that the final rounding costs little accuracy.",
    source="Zafrir et al., arXiv:1910.06188",
    unlike_paper="activations are scaled by each batch, not by a moving average; products are float32",
    step=TrainQuantised(),
    identity="bits=32, activation_bits=32, steps=0",
)
