"""Sessions: a run in a thread that obeys at once, loses nothing and never dies in silence."""

import threading
import time
from dataclasses import replace
from itertools import pairwise

import pytest

from playground.errors import UserError
from playground.training import Session, train
from playground.training import session as session_module
from playground.training.events import Stepped
from tests.runs import becomes, held_out, losses, run_of, tiny

LONG = 1_000_000


@pytest.fixture
def begin():
    """Make sessions that are stopped when the test is over; no machine is so busy that a look is forgotten."""
    made = []

    def make(run=None, *more, watched_for=60.0, **values):
        made.append(Session(run or run_of(steps=LONG), *more, watched_for=watched_for, **values))
        return made[-1]

    yield make
    for session in made:
        session.stop()


def steps_of(session):
    return [r for r in list(session.rows) if r.loss is not None]


def reaches(session, step):
    return becomes(lambda: len(steps_of(session)) >= step)


def keeps_still(session, seconds=0.12):
    """Whether no row is added for a while."""
    rows = len(session.rows)
    return not becomes(lambda: len(session.rows) != rows, seconds)


# start, pause, step, stop


def test_a_session_runs_to_the_end_and_has_the_numbers_of_the_run(begin):
    looker = Looker()
    session = begin(run_of(evaluate_every=5), looker)
    assert (session.state, session.rows, session.learner) == ("ready", [], None)
    assert not session._thread.is_alive()
    session.start()
    assert becomes(lambda: session.state == "done")
    assert [step for _, step, _ in looker.looks] == [12], "nobody watched; only the last look, for whoever comes back"
    events = list(train(run_of(evaluate_every=5)))
    assert session.reason == "steps"
    assert [r.loss for r in steps_of(session)] == losses(events)
    assert [(r.step, r.held_out) for r in session.rows if r.loss is None] == held_out(events)
    assert session.unigram_entropy == session.run.corpus.unigram_entropy
    assert session.error == ""


def test_a_step_is_exactly_one(begin):
    session = begin()
    for number in range(1, 5):
        session.step()
        assert reaches(session, number)
        assert keeps_still(session, 0.06)
        assert len(steps_of(session)) == session.learner.step == number
        assert session.state == "paused"
    session.start()
    assert reaches(session, 8), "it goes on"
    session.step()
    assert becomes(lambda: session.state == "paused"), "a step of a running session pauses it"
    session.rest()
    assert keeps_still(session)


def test_steps_that_are_asked_for_at_once_are_all_taken(begin):
    session = begin()
    for _ in range(4):
        session.step()
    assert reaches(session, 4)
    assert keeps_still(session)
    for _ in range(100):
        session.step()
    session.pause()
    session.rest()
    taken = session.learner.step
    assert taken < 104, "a pause takes back what was asked for"
    session.step()
    assert reaches(session, taken + 1)
    assert keeps_still(session)
    assert len(steps_of(session)) == taken + 1


def test_however_it_is_driven_the_losses_are_those_of_an_uninterrupted_run(begin):
    session = begin(run_of("XLNet", steps=40, evaluate_every=7))
    session.step()
    assert reaches(session, 1)
    session.start()
    assert reaches(session, 4)
    session.rest()
    session.step()
    session.rest()
    session.start()
    session.pause()
    session.start()
    session.viewer.watch()
    assert becomes(lambda: session.state == "done")
    assert [r.loss for r in steps_of(session)] == losses(train(run_of("XLNet", steps=40)))


@pytest.mark.parametrize("drive", ["ready", "running", "paused", "stepped", "done"])
def test_stop_ends_the_thread_from_every_state(begin, drive):
    session = begin(run_of(steps=3 if drive == "done" else LONG))
    {"ready": lambda: None, "stepped": session.step}.get(drive, session.start)()
    if drive != "ready":
        assert reaches(session, 1)
    if drive == "paused":
        session.rest()
    if drive == "done":
        assert becomes(lambda: session.state == "done")
    for _ in range(2):
        session.stop()
    assert not session._thread.is_alive()
    rows = len(session.rows)
    session.start()
    session.step()
    session.pause()
    assert becomes(lambda: session.state == "done"), "what was stopped never trains again"
    assert (session.reason, len(session.rows)) == ("steps" if drive == "done" else "asked", rows)


@pytest.mark.guarded
@pytest.mark.slow
def test_two_sessions_at_once_do_not_disturb_each_other(begin):
    runs = [run_of("BART", steps=15, seed=seed) for seed in (0, 1)]
    sessions = [begin(run).start() for run in runs]
    assert becomes(lambda: all(s.state == "done" for s in sessions))
    assert [[r.loss for r in steps_of(s)] for s in sessions] == [losses(train(run)) for run in runs]


# rest


def test_after_a_rest_the_model_stands_still(begin):
    session = begin().start()
    for _ in range(5):
        assert reaches(session, len(steps_of(session)) + 1)
        session.rest()
        weights = {k: v.clone() for k, v in session.learner.model.state_dict().items()}
        step = session.learner.step
        assert keeps_still(session, 0.04)
        assert session.learner.step == step
        assert all(bool((v == weights[k]).all()) for k, v in session.learner.model.state_dict().items())
        session.start()


def test_a_paused_session_rests_only_once_its_step_is_done(begin):
    reached, told = threading.Event(), threading.Event()

    def slow(_run, events):
        for event in events:
            if isinstance(event, Stepped) and event.step == 3:
                reached.set()
                told.wait()
            yield event

    session = begin(record=slow).start()
    assert reached.wait(60) and not session.rests
    session.pause()
    try:
        assert (session.state, session.rests, len(steps_of(session))) == ("paused", False, 2)
    finally:
        told.set()
    assert becomes(lambda: session.rests)
    assert len(steps_of(session)) == 3 and keeps_still(session)
    session.start()
    assert not session.rests


