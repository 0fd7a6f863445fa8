"""Cross-layer sharing: all layers become one layer that is used again and again."""

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import torch
from torch import Generator

from playground.compression.classifier import Classifier, unshared_stack
from playground.compression.method import Compressed, Method, TaskData
from playground.compression.training import fine_tune
from playground.errors import UserError
from playground.knob import knob
from playground.models.model import LanguageModel

SHARED = {"none": (), "mlp": (".ln_2.", ".mlp."), "attention": (".ln_1.", ".attn."), "all": (".",)}
"""Which parts of a layer the others borrow, by their names."""


@dataclass(frozen=True)
class ShareLayers:
    """Give all layers the mean of their weights, once in the file, and go on learning the task."""

    shared: str = knob("all", choices=tuple(SHARED), why="What the layers have in common.")
    steps: int = knob(120, 0, 2000, unit="steps", why="Training on the task afterwards.")
    identity: ClassVar[Mapping[str, Any]] = {"shared": "none", "steps": 0}

    def apply(self, start: Compressed, data: TaskData, rng: Generator) -> Compressed:
        teacher = deepcopy(start.classifier)
        if self.shared != "none":
            start = replace(start, classifier=share_layers(start.classifier, self.shared), zeros=frozenset())
        return fine_tune(start, teacher, data, rng, self.steps)


@torch.no_grad()
def share_layers(classifier: Classifier, shared: str) -> Classifier:
    """A copy whose layers borrow the mean of some of their parts from the first."""
    stack, model = unshared_stack(classifier, "Sharing layers"), classifier.model
    made = LanguageModel(replace(model.shape, layer_sharing=shared), model.token_embedding.num_embeddings,
                         torch.Generator().manual_seed(0))  # fmt: skip
    state, known = model.state_dict(), made.state_dict()
    for name in known:
        first, _, rest = name.partition("encoder.blocks.")
        number, _, part = rest.partition(".")
        if first.startswith("network.") and rest and number == "0" and _borrowed(f".{part}", shared):
            layers = [state[f"network.encoder.blocks.{k}.{part}"] for k in range(len(stack.layers))]
            if {value.shape for value in layers} != {known[name].shape}:
                raise UserError("Layers that were cut to different sizes cannot share weights; share them first.")
            state[name] = torch.stack(layers).mean(0)
    made.load_state_dict({name: state[name] for name in known})
    new = deepcopy(classifier)
    new.model = made
    return new


def _borrowed(part: str, shared: str) -> bool:
    return any(part.startswith(start) for start in SHARED[shared])


LAYER_SHARING = Method(
    name="layer sharing",
    aliases=("cross-layer parameter sharing", "parameter sharing"),
    family="low rank and sharing",
    rows=("C08",),
    idea="All layers share their weights: fewer parameters, and not one operation less.",
    source="Lan et al. (ALBERT), arXiv:1909.11942, sec. 3.1",
    unlike_paper="the layers of a trained model are averaged; the paper pre-trains shared layers from the start",
    step=ShareLayers(),
)
