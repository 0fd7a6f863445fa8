"""Matrices of a classifier put on grids, and a stand-in that learns as if it were on one."""

from collections.abc import Mapping
from dataclasses import replace

import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize

from playground.compression.classifier import Classifier, matrices
from playground.compression.grids import quantise
from playground.compression.masks import owner
from playground.compression.method import Compressed

FULL, MOST = 32, 16
"""Bits of a number that is not rounded, and the most of a code; with more than that nothing is rounded either."""


def on_grids(start: Compressed, bits: Mapping[str, int], groups: Mapping[str, int]) -> Compressed:
    """The same with matrices on grids of so many bits; those with more than 16 stay as they are."""
    grids = dict(start.grids)
    with torch.no_grad():
        for name, number in bits.items():
            if number <= MOST:
                weight = start.classifier.get_parameter(name)
                grids[name] = quantise(weight, number, groups[name])
                weight.copy_(grids[name].weight)
    return replace(start, grids=grids)


def groups_of(classifier: Classifier, granularity: str, groups: int = 1) -> dict[str, int]:
    """The number of scales of each matrix: one, one for each row (output channel), or so many."""
    each = {name: len(p) for name, p in matrices(classifier).items()}
    return {name: {"tensor": 1, "channel": rows}.get(granularity, groups) for name, rows in each.items()}


class FakeQuantise(nn.Module):
    """The nearest grid of a matrix; the gradient passes as if nothing was rounded (straight-through)."""

    def __init__(self, bits: int, groups: int) -> None:
        super().__init__()
        self.bits, self.groups = bits, groups

    def forward(self, weight: Tensor) -> Tensor:
        return weight + (quantise(weight, self.bits, self.groups).weight - weight).detach()


def add_fake_quantization(classifier: Classifier, bits: int, groups: Mapping[str, int]) -> None:
    """Compute with every matrix as if it were on its grid, and learn through that."""
    for name, number in groups.items():
        module, attribute = owner(classifier, name)
        parametrize.register_parametrization(module, attribute, FakeQuantise(bits, number))


def remove_fake_quantization(classifier: Classifier, names: Mapping[str, int]) -> None:
    """Compute with the matrices themselves again."""
    for name in names:
        module, attribute = owner(classifier, name)
        parametrize.remove_parametrizations(module, attribute, leave_parametrized=False)
