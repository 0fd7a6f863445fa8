"""Odd inputs, always the same: 400, and 2,000 with `--all`; `python -m tests.fuzz KIND SEED [CASES]` tries others."""

import os

import pytest
import torch

from tests.fuzz import KINDS

SAMPLED = 50
"""Cases of each kind without `--all`."""


@pytest.fixture(autouse=True)
def _as_it_was(monkeypatch):
    """Nothing is taken from the cache of the person who runs the tests, and no option outlives its case."""
    monkeypatch.setenv("XDG_CACHE_HOME", os.devnull)
    yield
    torch.set_num_threads(1)


@pytest.mark.parametrize("name", KINDS)
def test_odd_input_works_or_is_refused_in_a_sentence(name, pytestconfig):
    cases = KINDS[name].cases if pytestconfig.getoption("--all") else SAMPLED
    broken = [said for seed in range(cases) if (said := KINDS[name].breach(seed))]
    assert not broken, "\n".join([f"{len(broken)} of {cases} cases", *broken[:20]])


def test_there_are_two_thousand_cases():
    assert sum(kind.cases for kind in KINDS.values()) >= 2_000
