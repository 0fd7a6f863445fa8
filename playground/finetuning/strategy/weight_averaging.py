"""The mean of weights over several steps (self-ensemble, arXiv:2002.10345)."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor, nn


class WeightAverage:
    """A running mean of parameters; what did not change keeps every bit."""

    def __init__(self, parameters: Sequence[nn.Parameter]) -> None:
        self.parameters, self.number = tuple(parameters), 0
        self.mean: list[Tensor] = []

    @torch.no_grad()
    def take(self) -> None:
        """Count the weights as they are now."""
        self.number += 1
        if not self.mean:
            self.mean = [p.detach().clone() for p in self.parameters]
        self.mean = [mean + (p - mean) / self.number for mean, p in zip(self.mean, self.parameters, strict=True)]

    @contextmanager
    def in_place(self) -> Iterator[None]:
        """The model with the mean as its weights, for as long as it is read."""
        now = [p.data for p in self.parameters]
        self.put()
        try:
            yield
        finally:
            for p, data in zip(self.parameters, now, strict=True):
                p.data = data

    def put(self) -> None:
        """Make the mean the weights."""
        for p, mean in zip(self.parameters, self.mean, strict=True):
            p.data = mean
