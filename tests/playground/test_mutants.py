"""The faults of `tests/mutants.py` still fit the code they are seeded into."""

import pytest

from tests.mutants import HOME, MUTANTS


def test_there_are_enough_faults_and_each_is_another():
    assert len({(m.file, m.old, m.new) for m in MUTANTS}) == len(MUTANTS) >= 20
    assert len({m.fault for m in MUTANTS}) == len(MUTANTS)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda m: m.fault)
def test_the_line_is_there_once(mutant):
    assert (HOME / mutant.file).read_text(encoding="utf-8").count(mutant.old) == 1
    assert mutant.new != mutant.old
