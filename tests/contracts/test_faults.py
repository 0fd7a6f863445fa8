"""Contracts of every fault of the bug hunt: a real thread, a law that it breaks, and an effect that is seen."""

import re
from dataclasses import replace
from statistics import fmean, stdev

import pytest

from playground.hunt import Fault, faults, train_suspect
from playground.hunt.effects import effects
from playground.hunt.fault import GROUPS

FAULTS = [pytest.param(fault, id=name) for name, fault in faults().items()]
ADDRESS = re.compile(r"https://github\.com/([\w.-]+/[\w.-]+)/(issues|pull|discussions|commit)/\w+(#\S+)?")


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_says_where_it_was_found_and_not_in_its_symptom_what_it_is(fault: Fault) -> None:
    assert fault.group in GROUPS
    found = ADDRESS.fullmatch(fault.thread)
    assert found
    assert found[1] == fault.repository
    assert fault.name.lower() not in fault.symptom.lower()
    assert all(text[-1] in ".!?" for text in (fault.symptom, fault.explanation, fault.law))


@pytest.mark.parametrize("fault", FAULTS)
def test_the_law_holds_in_the_sound_run_and_not_in_the_suspect(fault: Fault) -> None:
    short = replace(fault, steps=3)
    assert fault.holds(train_suspect(short, faulty=False))
    assert not fault.holds(train_suspect(short, faulty=True))


@pytest.mark.parametrize("fault", FAULTS)
def test_the_effect_is_above_three_standard_deviations_over_five_seeds_within_a_minute(fault: Fault) -> None:
    measured = effects()[fault.name]
    sound, faulty = measured["sound"], measured["faulty"]
    assert len(sound) == len(faulty) == 5
    assert abs(fmean(faulty) - fmean(sound)) > 3 * max(stdev(sound), stdev(faulty))
    assert measured["seconds"] / 2 < 60, "on two processors"
    assert measured["steps"] == fault.steps, "python benchmarks/hunt.py measures again"
