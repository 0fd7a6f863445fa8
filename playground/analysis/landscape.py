"""Slices of a loss through the space of weights, with filter normalisation (Li et al. 2018, arXiv:1712.09913)."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Generator, Tensor

Weights = tuple[Tensor, ...]
"""The values of all parameters of a model, in their order."""

SMALL = 1e-10


def weights_of(parameters: Iterable[Tensor]) -> Weights:
    """The values of parameters, which do not change with them."""
    return tuple(p.detach().clone() for p in parameters)


def random_direction(weights: Weights, rng: Generator) -> Weights:
    """A random direction whose filters are as long as those of the weights."""
    return filter_normalised(tuple(torch.randn(w.shape, generator=rng).to(w) for w in weights), weights)


def filter_normalised(direction: Weights, weights: Weights) -> Weights:
    """Each filter (row of a matrix) as long as that of the weights; biases and norms do not move, as in the paper."""
    return tuple(
        d * (_lengths(w) / _lengths(d).clamp(min=SMALL)) if w.dim() > 1 else torch.zeros_like(w)
        for d, w in zip(direction, weights, strict=True)
    )


def _lengths(w: Tensor) -> Tensor:
    return w.flatten(1).norm(dim=1).view(-1, *[1] * (w.dim() - 1))


def moved(weights: Weights, *steps: tuple[float, Weights]) -> Weights:
    """The weights after steps along directions."""
    found = weights
    for size, direction in steps:
        found = tuple(w + size * d for w, d in zip(found, direction, strict=True))
    return found


def less(one: Weights, other: Weights) -> Weights:
    """The direction from the second weights to the first."""
    return moved(one, (-1.0, other))


def flat(weights: Weights) -> Tensor:
    """All weights as one vector."""
    return torch.cat([w.detach().flatten() for w in weights])


def shaped(vector: Tensor, weights: Weights) -> Weights:
    """A vector cut into the shapes of the weights."""
    parts = vector.split([w.numel() for w in weights])
    return tuple(part.view(w.shape).to(w) for part, w in zip(parts, weights, strict=True))


@dataclass(frozen=True)
class Plane:
    """A centre, two directions, the coordinates `[k, 2]` of a path and the share of it that lies in the plane."""

    centre: Weights
    first: Weights
    second: Weights
    path: Tensor
    share: float


def principal_plane(path: Sequence[Weights]) -> Plane:
    """The plane of the two principal components of the way to the last weights (arXiv:1712.09913, on trajectories).

    Directions have length 1, so coordinates are L2 distances.
    """
    end = path[-1]
    way = _way(path)
    basis = torch.linalg.svd(way, full_matrices=False)[2][:2]
    basis = torch.nn.functional.pad(basis, (0, 0, 0, 2 - len(basis)))
    at = way @ basis.T
    first, second = (shaped(axis, end) for axis in basis)
    return Plane(end, first, second, at, _share(at, way))


def random_plane(path: Sequence[Weights], rng: Generator) -> Plane:
    """Two random filter-normalised directions at the last weights, and the path by least squares in them."""
    end = path[-1]
    first, second = random_direction(end, rng), random_direction(end, rng)
    axes, way = torch.stack([flat(first), flat(second)], 1).double(), _way(path)
    at = torch.linalg.lstsq(axes, way.T).solution.T
    return Plane(end, first, second, at, _share(axes @ at.T, way))


def _way(path: Sequence[Weights]) -> Tensor:
    """The steps from the last weights to each of a path, `[k, p]` doubles."""
    return torch.stack([flat(less(one, path[-1])) for one in path]).double()


def _share(inside: Tensor, way: Tensor) -> float:
    """The share of the squared length of a way that lies inside a plane; 1 where it has no length."""
    total = float(way.square().sum())
    return float(inside.square().sum()) / total if total else 1.0


def line(loss: Callable[[Weights], float], start: Weights, direction: Weights, at: Sequence[float]) -> list[float]:
    """The loss along a direction."""
    return [loss(moved(start, (a, direction))) for a in at]


def surface(
    loss: Callable[[Weights], float], plane: Plane, x: Sequence[float], y: Sequence[float]
) -> Iterator[tuple[float, float, float]]:
    """The loss at every point of a grid in a plane, with its coordinates."""
    for b in y:
        row = moved(plane.centre, (b, plane.second))
        for a in x:
            yield a, b, loss(moved(row, (a, plane.first)))
