"""Cross-layer sharing: all layers become one layer that is used again and again."""

from dataclasses import dataclass, replace

import torch
from torch import Generator

from playground.compression.classifier import Classifier, reshaped, unshared_stack
from playground.compression.method import Compressed, Method, TaskData
from playground.compression.training import fine_tune
from playground.errors import UserError
from playground.knob import knob
from playground.models.transformer import share_modules

SHARED = {"none": (), "mlp": ("ln_2", "mlp"), "attention": ("ln_1", "attn"), "all": ("ln_1", "attn", "ln_2", "mlp")}
"""Which parts of the first layer the others have too, by their names."""


@dataclass(frozen=True)
class ShareLayers:
    """Give all layers the mean of their weights, once in the file, and go on learning the task."""

    shared: str = knob("all", choices=tuple(SHARED), why="Which parts the layers share.")
    steps: int = knob(120, 0, 2000, unit="steps", why="Training on the task afterwards.")

    def apply(self, start: Compressed, data: TaskData, rng: Generator) -> Compressed:
        if self.shared != "none":
            share_layers(start.classifier, self.shared)
            start = replace(start, zeros=frozenset())
        return fine_tune(start, data, rng, self.steps)


def share_layers(classifier: Classifier, shared: str) -> None:
    """Give all layers the mean of their weights in some parts, which the first layer alone registers."""
    layers = unshared_stack(classifier, "Sharing layers").layers
    first = layers[0]
    for part in SHARED[shared]:
        states = [getattr(block, part).state_dict() for block in layers]
        if len({tuple((name, value.shape) for name, value in state.items()) for state in states}) > 1:
            raise UserError("Layers that were cut to different sizes cannot share weights; put layer sharing first.")
        mean = {name: torch.stack([state[name] for state in states]).mean(0) for name in states[0]}
        getattr(first, part).load_state_dict(mean)
        for block in layers[1:]:
            delattr(block, part)
            share_modules(block, **{part: getattr(first, part)})
    reshaped(classifier, layer_sharing=shared)


LAYER_SHARING = Method(
    name="layer sharing",
    aliases=("cross-layer parameter sharing", "parameter sharing"),
    family="low rank and sharing",
    rows=("C08",),
    idea="All layers share their weights: fewer parameters, but as many operations.",
    source="Lan et al. (ALBERT), arXiv:1909.11942, sec. 3.1",
    unlike_paper="the layers of a trained model are averaged; the paper pre-trains shared layers from the start",
    step=ShareLayers(),
    identity="shared=none, steps=0",
)
