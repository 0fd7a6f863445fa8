"""What one step does to every group of layers: norm of the gradient, norm of the update."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import hypot
from typing import Any

import torch
from torch import Tensor, nn

from playground.models import LanguageModel
from playground.models.groups import layer_groups


@dataclass(frozen=True)
class Group:
    """One group of layers: the L2 norms of its parameters, of their gradient, and of the update."""

    name: str
    size: float
    gradient: float
    change: float

    @property
    def share(self) -> float:
        """The norm of the update relative to that of the parameters."""
        return self.change / max(self.size, 1e-12)


@contextmanager
def sizes(model: LanguageModel) -> Iterator[list[Group]]:
    """The sizes of the step that is taken within the block, in a list that is filled at its end; this is slow."""
    measured: list[Group] = []
    old = {name: parameter.detach().clone() for name, parameter in model.named_parameters()}
    with _gradients(model) as gradients:
        yield measured
    new = {name: parameter.detach() for name, parameter in model.named_parameters()}
    norms = [(old[n].norm(), gradients.get(n, old[n].new_zeros(())), (new[n] - old[n]).norm()) for n in old]
    known = torch.stack([each for three in norms for each in three]).view(-1, 3).tolist()  # waits for a GPU once
    by_name = dict(zip(old, known, strict=True))
    for group, names in layer_groups(model).items():
        size, gradient, change = (hypot(*lengths) for lengths in zip(*(by_name[n] for n in names), strict=True))
        measured.append(Group(group, size, gradient, change))


@contextmanager
def _gradients(model: nn.Module) -> Iterator[dict[str, Tensor]]:
    """The norm of every parameter's gradient as it is computed, before clipping."""
    norms: dict[str, Tensor] = {}

    def hook(name: str) -> Any:
        return lambda parameter: norms.__setitem__(name, parameter.grad.norm())

    handles = [p.register_post_accumulate_grad_hook(hook(name)) for name, p in model.named_parameters()]
    try:
        yield norms
    finally:
        for handle in handles:
            handle.remove()
