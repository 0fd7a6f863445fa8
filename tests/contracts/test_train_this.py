"""What "Train this" owes: every objective of the catalogue trains from the Stage page, and what is watched suits it."""

import os
import pickle
from dataclasses import replace
from functools import cache

import pytest

from playground.corpora import open_corpus
from playground.objectives import find_objective, objectives
from playground.trace.rebuild import guessed
from playground.training.observe.look import ProbeSentence
from playground.zoo import entry_named
from tests.runs import ROWS, becomes, sampled
from widgets.pages.train import numbers as numbers_module
from widgets.pages.train.runs import facts_of
from widgets.state import app as store_module
from widgets.state.app import Store
from widgets.state.stage import suggestions
from widgets.state.train import choice

A_SUM = "MLM + 0.5 SOP"
NAMES = (*objectives(), A_SUM)
STEPS = 2
BESIDE = {"pair": {"next", "other"}, "translation": {"translation", "other"}, "distance": {"next", "apart", "other"}}
"""The second texts of a row by what an objective needs."""

small_corpus = cache(lambda name: open_corpus(name, tokens=12_000))


def small(name):
    """The entry of a name with one narrow layer and short rows."""
    entry = entry_named(name)
    model = replace(entry.model, width=16, heads=2, layers=1)
    return replace(entry, model=model, recipe=replace(entry.recipe, seq_len=24, batch_size=8))


@pytest.fixture(scope="module")
def visit(tmp_path_factory):
    """One visit to the app, whose models and corpora are small."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", os.devnull)
        patch.setattr(store_module, "entry_named", small)
        patch.setattr(choice, "entry_named", small)
        patch.setattr(choice, "open_corpus", small_corpus)
        made = Store(tmp_path_factory.mktemp("visit") / "runs")
        made.train.param.update(steps=STEPS, device="cpu")
        yield made
        made.close()


def trained(visit, name):
    """The run that a click on "Train this" began, at its end."""
    visit.stage.objective = name
    suggestions.train_this(visit.stage)
    assert visit.train.trouble == ""
    session = visit.train.session
    assert becomes(lambda: session.state in ("done", "failed"))
    return session


@pytest.mark.parametrize("name", sampled(NAMES, (*ROWS, A_SUM)))
def test_every_objective_of_the_stage_trains_and_has_a_text_to_watch(visit, name):
    session = trained(visit, name)
    assert session.error == ""
    assert [row.step for row in session.rows if row.loss is not None] == [1, STEPS]
    assert session.run.entry.name == visit.train.entry == name
    assert becomes(lambda: session.viewer.view is not None)
    assert session.viewer.view.guesses, "something is asked of what is watched"
    suits(find_objective(name), session)
    asked = list(session.learner.evaluate(session._held_out))
    assert [q for q in session.run.entry.objective.target_names if q in asked] == asked, (
        "losses are told by their names"
    )


def test_the_losses_of_a_sum_are_told_by_the_names_of_what_is_asked(visit):
    session = trained(visit, A_SUM)
    numbers = numbers_module.numbers(session)
    first, second = ("pair", "hidden words")
    assert all(f"{what}, {name} (nats)" in numbers for what in ("loss", "held out") for name in (first, second))
    tested = [row for row in session.rows if row.held_out is not None][-1]
    assert dict(tested.more) == session.learner.evaluate(session._held_out)
    assert "nats (pair)" in facts_of(visit.train.kept()[-1], here=True)
    assert session.viewer.look.names_words
    assert not trained(visit, "NSP").viewer.look.names_words, (
        "frequencies of words are no level for a loss of two answers"
    )


def suits(objective, session):
    """What is watched has what the objective needs, and the page says which text it is."""
    text, origin = session.viewer.look.sentence, session.viewer.look.origin
    typed = origin.startswith("Watched: the typed sentence.")
    assert typed or "atched: a held-out" in origin or "atched instead: a held-out" in origin
    for need, beside in BESIDE.items():
        assert need not in objective.needs or beside <= set(text.neighbours)
    labels = {need.removeprefix("label:") for need in objective.needs if need.startswith("label:")}
    assert labels <= set(text.labels)
    assert typed or not objective.needs or f"from {session.run.corpus.name}" in origin
    assert not typed or ("is guessed" in origin) == bool(guessed(objective))


OWN = "Rosa likes the old bridge. She paints it."


@pytest.mark.parametrize(
    ("name", "beside"), [("MLM", set()), ("NSP", {"next", "other"}), ("MLM + NSP", {"next", "other"})]
)
def test_the_sentence_of_the_stage_is_the_one_that_is_watched(visit, name, beside):
    visit.stage.text = OWN
    session = trained(visit, name)
    words = session.viewer.look.sentence.vocabulary
    assert visit.train.sentence == OWN
    assert session.viewer.look.origin.startswith("Watched: the typed sentence.")
    assert [words[i] for i in session.viewer.look.sentence.ids[0].tolist()][:1] == ["rosa"]
    assert set(session.viewer.look.sentence.neighbours) == beside


def test_a_sentence_that_lacks_what_the_objective_needs_gives_way_to_a_row_that_has_it(visit):
    visit.stage.text = OWN
    session = trained(visit, "conditional LM")
    assert "needs the label 'topic'" in session.viewer.look.origin
    assert "Watched instead: a held-out text with its labels (topic) from world." in session.viewer.look.origin
    assert "topic" in session.viewer.look.sentence.labels


def test_the_text_that_a_person_chose_stays_where_it_suits_and_is_named_where_it_does_not(visit):
    visit.train.corpus = "reviews"
    assert trained(visit, "NSP").run.corpus.name == "reviews"
    assert visit.train.notice == ""
    session = trained(visit, "TLM")
    assert session.run.corpus.name == "parallel"
    assert "reviews" in visit.train.notice and visit.train.notice.endswith("So TLM is trained on parallel.")
    assert trained(visit, "MLM").run.corpus.name == "world", "what the app chose for another objective is no choice"
    assert visit.train.notice == ""


def test_a_look_can_be_sent_to_a_worker_without_the_corpus_it_was_cut_from(visit):
    session = trained(visit, "TLM")
    sent = pickle.dumps(ProbeSentence(session.viewer.look.sentence))
    assert len(sent) < 300_000
    assert pickle.loads(sent)(session.learner).guesses == session.viewer.look(session.learner).guesses
