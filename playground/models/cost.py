"""What a pass costs, counted in floating-point operations while it is made."""

from copy import deepcopy

import torch
from torch.utils.flop_counter import FlopCounterMode

from playground.example import Example
from playground.models.model import LanguageModel

PASSES = 3
"""A training step costs three forward passes: backward, every product becomes two (arXiv:2001.08361, sec. 2.1)."""


@torch.no_grad()
def forward_flops(model: LanguageModel, example: Example) -> int:
    """Operations of all matrix products of one forward pass over a batch; closed cells of the attention count too."""
    still = deepcopy(model).requires_grad_(False)  # the counter refuses a parameter that is read without a gradient
    with FlopCounterMode(display=False) as counter:
        still.answers(example, {})  # with taps, so that attention is made of products that the counter knows
    return counter.get_total_flops()


def step_flops(model: LanguageModel, example: Example) -> int:
    """Operations of one training step on a batch, without those of the optimiser."""
    return PASSES * forward_flops(model, example)


def positions(example: Example) -> int:
    """Positions that the stacks read in a step, padding included."""
    streams = [s for part in example.everything for s in (part.inputs, part.decoder) if s is not None]
    return sum(s.ids.numel() for s in streams)
