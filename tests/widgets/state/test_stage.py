"""F: the run goes on as a run of its own from the step that is shown, or a sentence says what F needs."""

import pytest

from tests.runs import becomes, reviews
from widgets.state.app import NO_RUN, SMALL_MODEL, Store
from widgets.state.stage import loaded_model
from widgets.state.stage.store import StageStore


@pytest.fixture
def store(tmp_path, monkeypatch):
    monkeypatch.setattr("widgets.state.train.choice.open_corpus", lambda _: reviews())
    store = Store(tmp_path)
    yield store
    store.close()


def test_without_a_run_a_sentence_says_what_it_forks_and_where(store):
    store.stage.edit({"do": "fork"})
    assert store.stage.said == NO_RUN and store.stage.record()["said"] == NO_RUN
    store.stage.edit({"do": "roll"})
    assert store.stage.record()["said"] == "", "it is said until something else happens"
    store.page = 1
    assert store.fork() == "There is no run to fork yet; press Train first."
    alone = StageStore()
    alone.edit({"do": "fork"})
    assert alone.said == NO_RUN


def test_on_the_train_page_the_run_is_forked_where_it_stands(store):
    session = begin(store)
    step = session.learner.step
    assert store.fork() == ""
    forked = store.train.session
    assert forked is not session and forked.learner.step >= step
    assert store.message.startswith(f"Forked at step {step}: ")
    assert store.train.name_of_run.endswith(f"-at{step}")


def test_on_the_stage_the_step_that_is_shown_is_forked_also_if_the_run_has_gone_on(store):
    session = begin(store)
    store.page = 0
    loaded_model.attach_trained(store.stage)
    shown = store.stage.model.learner.step
    session.step()
    assert becomes(lambda: session.learner.step > shown)
    store.stage.edit({"do": "fork"})
    assert (store.stage.said, store.page) == ("", 1)
    assert store.train.name_of_run.endswith(f"-at{shown}")


def test_a_small_model_of_the_stage_has_no_run(store):
    begin(store)
    store.page = 0
    loaded_model.attach_trained(store.stage)
    loaded_model.attach(store.stage, store.stage.model)  # a model that is lent by itself, as the small ones are
    store.stage.edit({"do": "fork"})
    assert (store.stage.said, store.page) == (SMALL_MODEL, 0)


def begin(store):
    """A run of BERT that has learnt for a step and rests."""
    store.page = 1
    session = store.train.begin()
    session.step()
    assert becomes(lambda: session.learner is not None and session.learner.step >= 1)
    session.rest()
    return session
