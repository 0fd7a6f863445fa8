"""Runs of claims: over seeds and processes, with what is kept, and errors that stop no other claim."""

from dataclasses import replace
from zlib import crc32

import pytest

from playground.claims import claims, higher
from playground.claims.run import OutcomeRecord, key, measure, run
from playground.claims.verdict import shipped
from playground.errors import UserError
from tests.playground.claims.test_claim import CARD


def by_seed(lab, arm, seed):
    """A figure that needs no model."""
    return seed + (1.0 if arm.entry == "MLM" else 0.5 * seed / 10)


def broken(lab, arm, seed):
    """A figure that cannot be computed."""
    raise UserError("There is no such figure.")


QUICK, BROKEN = replace(CARD, name="T2", compute=by_seed), replace(CARD, name="T3", compute=broken)


def test_a_claim_ends_with_its_verdict():
    events = list(run([QUICK]))
    assert [event.finished for event in events] == [False] * 4 + [True]
    verdict = events[-1].verdict
    assert verdict["call"] == "agrees"
    assert verdict["values"] == {"A": [1.0, 2.0, 3.0, 4.0, 5.0], "B": pytest.approx([0, 1.05, 2.1, 3.15, 4.2])}
    assert verdict["fingerprint"] == QUICK.fingerprint
    assert verdict["runs"] == {"A": [""] * 5, "B": [""] * 5}


def test_two_processes_give_the_same_as_one():
    claims = [QUICK, replace(QUICK, name="T4", seeds=4)]
    one, two = (
        {event.claim.name: event.verdict["values"] for event in run(claims, workers) if event.verdict}
        for workers in (1, 2)
    )
    assert one == two
    assert set(one) == {"T2", "T4"}


def test_finished_seeds_are_not_run_again(tmp_path, monkeypatch):
    record = OutcomeRecord.open(tmp_path, resume=True)
    events = run([QUICK], record=record)
    next(events), next(events)
    events.close()
    again = OutcomeRecord.open(tmp_path, resume=True)
    assert [again.outcome(QUICK, seed) is not None for seed in range(3)] == [True, True, False]
    measured = []
    monkeypatch.setattr("playground.claims.run.measure", lambda _, job: measured.append(job[1]) or measure(None, job))
    assert list(run([QUICK], record=again))[-1].verdict["call"] == "agrees"
    assert measured == [2, 3, 4]
    assert again.verdict(QUICK)["values"]["A"] == [1.0, 2.0, 3.0, 4.0, 5.0]
    assert again.verdict(replace(QUICK, seeds=6)) is None


def test_what_a_seed_depends_on_is_in_its_key():
    assert key(QUICK, 0) == key(replace(QUICK, rules=(higher("A", "B", by=9),), seeds=9, title="Other"), 0)
    assert key(QUICK, 0) != key(QUICK, 1)
    assert key(QUICK, 0) != key(QUICK.turned({"steps": "5"}), 0)
    assert key(QUICK, 0) != key(BROKEN, 0)


def test_a_claim_that_cannot_be_run_stops_no_other(tmp_path):
    record = OutcomeRecord.open(tmp_path, resume=True)
    ended = {event.claim.name: event for event in run([BROKEN, QUICK], record=record) if event.finished}
    assert ended["T3"].verdict is None
    assert ended["T3"].error == "T3, seed 0: There is no such figure."
    assert ended["T2"].verdict["call"] == "agrees"
    assert record.outcome(BROKEN, 0) is None, "it is tried again next time"


def test_damaged_lines_are_left_out(tmp_path):
    list(run([QUICK], record=OutcomeRecord.open(tmp_path, resume=True)))
    path = tmp_path / OutcomeRecord.file
    path.write_bytes(path.read_bytes()[:-20] + b'\n{"key": 1}\n\xff\n')
    again = OutcomeRecord.open(tmp_path, resume=True)
    assert [again.outcome(QUICK, seed) is not None for seed in range(5)] == [True] * 4 + [False]


RUN_AGAIN = sorted((n for n, v in shipped().items() if v["seconds"] < 60), key=lambda name: crc32(name.encode()))[:8]
"""Eight of the verdicts that come with the program."""


@pytest.mark.slow
@pytest.mark.parametrize("name", RUN_AGAIN)
def test_a_verdict_that_comes_with_the_program_is_found_again(name):
    *_, last = run([claims()[name]], 2)
    assert last.error == ""
    assert last.verdict["call"] == shipped()[name]["call"]


@pytest.mark.slow
@pytest.mark.parametrize("name", claims())
def test_every_card_can_be_run(name, tmp_path, monkeypatch):
    """With two steps of training, which decide nothing."""
    monkeypatch.setenv("PLAYGROUND_HOME", str(tmp_path))
    claim = claims()[name]
    short = {"steps": 2, "tuning_steps": 2}
    arms = {
        arm: {**own, **{key: min(most, getattr(claim.sides[arm], key)) for key, most in short.items()}}
        for arm, own in claim.arms.items()
    }
    outcome = measure(None, (replace(claim, arms=arms), 0))
    assert outcome.error == ""
    assert outcome.values.keys() == claim.arms.keys()
