"""Who trains when several share a machine: one line, one turn per owner, turns that end, and places that are told."""

from types import SimpleNamespace

import pytest

from playground.training import Session
from playground.training.system import turns
from playground.training.system.turns import NO_LINE, Turns
from tests.runs import becomes, run_of


@pytest.fixture
def clock(monkeypatch):
    """The clock of the turns, which only the test moves."""
    now = SimpleNamespace(seconds=0.0)
    monkeypatch.setattr(turns, "time", SimpleNamespace(monotonic=lambda: now.seconds))
    return now


def test_who_comes_first_trains_and_the_others_are_told_their_place(clock):
    line = Turns(at_once=2, seconds=3.0)
    some = [line.of(owner) for owner in "abcd"]
    assert [each.take() for each in some] == [True, True, False, False]
    assert [(each.position, each.trains) for each in some] == [(0, True), (0, True), (1, False), (2, False)]
    assert (line.training, line.waiting) == (2, 2)
    some[0].leave()
    assert [each.take() for each in some[2:]] == [True, False] and some[3].position == 1


def test_a_turn_ends_where_somebody_waits_and_goes_on_where_nobody_does(clock):
    line = Turns(at_once=1, seconds=3.0)
    first, second = line.of("a"), line.of("b")
    assert first.take()
    clock.seconds = 10.0
    assert first.take(), "nobody waits"
    assert not second.take()
    clock.seconds = 20.0
    assert not first.take() and first.position == 1, "the next one has the turn"
    assert second.take()
    clock.seconds = 22.0
    assert second.take() and not first.take(), "3 seconds are not over"


def test_every_owner_has_one_turn_at_a_time(clock):
    line = Turns(at_once=2, seconds=3.0)
    first, again, other = line.of("a"), line.of("a"), line.of("b")
    assert (first.take(), again.take(), other.take()) == (True, False, True)
    first.leave()
    assert again.take()


def test_nobody_is_left_behind(clock):
    line = Turns(at_once=2, seconds=1.0)
    some = {line.of(owner): 0 for owner in "abcdefg"}
    for tick in range(700):
        clock.seconds = tick / 10
        for each in some:
            some[each] += each.take()
    assert 1_300 <= sum(some.values()) <= 1_400, "both places are always taken"
    assert min(some.values()) > 0.7 * max(some.values())


def test_without_a_line_it_is_always_ones_turn():
    NO_LINE.leave()
    assert NO_LINE.take() and not NO_LINE.position


def test_a_session_waits_for_its_turn_pauses_out_of_the_line_and_ends_in_it():
    line, run = Turns(at_once=1, seconds=60.0), run_of(steps=6)
    before, session = line.of("before"), Session(run, in_line=line.of("me"))
    assert before.take()
    session.start()
    assert becomes(lambda: session.in_line.position == 1)
    assert session.state == "running" and not session.rows
    session.rest()  # returns at once: nothing is being computed
    before.leave()
    session.start()
    assert becomes(lambda: session.state == "done")
    assert becomes(before.take)
    assert session.rows[-1].step == 6 and line.waiting == 0
    other = Session(run, in_line=line.of("me")).start()
    assert becomes(lambda: other.in_line.position == 1)
    other.stop()
    assert (other.state, other.reason, line.waiting) == ("done", "asked", 0)


def test_a_paused_session_hands_its_turn_on():
    line = Turns(at_once=1, seconds=60.0)
    session, other = Session(run_of(steps=20_000), in_line=line.of("a")).start(), line.of("b")
    assert becomes(lambda: session.in_line.trains and session.rows)
    assert not other.take()
    session.pause()
    assert becomes(other.take)
    session.start()
    assert becomes(lambda: session.in_line.position == 1)
    session.stop()
