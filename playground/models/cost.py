"""The cost of a pass in floating-point operations: counted while it runs, or computed from the sizes of its layers."""

from collections.abc import Callable
from inspect import unwrap
from typing import Any, TypeVar
from warnings import catch_warnings

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import flop_registry

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


class OperationCounter(TorchDispatchMode):
    """Operations of all matrix products, as torch's `FlopCounterMode` counts them, without importing its compiler."""

    def __init__(self) -> None:
        super().__init__()
        self.total = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        formula = flop_registry.get(func.overloadpacket)
        if formula is None:
            with self:
                parts = func.decompose(*args, **kwargs)
            return func(*args, **kwargs) if parts is NotImplemented else parts
        out = func(*args, **kwargs)
        self.total += formula(*args, **kwargs, out_val=out)
        return out


OperationCounter.__torch_dispatch__ = unwrap(OperationCounter.__torch_dispatch__)  # below the decorator that imports it


def forward_flops(model: LanguageModel, batch: Batch) -> int:
    """Operations of all matrix products of one forward pass; masked attention cells count too."""
    # with taps, so that attention is made of products that the counter knows
    return _counted(model, lambda model: model.attention(batch))


@torch.no_grad()
def _counted(model: LanguageModel, passes: Callable[[LanguageModel], object]) -> int:
    """Operations of all matrix products of what `passes` does with a model."""
    plain = torch.backends.mkldnn.flags(enabled=not model.shape.recurrent)  # products for recurrent layers too
    with catch_warnings(action="ignore"), plain, OperationCounter() as counter:
        passes(model)
    return counter.total


def step_flops(model: LanguageModel, batch: Batch) -> int:
    """Operations of one training step without the optimiser; a teacher reads only forward."""
    streams = [part.inputs for part in batch.with_auxiliary if part.network == "teacher"]
    taught = _counted(model, lambda model: [model.teacher_outputs(stream, {}) for stream in streams]) if streams else 0
    return PASSES * (forward_flops(model, batch) - taught) + taught


def positions(batch: Batch) -> int:
    """Positions that the stacks read in a step, padding included."""
    streams = [s for part in batch.with_auxiliary for s in (part.inputs, part.decoder) if s is not None]
    return sum(s.ids.numel() for s in streams)
