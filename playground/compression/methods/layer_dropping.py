"""Layer dropping: whole layers are left out, and the rest goes on learning the task."""

from dataclasses import dataclass

from torch import Generator

from playground.compression.classifier import Classifier, keep_layers, unshared_stack
from playground.compression.method import Compressed, Method, TaskData
from playground.compression.training import fine_tune
from playground.knob import knob

KEPT = {"top": "first", "bottom": "last", "every second": "every second"}
"""Which layers stay, by which are dropped."""


def half(layers: int) -> int:
    """Half of so many layers, at least one."""
    return max(1, layers // 2)


def student_layers(there: int, number: int) -> int:
    """How many of so many layers stay: as asked for, at most all, 0 for half."""
    return min(number or half(there), there)


def layers_kept(layers: int, number: int, which: str) -> list[int]:
    """The numbers, from 0, of the first or the last layers, or of layers at equal distances, the first among them."""
    starts = {"first": 0, "last": layers - number}
    return [starts[which] + k if which in starts else k * layers // number for k in range(number)]


def number_kept(classifier: Classifier, what: str, number: int) -> tuple[int, int]:
    """How many layers a model has, and how many of them stay."""
    there = len(unshared_stack(classifier, what).layers)
    return there, student_layers(there, number)


@dataclass(frozen=True)
class DropLayers:
    """Keep some layers and drop the others."""

    layers: int = knob(0, 0, 12, unit="layers", why="How many stay, at most all; 0: half of them.")
    dropped: str = knob("top", choices=tuple(KEPT), why="Which layers are dropped.")
    steps: int = knob(80, 0, 2000, unit="steps", why="Training on the task afterwards.")

    def apply(self, start: Compressed, data: TaskData, rng: Generator) -> Compressed:
        kept = layers_kept(*number_kept(start.classifier, "Dropping layers", self.layers), KEPT[self.dropped])
        keep_layers(start.classifier, kept)
        start = start.with_layers(start.classifier, tuple((k,) for k in kept))
        return fine_tune(start, data, rng, self.steps)


LAYER_DROPPING = Method(
    name="layer dropping",
    aliases=("layer pruning",),
    family="pruning",
    rows=("C03",),
    idea="Drop whole layers and continue fine-tuning.",
    source="Sajjad et al., arXiv:2004.03844",
    unlike_paper="layers are dropped from the fine-tuned model, not before fine-tuning",
    step=DropLayers(),
    identity="layers=12, steps=0",
)
