"""Gold trees as distances and depths, and how well predicted trees agree with them."""

from dataclasses import dataclass

import numpy as np
import scipy
import torch
from torch import Tensor

from playground.analysis.probing.texts import depths
from playground.batch import Tokens
from playground.corpora import pick

SHORTEST = 5
"""Words of the shortest sentence whose rank correlation counts (Hewitt and Manning 2019, N19-1419, sec. 4.1)."""


@dataclass(frozen=True)
class GoldTrees:
    """Sentences with one tree each: heads `[r, t]` (-1: root and padding), which words count `[r, t]`, real words."""

    tokens: Tokens
    heads: Tensor
    counted: Tensor

    @property
    def distances(self) -> Tensor:
        """Arcs between each two words of a tree, `[r, t, t]`."""
        depth = self.depths
        common = self._ancestors() @ self._ancestors().transpose(1, 2)
        return depth[:, :, None] + depth[:, None, :] - 2 * (common - 1)

    @property
    def depths(self) -> Tensor:
        """Arcs from each word to its root, `[r, t]`."""
        return depths(self.heads).float()

    def _ancestors(self) -> Tensor:
        """Whether a word (last axis) is another (middle axis) or above it, `[r, t, t]` as numbers."""
        rows, width = self.heads.shape
        found = torch.eye(width).repeat(rows, 1, 1)
        above = self.heads
        while bool((above >= 0).any()):
            step = torch.nn.functional.one_hot(above.clamp(min=0), width) * (above >= 0)[..., None]
            found = found + step
            above = self.heads.gather(1, above.clamp(min=0)).where(above >= 0, -1)
        return found

    def edges(self, row: int) -> set[frozenset[int]]:
        """The arcs between two words that count, without direction."""
        counted = self.counted[row].tolist()
        arcs = ((k, head) for k, head in enumerate(self.heads[row].tolist()) if head >= 0)
        return {frozenset(arc) for arc in arcs if counted[arc[0]] and counted[arc[1]]}


def gold_trees(tokens: Tokens, punctuation: int = -1) -> GoldTrees:
    """The sentences that are one tree; `punctuation` is the value of the label `pos` that UUAS leaves out."""
    valid, head = tokens.valid, tokens.labels["head"]
    whole = ((head < 0) & valid).sum(1) == 1
    tokens = pick(tokens, whole.nonzero()[:, 0])
    counted = tokens.valid & (tokens.labels["pos"] != punctuation)
    return GoldTrees(tokens, tokens.labels["head"], counted)


def spanning_tree(costs: np.ndarray) -> set[frozenset[int]]:
    """The edges of the minimum spanning tree of a symmetric matrix of costs `[n, n]`."""
    tree = scipy.sparse.csgraph.minimum_spanning_tree(costs - costs.min() + 1.0)  # scipy reads a cost of 0 as no edge
    return {frozenset((int(a), int(b))) for a, b in zip(*tree.nonzero(), strict=True)}


def predicted_edges(costs: Tensor, counted: Tensor) -> set[frozenset[int]]:
    """The spanning tree over the words that count, `[t, t]`, as positions in the sentence."""
    position = counted.nonzero()[:, 0]
    if len(position) < 2:
        return set()
    few = costs[position][:, position].double().numpy()
    return {frozenset(int(position[k]) for k in edge) for edge in spanning_tree((few + few.T) / 2)}


def uuas(costs: Tensor, gold: GoldTrees) -> float:
    """The share of gold arcs, without direction, that stand in the minimum spanning trees of `costs` `[r, t, t]`."""
    right = total = 0
    for row in range(len(costs)):
        gold_edges = gold.edges(row)
        right += len(gold_edges & predicted_edges(costs[row], gold.counted[row]))
        total += len(gold_edges)
    return right / total if total else float("nan")


def chain_uuas(gold: GoldTrees) -> float:
    """The same of the tree that joins each word with the next: right-branching without direction."""
    position = torch.arange(gold.heads.shape[1]).float()
    return uuas((position[:, None] - position).abs().square().expand(len(gold.heads), -1, -1), gold)


def distance_spearman(predicted: Tensor, gold: GoldTrees) -> dict[int, float]:
    """Spearman's correlation of the distances from each word, averaged by the length of the sentence."""
    return _by_length(predicted, gold.distances, gold.tokens)


def depth_spearman(predicted: Tensor, gold: GoldTrees) -> dict[int, float]:
    """Spearman's correlation of the depths of a sentence's words, averaged by its length."""
    return _by_length(predicted[:, None], gold.depths[:, None], gold.tokens)


def _by_length(predicted: Tensor, expected: Tensor, tokens: Tokens) -> dict[int, float]:
    """The mean rank correlation of the rows `[r, n, t]` of each sentence, averaged by its length."""
    found: dict[int, list[float]] = {}
    for row, length in enumerate(tokens.lengths.tolist()):
        if length >= SHORTEST:
            ranks = rank_correlations(predicted[row, :length, :length], expected[row, :length, :length])
            found.setdefault(length, []).append(float(ranks.mean()))
    return {length: float(np.mean(rows)) for length, rows in sorted(found.items())}


def rank_correlations(one: Tensor, other: Tensor) -> np.ndarray:
    """Spearman's rank correlation of each two rows `[k, n]`; 0 where a row is constant and so has no order."""
    ranks = [scipy.stats.rankdata(side.double().numpy(), axis=1) for side in (one, other)]
    x, y = (rank - rank.mean(1, keepdims=True) for rank in ranks)
    length = np.sqrt((x**2).sum(1) * (y**2).sum(1))
    return np.divide((x * y).sum(1), length, out=np.zeros(len(x)), where=length > 0)


def rooted(edges: set[frozenset[int]], root: int, width: int) -> list[int]:
    """The head of each word when a tree hangs from `root`, -1 for the root and for words outside it."""
    tree = np.zeros((width, width))
    for one, other in edges:
        tree[one, other] = 1.0
    above = scipy.sparse.csgraph.breadth_first_order(tree, root, directed=False)[1]
    return np.maximum(above, -1).tolist()  # scipy writes -9999 where nothing is above
