"""Several models of one shape as one: every weight has a lane axis in front, and one step moves all lanes.

On a GPU a tiny model waits for its kernels to be launched, and a stack of any number of models launches about as many
as one model. The lanes' own modules stay what they are: their parameters become views of the stack, so that a lane can
be looked at at any time as if it were alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import torch
from torch import Tensor, nn
from torch.nn.functional import pad

from playground.errors import Refusal
from playground.zoo.recipe import BETAS

EPS = 1e-8
"""The smallest denominator of torch's AdamW."""

PARALLELISM = ("auto", "vmap", "processes")
"""How lanes run: as stacks, apart, or whichever suits the device."""

T = TypeVar("T")


def chosen_way(way: str, device: torch.device) -> str:
    """The way that is meant: stacked where launches cost most, on a CUDA device, and apart everywhere else."""
    if way not in PARALLELISM:
        raise Refusal(f"parallelism is {way!r}; choose one of {', '.join(PARALLELISM)}.")
    return ("vmap" if device.type == "cuda" else "processes") if way == "auto" else way


def parted(lanes: Sequence[T], need: int, free: int | None) -> list[Sequence[T]]:
    """Lanes in as few parts of nearly one size as the free memory asks for, where each lane needs so many bytes."""
    fit = len(lanes) if free is None else max(1, int(0.8 * free) // max(1, need))
    number = -(-len(lanes) // max(1, fit))
    size = -(-len(lanes) // max(1, number))
    return [lanes[first : first + size] for first in range(0, len(lanes), max(1, size))]


@dataclass
class Rows:
    """Some parameters of all lanes: `flat` `[k, n]` holds them, `parts` `[k, ...]` are views that take part in a pass.

    `means` are AdamW's two running means `[k, n]`, `count` `[k, 1]` is how many steps each lane has learnt.
    """

    flat: Tensor
    parts: dict[str, Tensor]
    means: tuple[Tensor, Tensor] | None = None
    count: Tensor | None = None

    @classmethod
    def of(cls, lanes: Sequence[nn.Module], names: Sequence[str]) -> "Rows":
        """The named parameters of all lanes, whose own ones become views."""
        each = [dict(lane.named_parameters()) for lane in lanes]
        flat = torch.stack([torch.cat([own[name].detach().flatten() for name in names]) for own in each])
        parts: dict[str, Tensor] = {}
        for name, piece in zip(names, flat.split([each[0][name].numel() for name in names], dim=1), strict=True):
            whole = piece.unflatten(1, each[0][name].shape)
            for k, own in enumerate(each):
                own[name].data = whole[k]
            parts[name] = whole.detach().requires_grad_()
        return cls(flat, parts)

    def learns(self, some: bool) -> None:
        """Whether any lane learns these parameters in the coming step; no gradient is computed where none does."""
        for part in self.parts.values():
            part.requires_grad_(some)

    def taken(self) -> tuple[Tensor, Tensor]:
        """The gradient `[k, n]`, 0 where none came, and where one came `[1, n]`; the parts forget it."""
        given = [(part, part.grad) for part in self.parts.values()]
        came = [torch.full(part[:1].shape, grad is not None, device=part.device).flatten(1) for part, grad in given]
        gradient = [(torch.zeros_like(part) if grad is None else grad).flatten(1) for part, grad in given]
        for part in self.parts.values():
            part.grad = None
        return torch.cat(gradient, dim=1), torch.cat(came, dim=1)

    @torch.no_grad()
    def adamw(self, gradient: Tensor, reached: Tensor, rates: Tensor, decay: float = 0.01) -> None:
        """One step of AdamW (arXiv:1711.05101, alg. 2) with a rate for each lane `[k]`, where it is `reached` `[k, n]`.

        What is not reached or has a rate of 0 keeps every bit, its running means and its count included.
        """
        rate, still = rates.to(self.flat)[:, None], torch.zeros_like(self.flat)
        learns = (rates != 0)[:, None]
        first, second = self.means or (still, still)
        self.count = learns.to(self.flat) + (0 if self.count is None else self.count)
        new_first, new_second = first.lerp(gradient, 1 - BETAS[0]), second.lerp(gradient**2, 1 - BETAS[1])
        size = (new_second / (1 - BETAS[1] ** self.count)).sqrt() + EPS
        moved = self.flat * (1 - rate * decay) - rate / (1 - BETAS[0] ** self.count) * new_first / size
        learns = learns & reached
        self.means = new_first.where(learns, first), new_second.where(learns, second)
        self.flat.copy_(moved.where(learns, self.flat))


def widened(values: Sequence[Tensor], fill: float = 0) -> Tensor:
    """Tensors of the same kind as one with a lane axis in front, `fill` behind those that are smaller."""
    shape = [max(sizes) for sizes in zip(*(v.shape for v in values), strict=True)]
    return torch.stack([pad(v, _behind(v, shape), value=fill) if list(v.shape) != shape else v for v in values])


def _behind(value: Tensor, shape: Sequence[int]) -> list[int]:
    """How much is lacking behind each axis, the last axis first, as `pad` wants it."""
    lacking = [wanted - there for wanted, there in zip(shape, value.shape, strict=True)]
    return [number for n in reversed(lacking) for number in (0, n)]


def parts_of(rows: Mapping[str, Rows]) -> dict[str, Tensor]:
    """The parts of several rows by name."""
    return {name: part for some in rows.values() for name, part in some.parts.items()}
