"""Words by counting alone: the co-occurrence table of a corpus, and its factors as vectors without any training."""

import torch
from torch import Tensor

from playground.batch import Specials
from playground.objectives.arrange import Cells
from playground.objectives.ops.windows import runs


def cooccurrence(ids: Tensor, specials: Specials, window: int = 10) -> Cells:
    """How often words stand near each other in a whole corpus `[n]` (Pennington et al. 2014, sec. 4.2).

    Two words at distance d count 1/d, in both orders, so a word beside itself counts twice; signs end the window and
    unknown words hold no place (released code).
    """
    ids = ids[ids != specials.unknown].long()
    last = runs(ids[None], (ids < specials.first_word)[None])[1][0]
    place = torch.arange(len(ids), device=ids.device)
    table = _sparse(ids.new_zeros((2, 0)), 0.0, specials.size)
    for distance in range(1, window + 1):
        left = place[place + distance <= last]
        both = torch.stack([ids[left], ids[left + distance]])
        table = (table + _sparse(both, 1.0 / distance, specials.size)).coalesce()
    table = (table + table.T).coalesce()
    word, other = table.indices()
    return Cells(word, other, table.values().float())


def _sparse(places: Tensor, count: float, size: int) -> Tensor:
    """A table `[v, v]` that holds the same count at each of the places `[2, m]`; places that repeat add up."""
    counts = torch.full((places.shape[1],), count, dtype=torch.double, device=places.device)
    return torch.sparse_coo_tensor(places, counts, (size, size), check_invariants=False)


def dense(cells: Cells, size: int) -> Tensor:
    """The table itself, `[v, v]`."""
    table = torch.zeros((size, size), device=cells.seen.device)
    table[cells.word, cells.other] = cells.seen
    return table


def ppmi(table: Tensor) -> Tensor:
    """How much more often two words meet than by chance, as a logarithm, never below 0 (Bullinaria and Levy 2007)."""
    expected = table.sum(1, keepdim=True) * table.sum(0, keepdim=True) / table.sum()
    return (table / expected).log().clamp(min=0.0).nan_to_num(0.0)


def factors(table: Tensor, width: int) -> Tensor:
    """Word vectors `[v, d]` whose products come nearest to a table: singular vectors times roots of their values."""
    left, values, _ = torch.linalg.svd(table)
    return left[:, :width] * values[:width].sqrt()


def nearest(vectors: Tensor, word: int, most: int = 5) -> list[tuple[int, float]]:
    """The words nearest to a word by the angle between their vectors `[v, d]`, with its cosine."""
    turned = torch.nn.functional.normalize(vectors, dim=-1)
    alike = (turned @ turned[word]).index_fill(0, torch.tensor([word], device=vectors.device), -2.0)
    best = alike.topk(min(most, len(alike) - 1))
    return list(zip(best.indices.tolist(), best.values.tolist(), strict=True))
