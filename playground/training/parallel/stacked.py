"""Several models of one shape as one, with a model axis in front of every weight: as many kernels as for one model.

The parameters of the models' own modules become views of the stack, so that each model can be read like a single model.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import torch
from torch import Tensor, nn
from torch.nn.functional import pad

from playground.errors import UserError
from playground.zoo.recipe import BETAS

EPS = 1e-8
"""The smallest denominator of torch's AdamW."""

PARALLELISM = ("auto", "vmap", "processes")
"""How models run: as stacks, one by one in processes, or whichever suits the device."""

T = TypeVar("T")


def chosen_way(way: str, device: torch.device) -> str:
    """Either "vmap" or "processes"; "auto" is "vmap" on CUDA, where launching kernels costs most."""
    if way not in PARALLELISM:
        raise UserError(f"parallelism is {way!r}; choose one of {', '.join(PARALLELISM)}.")
    return ("vmap" if device.type == "cuda" else "processes") if way == "auto" else way


def parted(items: Sequence[T], need: int, free: int | None) -> list[Sequence[T]]:
    """Models in as few parts of nearly equal size as fit into the free memory, where each item needs `need` bytes."""
    fit = len(items) if free is None else max(1, int(0.8 * free) // max(1, need))
    number = -(-len(items) // max(1, fit))
    size = -(-len(items) // max(1, number))
    return [items[first : first + size] for first in range(0, len(items), max(1, size))]


ALIGNED = 4
"""Parameters begin at multiples of so many numbers, since attention on a GPU reads 16 bytes at once."""


def columns(values: Sequence[Tensor], axis: int = 0) -> Tensor:
    """Tensors, flattened from an axis on, next to each other; each begins at a multiple of `ALIGNED`."""
    flat = [value.flatten(axis) for value in values]
    return torch.cat([pad(each, (0, -each.shape[-1] % ALIGNED)) for each in flat], dim=-1)


@dataclass
class StackedParameters:
    """Some parameters of all models: `flat` `[k, n]` holds them, `parts` `[k, ...]` are views for the forward pass.

    `means` are AdamW's two running means `[k, n]`, `count` `[k, 1]` the number of steps of each model.
    """

    flat: Tensor
    parts: dict[str, Tensor]
    means: tuple[Tensor, Tensor] | None = None
    count: Tensor | None = None

    @classmethod
    def of(cls, models: Sequence[nn.Module], names: Sequence[str]) -> "StackedParameters":
        """The named parameters of all models, whose own parameters become views of these."""
        each = [dict(model.named_parameters()) for model in models]
        flat = torch.stack([columns([own[name].detach() for name in names]) for own in each])
        parts: dict[str, Tensor] = {}
        begin = 0
        for name in names:
            size = each[0][name].numel()
            whole = flat[:, begin : begin + size].unflatten(1, each[0][name].shape)
            begin += size + -size % ALIGNED
            for k, own in enumerate(each):
                own[name].data = whole[k]
            parts[name] = whole.detach().requires_grad_()
        return cls(flat, parts)

    def learns(self, some: bool) -> None:
        """Whether any model trains these parameters in the coming step, so that their gradient is computed."""
        for part in self.parts.values():
            part.requires_grad_(some)

    def taken(self) -> tuple[Tensor, Tensor]:
        """Take the gradient `[k, n]` from the parts, 0 where there is none, and where there is one `[1, n]`."""
        grads = [(part, part.grad) for part in self.parts.values()]
        reached = columns([torch.full(p[:1].shape, grad is not None, device=p.device) for p, grad in grads], 1)
        gradient = columns([torch.zeros_like(part) if grad is None else grad for part, grad in grads], 1)
        for part in self.parts.values():
            part.grad = None
        return gradient, reached

    def restart(self, which: Tensor) -> None:
        """Forget the running means and the number of steps of some models `[k]`."""
        if self.means is not None and self.count is not None:
            kept = ~which[:, None]
            self.means, self.count = (self.means[0] * kept, self.means[1] * kept), self.count * kept

    @torch.no_grad()
    def adamw(self, gradient: Tensor, reached: Tensor, rates: Tensor, decays: Tensor) -> None:
        """One step of AdamW (arXiv:1711.05101, alg. 2), where it is `reached` `[k, n]`.

        Each model `[k]` has a rate and a weight decay.

        What is not reached or has a rate of 0 keeps every bit, its running means and its count included.
        """
        rate, decay = rates[:, None], decays[:, None]
        zeros = torch.zeros_like(self.flat)
        learns = (rates != 0)[:, None]
        first, second = self.means or (zeros, zeros)
        self.count = learns.to(self.flat) + (0 if self.count is None else self.count)
        new_first, new_second = first.lerp(gradient, 1 - BETAS[0]), second.lerp(gradient**2, 1 - BETAS[1])
        size = (new_second / (1 - BETAS[1] ** self.count)).sqrt() + EPS
        moved = self.flat * (1 - rate * decay) - rate / (1 - BETAS[0] ** self.count) * new_first / size
        learns = learns & reached
        self.means = new_first.where(learns, first), new_second.where(learns, second)
        self.flat.copy_(moved.where(learns, self.flat))


def widened(values: Sequence[Tensor], fill: float = 0) -> Tensor:
    """Tensors stacked along a model axis in front, smaller ones padded at the end of each axis with `fill`."""
    shape = [max(sizes) for sizes in zip(*(value.shape for value in values), strict=True)]
    missing = ([size - own for size, own in zip(shape, value.shape, strict=True)] for value in values)
    padding = ([n for number in reversed(axes) for n in (0, number)] for axes in missing)  # as `pad` takes it
    return torch.stack([pad(v, p, value=fill) if any(p) else v for v, p in zip(values, padding, strict=True)])


def parts_of(rows: Mapping[str, StackedParameters]) -> dict[str, Tensor]:
    """The parts of several rows by name."""
    return {name: part for some in rows.values() for name, part in some.parts.items()}
