"""Low rank: the matrices inside the layers become products of two thinner ones."""

from dataclasses import dataclass

import torch
from torch import Generator, nn

from playground.compression.classifier import LowRank, unshared_stack
from playground.compression.masks import owner
from playground.compression.method import Compressed, Method, TaskData
from playground.compression.training import fine_tune
from playground.knob import knob

PARTS = {
    "MLP": ("mlp.fc1", "mlp.fc2"),
    "attention": ("attn.value", "attn.out"),
    "both": ("mlp.fc1", "mlp.fc2", "attn.value", "attn.out"),
}
"""Which matrices are made thin; queries and keys keep their form, from which heads and positions are read."""


@dataclass(frozen=True)
class TruncateRanks:
    """Replace matrices by the nearest products of so low a rank; one that would not get smaller stays as it is."""

    rank: int = knob(16, 1, 512, unit="rank", why="Rank of each product.")
    matrices: str = knob("both", choices=tuple(PARTS), why="Which matrices are factorised.")
    steps: int = knob(80, 0, 2000, unit="steps", why="Training on the task afterwards.")

    def apply(self, start: Compressed, data: TaskData, rng: Generator) -> Compressed:
        for block in unshared_stack(start.classifier, "Low rank").layers:
            for name in PARTS[self.matrices]:
                module, attribute = owner(block, name)
                layer = getattr(module, attribute)
                if isinstance(layer, nn.Linear) and saves(layer, self.rank):
                    setattr(module, attribute, truncated(layer, self.rank))
        return fine_tune(start, data, rng, self.steps)


def saves(layer: nn.Linear, rank: int) -> bool:
    """Whether two factors of this rank are fewer numbers than the matrix."""
    rows, columns = layer.weight.shape
    return rank * (rows + columns) < rows * columns


@torch.no_grad()
def truncated(layer: nn.Linear, rank: int) -> LowRank:
    """The nearest product of a rank (Eckart and Young 1936)."""
    u, s, v = torch.linalg.svd(layer.weight, full_matrices=False)
    made = LowRank(layer.in_features, rank, layer.out_features, layer.bias is not None)
    made.down.weight.copy_(s[:rank, None].sqrt() * v[:rank])
    made.up.weight.copy_(u[:, :rank] * s[:rank].sqrt())
    if layer.bias is not None:
        made.up.bias.copy_(layer.bias)
    return made


LOW_RANK = Method(
    name="low rank",
    aliases=("SVD", "low-rank factorisation"),
    family="low rank and sharing",
    rows=("C04",),
    idea="Write a matrix as a product of two thinner ones.",
    source="survey arXiv:2003.07278 (low-rank approximation); Eckart and Young 1936",
    step=TruncateRanks(),
    identity="rank=512, steps=0",
)
