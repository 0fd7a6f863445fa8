"""Trees in geometry and in attention: what is planted is recovered, the chain is what it is."""

import itertools

import numpy as np
import pytest
import torch
from scipy.stats import spearmanr

from playground.analysis.subject import draw_sentences
from playground.analysis.trees.gold import (
    GoldTrees,
    chain_uuas,
    gold_trees,
    predicted_edges,
    rank_correlations,
    rooted,
    spanning_tree,
    uuas,
)  # fmt: skip
from playground.analysis.trees.structural import (
    fit_depths,
    fit_distances,
    score_depths,
    score_distances,
    squared_distances,
    standardised,
)  # fmt: skip
from playground.analysis.trees.unsupervised import attention_costs, plain_attention
from playground.corpora import pick
from playground.rng import generator
from tests.runs import learner_of, reviews


@pytest.fixture(scope="module")
def gold():
    tokens = draw_sentences(reviews(), 150, "held_out", generator(0, "sentences"))
    return gold_trees(tokens, reviews().label_names["pos"].index("PUNCT"))


def walked(heads):
    """Distances of a tree by walking it, the plain way."""
    neighbours = {k: set() for k in range(len(heads))}
    for k, head in enumerate(heads):
        if head >= 0:
            neighbours[k].add(head)
            neighbours[head].add(k)
    table = np.zeros((len(heads), len(heads)))
    for start in range(len(heads)):
        far, ring, seen = 0, {start}, {start}
        while ring:
            for k in ring:
                table[start, k] = far
            far, ring = far + 1, {n for k in ring for n in neighbours[k]} - seen
            seen |= ring
    return table


def test_distances_and_depths_are_those_of_a_walk(gold):
    for row in range(0, len(gold.heads), 7):
        length = int(gold.tokens.lengths[row])
        heads = gold.heads[row, :length].tolist()
        table = walked(heads)
        assert np.array_equal(gold.distances[row, :length, :length].numpy(), table)
        assert np.array_equal(gold.depths[row, :length].numpy(), table[heads.index(-1)])


def test_the_spanning_tree_is_the_cheapest_of_all_trees():
    costs = np.random.default_rng(0).random((5, 5))
    costs = costs + costs.T
    pairs = list(itertools.combinations(range(5), 2))

    def is_tree(edges):
        group = list(range(5))
        for a, b in edges:
            group = [group[a] if g == group[b] else g for g in group]
        return len(set(group)) == 1

    cheapest = min(filter(is_tree, itertools.combinations(pairs, 4)), key=lambda e: sum(costs[p] for p in e))
    assert spanning_tree(costs) == {frozenset(p) for p in cheapest}
    assert len(spanning_tree(np.zeros((4, 4)))) == 3, "costs of 0 are costs too"


def encoded(gold, dim=40, noise=0.05, seed=0):
    """States whose first dimensions hold the tree: a dimension for each arc to the root, under a random turn."""
    rows, width = gold.heads.shape
    arcs = torch.nn.functional.pad(gold._ancestors() * (gold.depths > 0)[..., None], (0, dim - width))
    at_root = (gold.heads < 0).float()[..., None]
    arcs[..., :width] -= torch.nn.functional.one_hot(at_root[..., 0].argmax(1), width)[:, None] * arcs[..., :width]
    turn = torch.linalg.qr(torch.randn(dim, dim, generator=generator(seed, "turn")))[0]
    hidden = arcs + noise * torch.randn(rows, width, dim, generator=generator(seed, "noise"))
    return hidden @ turn


def halves(gold):
    rows = torch.arange(len(gold.heads))
    return tuple(
        (which, GoldTrees(pick(gold.tokens, which), gold.heads[which], gold.counted[which]))
        for which in (rows[rows % 3 > 0], rows[rows % 3 == 0])
    )


def test_a_planted_tree_is_recovered_and_one_dimension_is_too_few(gold):
    (first, train), (second, test) = halves(gold)
    x, y = standardised(encoded(gold)[first], encoded(gold)[second], train.tokens.valid)
    wide = fit_distances(x, train, 32, generator(0), 120)
    found = score_distances(squared_distances(y @ wide), test)
    assert found.uuas > 0.95 > 0.9 > chain_uuas(test)
    assert found.spearman > 0.85
    narrow = fit_distances(x, train, 1, generator(0), 120)
    assert score_distances(squared_distances(y @ narrow), test).uuas < found.uuas - 0.1


def test_planted_depths_are_recovered(gold):
    (first, train), (second, test) = halves(gold)
    depth = gold.depths.sqrt()[..., None]
    states = torch.cat([depth, torch.randn(*gold.heads.shape, 7, generator=generator(3))], -1)
    states = states @ torch.linalg.qr(torch.randn(8, 8, generator=generator(4)))[0]
    found = fit_depths(states[first], train, 4, generator(0), 200)
    scores = score_depths((states[second] @ found).square().sum(-1), test)
    assert scores.spearman > 0.8 and scores.root > 0.9


def test_gold_distances_are_perfect_and_noise_is_not(gold):
    perfect = score_distances(gold.distances, gold)
    assert perfect.uuas == 1.0 and perfect.spearman == pytest.approx(1.0)
    noise = torch.rand(gold.distances.shape, generator=generator(0))
    assert uuas(noise, gold) < 0.6 and abs(score_distances(noise, gold).spearman) < 0.5


def test_rank_correlations_are_those_of_scipy():
    one, other = (torch.randint(5, (6, 9), generator=generator(k)).double() for k in (0, 1))
    wanted = [spearmanr(a, b).statistic for a, b in zip(one, other, strict=True)]
    assert np.allclose(rank_correlations(one, other), wanted)
    assert rank_correlations(torch.zeros(1, 4), other[:1, :4]).tolist() == [0.0]


def test_the_chain_joins_neighbours(gold):
    right = total = 0
    for row in range(len(gold.heads)):
        words = gold.counted[row].nonzero()[:, 0].tolist()
        edges = gold.edges(row)
        right += sum(frozenset(pair) in edges for pair in itertools.pairwise(words))
        total += len(edges)
    assert chain_uuas(gold) == right / total


def test_a_planted_head_that_attends_to_the_gold_head_finds_all_arcs(gold):
    weights = torch.nn.functional.one_hot(gold.heads.clamp(min=0), gold.heads.shape[1]).float()
    weights = weights * (gold.heads >= 0)[..., None]
    assert uuas(attention_costs(weights), gold) == 1.0


def test_a_tree_is_hung_from_its_root():
    edges = {frozenset(e) for e in ((0, 1), (1, 2), (2, 3))}
    assert rooted(edges, 1, 5) == [1, -1, 1, 2, -1]
    assert predicted_edges(torch.zeros(3, 3), torch.tensor([True, False, False])) == set()


def test_attention_of_a_plain_text_is_a_distribution_over_its_words(gold):
    weights = plain_attention(learner_of().model.eval(), gold.tokens)
    assert weights.shape[:3] == (1, 2, len(gold.heads))
    torch.testing.assert_close(weights.sum(-1), torch.ones(weights.shape[:-1]))
    assert float((weights * ~gold.tokens.valid[:, None, :]).abs().max()) < 1e-6
