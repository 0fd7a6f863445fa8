"""What one step does to every group of layers: how long the gradient is, how far the parameters move."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import hypot
from typing import Any

from torch import Tensor, nn

from playground.models import LanguageModel


@dataclass(frozen=True)
class Group:
    """One group of layers: the lengths (L2) of its parameters, of their gradient, and of what the step added."""

    name: str
    size: float
    gradient: float
    change: float

    @property
    def share(self) -> float:
        """How far the step moved the group, as a share of its length."""
        return self.change / max(self.size, 1e-12)


@contextmanager
def sizes(model: LanguageModel) -> Iterator[list[Group]]:
    """The sizes of the step that is taken within; the list is filled when it is over.

    It copies the parameters and waits for the device, so it is for a few steps only.
    """
    found: list[Group] = []
    old = {name: parameter.detach().clone() for name, parameter in model.named_parameters()}
    with _gradients(model) as gradients:
        yield found
    new = dict(model.named_parameters())
    for group, names in model.groups().items():
        gradient = hypot(*(float(gradients[n]) for n in names if n in gradients))
        change = _length(new[n].detach() - old[n] for n in names)
        found.append(Group(group, _length(old[n] for n in names), gradient, change))


@contextmanager
def _gradients(model: nn.Module) -> Iterator[dict[str, Tensor]]:
    """The length of every parameter's gradient as it is made, before anything shortens it."""
    found: dict[str, Tensor] = {}

    def hear(name: str) -> Any:
        return lambda parameter: found.__setitem__(name, parameter.grad.norm())

    handles = [p.register_post_accumulate_grad_hook(hear(name)) for name, p in model.named_parameters()]
    try:
        yield found
    finally:
        for handle in handles:
            handle.remove()


def _length(tensors: Iterator[Tensor]) -> float:
    return hypot(*(float(t.norm()) for t in tensors))
