"""Drawing by the laws of chance: exact shares, orders, subsets, lengths, and noise that is fixed (objectives/ops)."""

from collections import Counter
from itertools import combinations, permutations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from playground.objectives.ops import sampling
from playground.objectives.ops.marked_spans import spread
from playground.rng import generator
from tests.laws import assert_law, poisson, uniform
from tests.oracles import masking as slow

# sets


@pytest.mark.parametrize("rows", [9, 6000])
def test_exact_selection_keeps_its_counts_among_ragged_candidates(rows):
    """Few rows are drawn by lot, many rows one mark after the other."""
    candidates = torch.rand((rows, 20), generator=generator(20)) < torch.linspace(0, 1, rows)[:, None]
    count = torch.randint(0, 6, (rows,), generator=generator(21))
    found = sampling.exactly(count, candidates, generator(22))
    assert not (found & ~candidates).any()
    assert torch.equal(found.sum(1), torch.minimum(count, candidates.sum(1)))


def test_exact_selection_takes_every_set_of_scattered_candidates_equally_often():
    candidates = torch.tensor([False, True, True, False, True, True, False]).expand(6000, 7)
    found = sampling.exactly(torch.full((6000,), 2), candidates, generator(23))
    sets = [tuple(row.nonzero().flatten().tolist()) for row in found]
    assert_law(Counter(sets), uniform(combinations((1, 2, 4, 5), 2)))


def test_subsets_are_uniform_and_sorted():
    found = sampling.subset(torch.full((12_000,), 3), torch.full((12_000,), 6), 3, generator(31))
    assert_law(Counter(map(tuple, found.tolist())), uniform(combinations(range(6), 3)))
    ragged = sampling.subset(torch.tensor([0, 1, 3]), torch.tensor([0, 4, 3]), 3, generator(32))
    assert ragged[0].tolist() == [0, 0, 0]
    assert ragged[1, 1:].tolist() == [4, 4]
    assert ragged[2].tolist() == [0, 1, 2]


def test_positions_come_sorted_as_if_drawn_and_sorted():
    """Two numbers below 3: equal pairs have the chance 1/9, the others 2/9."""
    found = sampling.sorted_positions(torch.full((12_000,), 2), torch.full((12_000,), 3), 2, generator(33))
    law = {(a, b): (1 if a == b else 2) / 9 for a in range(3) for b in range(a, 3)}
    assert_law(Counter(map(tuple, found.tolist())), law)


# orders


def test_numbers_come_in_every_order_equally_often_in_rows_of_any_length():
    number = torch.tensor([3, 0, 2]).repeat(6000)
    found = sampling.orders(10 * number, number, generator(29)).view(6000, 5)
    assert_law(Counter(map(tuple, found[:, :3].tolist())), uniform(permutations((30, 31, 32))))
    assert_law(Counter(map(tuple, found[:, 3:].tolist())), uniform(permutations((20, 21))))
    alike = sampling.orders(number, torch.tensor(3).expand(18_000), generator(30)).view(18_000, 3)
    assert_law(Counter(map(tuple, (alike - number[:, None]).tolist())), uniform(permutations(range(3))))


@pytest.mark.parametrize("rows", [8000, 8192])
def test_every_order_is_equally_likely_within_the_groups(rows):
    """Fewer numbers are sorted row by row, as many as `sampling.MANY` together."""
    assert (rows * 4 >= sampling.MANY) == (rows == 8192)
    found = sampling.shuffled(torch.zeros((rows, 4), dtype=torch.int32), generator(25))
    assert_law(Counter(map(tuple, found.tolist())), uniform(permutations(range(4))))
    group = torch.randint(0, 4, (rows, 4), generator=generator(26))
    assert (group.gather(1, sampling.shuffled(group, generator(27)).argsort(1)).diff(dim=1) >= 0).all()


# lengths


def test_bart_lengths_follow_poisson():
    drawn, number = sampling.poisson_budget(torch.full((8000,), 30), 3.0, generator(9))
    assert torch.equal(number, (drawn >= 0).sum(1))
    lengths = drawn[:, :4]  # far from the budget of 30, so that none of them is cut
    assert_law(Counter(lengths.clamp(max=8).flatten().tolist()), poisson(3.0, 8))


@pytest.mark.parametrize("mean", [0.5, 1.0])
def test_bart_lengths_follow_poisson_also_when_gaps_are_short(mean):
    """The last length is what is left of the budget: at most one more than chance, never a long rest."""
    drawn, _ = sampling.poisson_budget(torch.full((4000,), 50), mean, generator(10))
    assert_law(Counter(drawn[:, :12].clamp(max=4).flatten().tolist()), poisson(mean, 4))
    last = drawn.gather(1, (drawn >= 0).sum(1, keepdim=True) - 1)
    assert int(last.max()) <= 9


# noise that is fixed


@settings(max_examples=40)
@given(rows=st.lists(st.integers(0, 2**40), min_size=1, max_size=4), copy=st.integers(0, 50), salt=st.integers(0, 9))
def test_fixed_noise_is_a_hash_of_row_copy_position_and_salt(rows, copy, salt):
    overrides = [slow.fixed_noise(row, copy, 7, salt) for row in rows]
    row = torch.tensor(rows)
    assert sampling.fixed_noise(row, torch.full_like(row, copy), 7, salt).tolist() == overrides
    assert sampling.fixed_noise(row, torch.full_like(row, copy), 3, salt).tolist() == [w[:3] for w in overrides]


def test_fixed_noise_is_uniform_and_neighbours_do_not_go_together():
    row = torch.arange(2000)
    noise = sampling.fixed_noise(row, torch.zeros_like(row), 20, 1)
    assert_law(Counter((noise * 50).long().flatten().tolist()), uniform(range(50)))
    pairs = zip(
        (noise[:, :-1] * 6).long().flatten().tolist(), (noise[:, 1:] * 6).long().flatten().tolist(), strict=True
    )
    assert_law(Counter(pairs), uniform((a, b) for a in range(6) for b in range(6)))
    for other in (
        sampling.fixed_noise(row + 1, torch.zeros_like(row), 20, 1),
        sampling.fixed_noise(row, torch.ones_like(row), 20, 1),
        sampling.fixed_noise(row, torch.zeros_like(row), 20, 2),
    ):
        both = zip((noise * 6).long().flatten().tolist(), (other * 6).long().flatten().tolist(), strict=True)
        assert_law(Counter(both), uniform((a, b) for a in range(6) for b in range(6)))


# spans


@settings(max_examples=60)
@given(runs=st.lists(st.tuples(st.integers(0, 200), st.integers(0, 4)), max_size=12))
def test_the_positions_of_spans_follow_one_another_and_empty_spans_have_none(runs):
    begun, size = (torch.tensor([run[k] for run in runs], dtype=torch.long) for k in (0, 1))
    assert spread(begun, size).tolist() == [
        position for first, number in runs for position in range(first, first + number)
    ]
