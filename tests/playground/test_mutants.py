"""The faults of `tests/mutants.py` still fit the code they are seeded into."""

import pytest

from tests.mutants import HOME, MUTANTS, SUITES, killed


def test_there_are_enough_faults_and_each_is_another():
    assert len({(m.file, m.old, m.new) for m in MUTANTS}) == len(MUTANTS) >= 20
    assert len({m.fault for m in MUTANTS}) == len(MUTANTS)


def test_every_line_is_there_once():
    for mutant in MUTANTS:
        assert (HOME / mutant.file).read_text(encoding="utf-8").count(mutant.old) == 1, mutant.fault
        assert mutant.new != mutant.old, mutant.fault


def test_every_suite_that_must_notice_a_fault_is_there():
    assert [suite for suite in SUITES if not (HOME / suite).exists()] == []


@pytest.mark.parametrize(
    ("code", "failed", "caught"),
    [(1, ["FAILED a"], True), (0, [], False), (1, [], False), (2, ["FAILED a"], False), (4, [], False), (5, [], False)],
)
def test_a_fault_is_caught_only_where_a_test_failed(code, failed, caught):
    """Pytest says 1 where tests failed, 2 where it was stopped, 4 where it was called wrongly, 5 where it has none."""
    assert killed(code, failed) is caught
