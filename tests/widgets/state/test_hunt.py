"""The state of the bug hunt: both runs of a case are trained, opened on the Inside page, and named."""

from dataclasses import replace

import pytest

from playground.hunt.grading import cases
from playground.hunt.questions import QUESTIONS
from widgets.pages.hunt import HuntView
from widgets.state import hunt as module
from widgets.state.app import Store, Tab


@pytest.fixture
def store(tmp_path, monkeypatch):
    short = {number: replace(fault, steps=3) for number, fault in cases().items()}
    monkeypatch.setattr(module, "case_of", short.__getitem__)
    store = Store(tmp_path / "runs")
    yield store
    store.close()


def train(store: Store) -> None:
    store.hunt.train()
    store.hunt.training.wait()
    assert store.hunt.training.error is None
    assert store.hunt.trouble == ""


def test_both_runs_are_trained_and_opened_side_by_side(store):
    train(store)
    sound, suspect = store.hunt.runs[1]
    assert (sound.faulty, suspect.faulty) == (False, True)
    store.open_suspects(1)
    assert store.page == Tab.INSIDE
    assert store.looked_into()["case 1, suspect"] == "case:1 suspect"
    assert store.open_subject(store.inside.subject).model is sound.learner.model
    assert store.open_subject(store.inside.others[0]).model is suspect.learner.model


def test_an_answer_is_graded_and_explained(store):
    hunt, page = store.hunt, HuntView(store)
    hunt.give()
    assert hunt.trouble.startswith("No fault is chosen yet")
    hunt.answer = hunt.fault.name
    hunt.give()
    assert hunt.solved == {1: True}
    page.poll()
    assert hunt.fault.thread in page.verdict.object
    if len(cases()) > 1:
        hunt.choose(2)
        hunt.answer = cases()[1].name
        hunt.give()
        assert hunt.solved == {1: True, 2: False}
        page.poll()
        assert cases()[2].thread not in page.verdict.object


def test_a_table_for_the_teacher_counts_cases_and_questions(store):
    hunt = store.hunt
    hunt.answer = hunt.fault.name
    hunt.give()
    for k, question in enumerate(QUESTIONS, 1):
        hunt.reply("before", k, question.choices[0])
        hunt.reply("after", k, question.right)
    before = sum(question.choices[0] == question.right for question in QUESTIONS)
    assert hunt.csv().decode().splitlines()[1] == f"this visit,1,1,{before},8,8,8"


def test_the_page_draws_both_runs_and_says_whether_the_law_holds(store):
    page = HuntView(store)
    train(store)
    page.poll()
    assert "Sound" in page.pair.object
    assert "Suspect" in page.pair.object
    store.hunt.answer = store.hunt.fault.name
    store.hunt.give()
    page.poll()
    assert "In the sound run it holds; in the suspect it does not hold." in page.verdict.object


def test_runs_that_are_gone_are_said(store):
    with pytest.raises(Exception, match="The runs of case 7 are gone"):
        store.hunt.run_of("7 suspect")
