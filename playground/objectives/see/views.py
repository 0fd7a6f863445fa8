"""See the whole text, and beside it only what stands before or after."""

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from playground.example import Example, Visible, by_level, causal, full


@dataclass(frozen=True)
class SeeViews:
    """All of the text for the teacher; beside it a left and a right half for students (arXiv:1809.08370, sec. 3.2).

    The first example beside reads from the left, the second from the right.
    """

    def build(self, example: Example) -> Example:
        inputs = example.inputs
        ways = (causal(inputs.real, inputs.padded), backwards(inputs.real))
        halves = (replace(example, beside=(), inputs=replace(inputs, visible=way)) for way in ways)
        whole = replace(inputs, visible=full(inputs.real, inputs.padded))
        return replace(example, inputs=whole, beside=(*example.beside, *halves))


def backwards(real: Tensor) -> Visible:
    """A reader sees itself and what stands to its right."""
    place = torch.arange(real.shape[1], device=real.device).expand(real.shape).flip(1)
    return by_level(place, place, real)
