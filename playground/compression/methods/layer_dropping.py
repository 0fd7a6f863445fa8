"""Layer dropping: whole layers are left out, and the rest goes on learning the task."""

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, ClassVar

from torch import Generator

from playground.compression.classifier import Classifier, keep_layers, unshared_stack
from playground.compression.method import Compressed, Method, TaskData
from playground.compression.training import fine_tune
from playground.knob import knob

PLACES = ("top", "bottom", "every second")
"""Which layers are dropped."""


def half(layers: int) -> int:
    """Half of so many layers, at least one."""
    return max(1, layers // 2)


def spread_over(layers: int, number: int) -> list[int]:
    """Layers from 0 at equal distances, so that with half of them every second one stays, the first among them."""
    return [k * layers // number for k in range(number)]


def layers_kept(layers: int, number: int, dropped: str) -> list[int]:
    """The numbers, from 0, of the layers that stay."""
    every = list(range(layers))
    return {"top": every[:number], "bottom": every[layers - number :]}.get(dropped, spread_over(layers, number))


def number_kept(classifier: Classifier, what: str, wanted: int) -> tuple[int, int]:
    """How many layers a model has, and how many of them stay: as wanted, 0 for half, at most all."""
    there = len(unshared_stack(classifier, what).layers)
    return there, min(wanted or half(there), there)


@dataclass(frozen=True)
class DropLayers:
    """Keep some layers and drop the others."""

    layers: int = knob(0, 0, 12, unit="layers", why="How many stay, at most all; 0: half of them.")
    dropped: str = knob("top", choices=PLACES, why="Where layers are left out.")
    steps: int = knob(80, 0, 2000, unit="steps", why="Training on the task afterwards.")
    identity: ClassVar[Mapping[str, Any]] = {"layers": 12, "steps": 0}

    def apply(self, start: Compressed, data: TaskData, rng: Generator) -> Compressed:
        teacher = deepcopy(start.classifier)
        kept = layers_kept(*number_kept(teacher, "Dropping layers", self.layers), self.dropped)
        keep_layers(start.classifier, kept)
        start = start.with_layers(start.classifier, tuple((k,) for k in kept))
        return fine_tune(start, teacher, data, rng, self.steps)


LAYER_DROPPING = Method(
    name="layer dropping",
    aliases=("layer pruning",),
    family="pruning",
    rows=("C03",),
    idea="Leave out whole layers and go on learning the task with the rest.",
    source="Sajjad et al., arXiv:2004.03844",
    unlike_paper="layers are dropped from the fine-tuned model, not before fine-tuning",
    step=DropLayers(),
)
