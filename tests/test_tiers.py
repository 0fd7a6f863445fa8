"""The sample of `make test`: the same in every run, with every value of every list, and stable when a list grows."""

from itertools import product
from types import SimpleNamespace

import pytest

from tests import tiers


def calls_over(*lists, marks=()):
    """The cases of a test that is parametrised over some lists, as pytest makes them."""
    names = "abc"[: len(lists)]
    made = []
    for numbers in product(*(range(len(values)) for values in lists)):
        values = [values[k] for values, k in zip(lists, numbers, strict=True)]
        indices = dict(zip(names, numbers, strict=True))
        made.append(SimpleNamespace(indices=indices, id="-".join(map(str, values)), marks=marks))
    return made


NAMES = [f"objective {number}" for number in range(40)]


def ids(calls):
    return [call.id for call in calls]


def test_a_sample_meets_every_value_and_is_the_same_each_time():
    calls = calls_over(NAMES, range(6), "xyz")
    kept = tiers.cases("law", calls, whole=False, tier="sample")
    assert ids(kept) == ids(tiers.cases("law", calls, whole=False, tier="sample"))
    for name, values in zip("abc", (NAMES, range(6), "xyz"), strict=True):
        assert {call.indices[name] for call in kept} == set(range(len(values)))
    assert len(NAMES) <= len(kept) <= len(NAMES) + 6 + 3
    assert ids(kept) != ids(tiers.cases("another law", calls, whole=False, tier="sample")), "laws meet other pairs"


def test_a_new_entry_leaves_the_cases_of_the_others_as_they_are():
    before = tiers.cases("law", calls_over(NAMES, range(6)), whole=False, tier="sample")
    after = tiers.cases("law", calls_over([*NAMES, "new"], range(6)), whole=False, tier="sample")
    assert ids(before) == [each for each in ids(after) if "new" not in each]


@pytest.mark.parametrize(("whole", "tier"), [(True, "sample"), (False, "all")])
def test_what_is_whole_and_what_all_holds_is_every_case(whole, tier):
    calls = calls_over(NAMES, range(6))
    assert tiers.cases("law", calls, whole, tier) == calls


def test_few_combinations_and_lists_alone_are_not_sampled():
    for calls in (calls_over("ab", range(3)), calls_over(NAMES)):
        assert tiers.cases("law", calls, whole=False, tier="sample") == calls


def test_what_only_all_runs_is_left_out_and_a_glance_is_one_case():
    rest = SimpleNamespace(name="exhaustive")
    calls = [*calls_over("abc"), *calls_over("de", marks=(rest,))]
    assert ids(tiers.cases("law", calls, whole=False, tier="sample")) == ["a", "b", "c"]
    assert ids(tiers.cases("law", calls, whole=False, tier="all")) == ["a", "b", "c", "d", "e"]
    assert ids(tiers.cases("law", calls, whole=False, tier="quick")) == ["a"]
