"""The cost of a pass in floating-point operations: counted while it runs, or computed from the sizes of its layers."""

from collections.abc import Callable
from copy import deepcopy
from typing import TypeVar
from warnings import catch_warnings

import torch
from torch.utils.flop_counter import FlopCounterMode

from playground.batch import Batch
from playground.models.model import LanguageModel

Number = TypeVar("Number", float, torch.Tensor)


def operations(weights: float, looks: float, learns: Number, beneath: Number) -> Number:
    """Operations per position of a layer in a step; `learns` and `beneath` are 1 where it and what lies below learn.

    A product with P weights is 2P operations forward, 2P more for the gradient of its weights and 2P to pass the
    gradient down (arXiv:2001.08361, sec. 2.1). Attention is two products, 4 for each of the `looks` (positions times
    width), and twice as many backward, where any gradient passes.
    """
    passes = learns + beneath - learns * beneath
    return 2 * weights * (1 + learns + beneath) + 4 * looks * (1 + 2 * passes)


PASSES = round(operations(1, 0, 1.0, 1.0) / operations(1, 0, 0.0, 0.0))
"""Forward passes that a training step costs: backward, every product becomes two."""


def forward_flops(model: LanguageModel, batch: Batch) -> int:
    """Operations of all matrix products of one forward pass; masked attention cells count too."""
    # with taps, so that attention is made of products that the counter knows
    return _counted(model, lambda still: still.attention(batch))


@torch.no_grad()
def _counted(model: LanguageModel, passes: Callable[[LanguageModel], object]) -> int:
    """Operations of all matrix products of what `passes` does with a copy of a model."""
    still = deepcopy(model).requires_grad_(False)  # the counter refuses a parameter that is read without a gradient
    plain = torch.backends.mkldnn.flags(enabled=not model.shape.recurrent)  # products for recurrent layers too
    with FlopCounterMode(display=False) as counter, catch_warnings(action="ignore"), plain:
        passes(still)
    return counter.get_total_flops()


def step_flops(model: LanguageModel, batch: Batch) -> int:
    """Operations of one training step without the optimiser; a teacher reads only forward."""
    streams = [part.inputs for part in batch.with_auxiliary if part.network == "teacher"]
    taught = _counted(model, lambda still: [still.teacher_outputs(stream, {}) for stream in streams]) if streams else 0
    return PASSES * (forward_flops(model, batch) - taught) + taught


def positions(batch: Batch) -> int:
    """Positions that the stacks read in a step, padding included."""
    streams = [s for part in batch.with_auxiliary for s in (part.inputs, part.decoder) if s is not None]
    return sum(s.ids.numel() for s in streams)
