"""The co-occurrence table of a corpus, and its factors as word vectors without any training."""

from dataclasses import dataclass

import torch
from torch import Tensor

from playground.batch import Specials
from playground.objectives.ops.windows import bounds


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells of a table that are above 0, `[c]`: a word, another word, and how often they were seen together."""

    word: Tensor
    other: Tensor
    seen: Tensor

    def to(self, device: torch.device) -> "Cells":
        return Cells(self.word.to(device), self.other.to(device), self.seen.to(device))


def cooccurrence(ids: Tensor, specials: Specials, window: int = 10) -> Cells:
    """How often words co-occur in a whole corpus `[n]` (Pennington et al. 2014, sec. 4.2).

    Two words at distance d count 1/d, in both orders, so a word beside itself counts twice; special tokens end the
    window and unknown words are skipped (released code).
    """
    ids = ids[ids != specials.unknown].long()
    last = bounds(~specials.in_text(ids)[None])[1][0]
    position = torch.arange(len(ids), device=ids.device)
    table = _sparse(ids.new_zeros((2, 0)), 0.0, specials.size)
    for distance in range(1, window + 1):
        left = position[position + distance <= last]
        both = torch.stack([ids[left], ids[left + distance]])
        table = (table + _sparse(both, 1.0 / distance, specials.size)).coalesce()
    table = (table + table.T).coalesce()
    word, other = table.indices()
    return Cells(word, other, table.values().float())


def _sparse(positions: Tensor, count: float, size: int) -> Tensor:
    """A table `[v, v]` with the same count at each of the positions `[2, m]`; repeated positions add up."""
    counts = torch.full((positions.shape[1],), count, dtype=torch.double, device=positions.device)
    return torch.sparse_coo_tensor(positions, counts, (size, size), check_invariants=False)


def dense(cells: Cells, size: int) -> Tensor:
    """The table itself, `[v, v]`."""
    table = torch.zeros((size, size), device=cells.seen.device)
    table[cells.word, cells.other] = cells.seen
    return table


def ppmi(table: Tensor) -> Tensor:
    """Positive pointwise mutual information (Bullinaria and Levy 2007)."""
    expected = table.sum(1, keepdim=True) * table.sum(0, keepdim=True) / table.sum()
    return (table / expected).log().clamp(min=0.0).nan_to_num(0.0)


def factors(table: Tensor, width: int) -> Tensor:
    """Word vectors `[v, d]`: singular vectors times the roots of the singular values."""
    left, values, _ = torch.linalg.svd(table)
    return left[:, :width] * values[:width].sqrt()
