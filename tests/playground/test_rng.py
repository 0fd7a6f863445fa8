"""Seeds that never change."""

import re

import pytest
import torch

from playground.errors import UserError
from playground.rng import derive, generator


def test_seeds_are_the_same_on_every_machine_for_ever():
    assert derive(7, "corrupt", 12) == 8310127200425218854
    assert derive(0) == 7210762507766007076


def test_every_part_of_the_path_counts():
    paths = [(0,), (1,), (0, "a"), (0, "b"), (0, "a", 1), (0, "a", "1"), (0, 1, "a"), (0, "a1"), (0, ("a", 1))]
    seeds = [derive(*p) for p in paths]
    assert len(set(seeds)) == len(seeds)
    assert all(0 <= s < 2**63 for s in seeds)


def test_a_generator_is_fresh_every_time():
    one, other = generator(3, "x"), generator(3, "x")
    assert torch.equal(torch.rand(5, generator=one), torch.rand(5, generator=other))
    assert not torch.equal(torch.rand(5, generator=one), torch.rand(5, generator=generator(3, "x")))


@pytest.mark.parametrize("seed", ["3", "x", [1], None, 1.5])
def test_a_seed_that_is_no_whole_number_is_refused_by_name(seed):
    with pytest.raises(UserError, match=re.escape(f"seed is {seed!r}; it must be a whole number.")):
        generator(seed, "x")
