"""Quantization: matrices whose values lie on a grid of 2^b levels for each group of rows, and their bits in a file."""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from playground.compression.classifier import Classifier


@dataclass(frozen=True)
class Grid:
    """A matrix as whole numbers `codes` `[r, c]` times a scale for each group of rows, `scales` `[g]`.

    With 2 bits or more the codes are -(2^(b-1) - 1) to 2^(b-1) - 1, so that 0 stays 0; with 1 bit they are -1 and 1,
    and the scale is the mean size of the group (XNOR-Net, arXiv:1603.05279).
    """

    codes: Tensor
    scales: Tensor
    bits: int

    @property
    def weight(self) -> Tensor:
        """The matrix that the model computes with."""
        return self.codes.to(torch.float32) * _by_row(self.scales, len(self.codes))

    def packed(self) -> Tensor:
        """All codes as a string of bits, `bits` for each, in bytes."""
        unsigned = (
            (self.codes.flatten() > 0).long() if self.bits == 1 else self.codes.flatten().long() + top_code(self.bits)
        )
        digits = (unsigned[:, None] >> torch.arange(self.bits)) & 1
        return torch.from_numpy(np.packbits(digits.to(torch.uint8).flatten().numpy()))

    @classmethod
    def unpacked(cls, packed: Tensor, scales: Tensor, bits: int, shape: tuple[int, ...]) -> "Grid":
        """The grid whose codes were packed."""
        number = int(np.prod(shape))
        digits = torch.from_numpy(np.unpackbits(packed.numpy(), count=number * bits)).long().view(number, bits)
        unsigned = (digits << torch.arange(bits)).sum(1)
        codes = 2 * unsigned - 1 if bits == 1 else unsigned - top_code(bits)
        return cls(codes.to(torch.int16).view(shape), scales, bits)


def top_code(bits: int) -> int:
    """The largest code of a grid."""
    return max(1, 2 ** (bits - 1) - 1)


def quantise(weight: Tensor, bits: int, groups: int) -> Grid:
    """The nearest grid, symmetric and uniform, with a scale for each of so many groups of consecutive rows."""
    weight, groups = weight.detach(), min(groups, len(weight))
    parts = weight.tensor_split(groups)
    size = [part.abs().mean() if bits == 1 else part.abs().amax() / top_code(bits) for part in parts]
    scales = torch.stack(size).clamp(min=torch.finfo(torch.float32).tiny)
    if bits == 1:
        codes = torch.where(weight < 0, -1, 1)
    else:
        codes = (weight / _by_row(scales, len(weight))).round().clamp(-top_code(bits), top_code(bits))
    return Grid(codes.to(torch.int16), scales, bits)


def _by_row(scales: Tensor, rows: int) -> Tensor:
    """The scale of each row `[r, 1]`."""
    sizes = torch.tensor([len(part) for part in torch.arange(rows).tensor_split(len(scales))])
    return scales.repeat_interleave(sizes)[:, None]


def round_through(x: Tensor, bits: int) -> Tensor:
    """A tensor on the grid of its own range; the gradient passes as if nothing was rounded (straight-through)."""
    scale = (x.detach().abs().amax() / top_code(bits)).clamp(min=torch.finfo(torch.float32).tiny)
    return x + ((x / scale).round() * scale - x).detach()


def round_activations(classifier: Classifier, bits: int) -> None:
    """Round what every linear layer inside the network reads; 0 leaves it as it is."""
    classifier.activation_bits = bits
    for module in classifier.model.network.modules() if bits else ():
        if isinstance(module, nn.Linear):
            module.register_forward_pre_hook(lambda _, given: (round_through(given[0], bits),))
