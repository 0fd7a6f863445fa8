"""Dropout that draws from a given generator, so that the same seed gives the same run."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Generator, Tensor, nn


class Dropout(nn.Module):
    """Zero a share of the numbers and enlarge the rest (Srivastava et al. 2014), only inside `dropping`."""

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.rate, self.rng = rate, None

    rng: Generator | None

    def forward(self, x: Tensor) -> Tensor:
        return x if self.rng is None else x * self.mask(x.shape, x.device)

    def mask(self, shape: torch.Size, device: torch.device) -> Tensor:
        """Zeros, and `1 / (1 - rate)` for what stays."""
        return (torch.rand(shape, generator=self.rng, device=device) >= self.rate) / (1 - self.rate)


@contextmanager
def dropping_everywhere(model: nn.Module, rate: float, rng: Generator) -> Iterator[None]:
    """Dropout of this rate wherever a model can have ours; afterwards the model is as it was."""
    dropout, names = Dropout(rate), ("dropout", "embedding_dropout")
    dropout.rng = rng
    every = [(m, name, getattr(m, name)) for m in model.modules() for name in names if hasattr(m, name)]
    replaced = [each for each in every if each[2] is None or isinstance(each[2], Dropout)]
    for module, name, _ in replaced:
        setattr(module, name, dropout)
    try:
        yield
    finally:
        for module, name, before in replaced:
            setattr(module, name, before)


@contextmanager
def dropping(model: nn.Module, rng: Generator) -> Iterator[None]:
    """A step of training: what its dropout zeroes is drawn from `rng`."""
    modules = [module for module in model.modules() if isinstance(module, Dropout)]
    for module in modules:
        module.rng = rng
    try:
        yield
    finally:
        for module in modules:
            module.rng = None