@pytest.mark.parametrize("drive", ["ready", "paused", "done", "failed"])
def test_a_rest_where_nothing_runs_waits_for_nothing(begin, drive):
    session = begin(run_of(steps=1 if drive == "done" else LONG), fail if drive == "failed" else None)
    if drive != "ready":
        session.viewer.watch()
        session.start()
        assert reaches(session, 1)
    if drive == "paused":
        session.rest()
    if drive in ("done", "failed"):
        assert becomes(lambda: not session._thread.is_alive())
    session.rest()
    assert session.rests or not session._thread.is_alive(), "it waited to its end for a step that nobody takes"


# rows


def test_rows_only_grow(begin):
    session = begin(run_of(evaluate_every=3)).start()
    seen = []
    assert becomes(lambda: seen.append(list(session.rows)) or session.state == "done")
    final = session.rows
    assert all(rows == final[: len(rows)] for rows in seen)
    assert [len(rows) for rows in seen] == sorted(len(rows) for rows in seen)
    for name in ("step", "tokens", "seconds"):
        values = [getattr(r, name) for r in final]
        assert values == sorted(values)
    assert (final[0].step, final[0].tokens, final[0].loss) == (0, 0, None)
    assert all((r.loss is None) != (r.held_out is None) for r in final)


# looks


class Looker:
    """Remembers when it looked, at which step and in which thread."""

    def __init__(self):
        self.looks = []

    def __call__(self, learner):
        self.looks.append((time.monotonic(), learner.step, threading.current_thread()))
        return f"step {learner.step}"


def test_a_watched_session_is_looked_at_in_its_own_thread_a_few_times_a_second(begin):
    looker = Looker()
    session = begin(None, looker)
    session.viewer.watch()
    session.start()
    assert becomes(lambda: len(looker.looks) >= 3 or bool(session.viewer.watch()))
    moments = [moment for moment, _, _ in looker.looks]
    assert all(b - a >= 0.15 for a, b in pairwise(moments))
    assert {thread for _, _, thread in looker.looks} == {session._thread}
    assert [step for _, step, _ in looker.looks] == sorted(step for _, step, _ in looker.looks)


def test_looks_end_when_the_watching_ends(begin):
    looker = Looker()
    session = begin(None, looker, watched_for=1.0)
    session.viewer.watch()
    session.start()
    assert becomes(lambda: bool(looker.looks or session.viewer.watch()))
    assert becomes(lambda: not session.viewer.watched)
    looks = len(looker.looks)
    before = len(session.rows)
    assert not becomes(lambda: len(looker.looks) > looks + 1, 0.25)
    assert becomes(lambda: len(session.rows) > before), "training goes on at full speed"


def test_a_look_that_is_dear_is_taken_less_often(begin):
    """A look of 8 ms may take its share of the thread's time and no more."""
    looks = []

    def slow(learner):
        end = time.thread_time() + 0.008
        while time.thread_time() < end:
            pass
        looks.append(time.thread_time())

    session = begin(None, slow)
    session.viewer.watch()
    session.start()
    assert becomes(lambda: len(looks) >= 2)
    assert looks[1] - looks[0] >= 0.9 * 0.008 / session_module.LOOKING


def test_a_paused_session_is_looked_at_once_for_every_step(begin):
    looker = Looker()
    session = begin(None, looker)
    session.step()
    assert reaches(session, 1)
    session.rest()
    session.viewer.watch()
    assert becomes(lambda: session.viewer.view == "step 1")
    session.viewer.watch()
    assert not becomes(lambda: len(looker.looks) > 1, 0.4)


def test_looking_does_not_change_training(begin):
    session = begin(run_of(steps=30), lambda learner: learner.evaluate(learner_text(learner)))
    session.viewer.watch()
    session.start()
    assert becomes(lambda: session.state == "done")
    assert [r.loss for r in steps_of(session)] == losses(train(run_of(steps=30)))


def learner_text(learner):
    return run_of(steps=1).corpus.windows(learner.entry.recipe.seq_len, "held_out")


# errors


def fail(_learner):
    raise ValueError("the look went wrong")


def test_an_error_in_the_thread_is_told_and_ends_the_session(begin):
    session = begin(run_of(steps=LONG), fail)
    session.viewer.watch()
    session.start()
    assert becomes(lambda: session.state == "failed")
    assert session.error == "Training stopped: ValueError: the look went wrong"
    session.stop()
    assert not session._thread.is_alive()
    assert steps_of(session), "what was learnt until then is still there"


def test_a_refusal_in_the_thread_is_its_own_sentence(begin):
    session = begin(run_of(entry=tiny(seq_len=4096), steps=3)).start()
    assert becomes(lambda: session.state == "failed")
    with pytest.raises(UserError) as caught:
        list(train(session.run))
    assert session.error == str(caught.value)
    assert "Training stopped" not in session.error


def test_an_error_in_training_itself_is_told(begin, monkeypatch):
    def broken(*_):
        raise MemoryError("no room")

    monkeypatch.setattr(session_module, "train", broken)
    session = begin().start()
    assert becomes(lambda: session.state == "failed")
    assert session.error == "Training stopped: MemoryError: no room"


def test_a_run_that_cannot_be_saved_is_told_in_a_sentence(begin, tmp_path):
    (tmp_path / "file").write_text("in the way")
    session = begin(replace(run_of(steps=2), out=tmp_path / "file")).start()
    assert becomes(lambda: session.state == "failed")
    assert session.error.startswith("The checkpoint could not be written to ")
