"""The state of the Zoo page: filters, links, measurements in the background, and what is opened from it."""

import threading
from dataclasses import dataclass

import pytest

from playground.errors import UserError
from playground.zoo import entries
from playground.zoo.surveys import TABLE_1, TABLE_2
from tests.runs import reviews
from widgets.app import main
from widgets.state.app import Tab
from widgets.state.zoo import ZooStore


@dataclass(frozen=True)
class Measured:
    """What a measurement gives, as far as the state looks at it."""

    name: str


def test_the_rows_of_a_table_come_first_and_every_entry_once():
    zoo = ZooStore()
    assert tuple(zoo.shown[:13]) == TABLE_1
    assert sorted(zoo.shown) == sorted(entries())
    zoo.view = "qiu"
    assert tuple(zoo.shown[:13]) == TABLE_2
    rest = [entries()[name].year for name in zoo.shown[13:]]
    assert rest == sorted(rest)


@pytest.mark.parametrize(
    ("filters", "names"),
    [
        ({"architecture": "static"}, {"C&W", "word2vec", "GloVe", "fastText"}),
        ({"representation": "static"}, {"C&W", "word2vec", "GloVe", "fastText"}),
        ({"architecture": "recurrent", "search": "2018 wikitext"}, {"ULMFiT"}),
        ({"architecture": "encoder and decoder", "objective": "Denoising"}, {"BART", "mBART", "T5"}),
        ({"search": "elmo"}, {"ELMo"}),
        ({"search": "ÉLMO bilm"}, {"ELMo"}),
        ({"search": "discriminator"}, {"ELECTRA"}),
        ({"search": "sentence order prediction"}, {"ALBERT", "ERNIE 2.0"}),
        ({"search": "masked language modelling 2020"}, set()),
        ({"search": "nothing has this"}, set()),
    ],
)
def test_filters_and_the_search_work_together(filters, names):
    assert set(ZooStore(**filters).shown) == names


def test_a_link_brings_everything_back_but_what_is_typed():
    zoo = ZooStore(view="timeline", entry="BERT", architecture="encoder", search="a")
    again = ZooStore(objective="Masking", entry="GPT")
    again.open(zoo.query())
    assert (again.view, again.entry, again.architecture, again.objective) == ("timeline", "BERT", "encoder", "any")
    assert ZooStore(search="a").query() == {}


@pytest.mark.parametrize("said", ["BERTT", "<b>", "", "survey", "²"])
def test_a_link_to_what_is_not_there_opens_as_a_fresh_visit(said):
    zoo = ZooStore()
    zoo.open({f"zoo.{name}": said for name in ("view", "entry", "architecture", "objective", "representation")})
    assert zoo.query() == {}


def test_the_page_and_its_choices_stand_in_the_address(store):
    main._open(store, "?page=zoo&zoo.entry=BERT&zoo.view=timeline")
    assert (store.page, store.zoo.entry, store.zoo.view, store.stage.view) == (Tab.ZOO, "BERT", "timeline", "table")
    assert "zoo.entry=BERT" in main._address(store) and "page=zoo" in main._address(store)
    main._open(store, "?page=9")
    assert (store.page, store.zoo.entry) == (0, "")


def test_what_is_shown_is_measured_once_and_a_refusal_stands_in_its_row():
    seen = []

    def measure(entry, seed):
        seen.append((entry.name, seed))
        if entry.name == "word2vec":
            raise UserError("It has no steps.")
        return Measured(entry.name)

    zoo = ZooStore(measure, architecture="static", search="word2vec")
    zoo.measure()
    zoo.measuring.wait()
    assert seen == [(name, 0) for name in zoo.shown]
    assert zoo.measured["word2vec"] == "It has no steps."
    zoo.measure()
    assert "has been measured" in zoo.trouble and len(seen) == len(zoo.shown)
    zoo.search = ""
    zoo.measure()
    zoo.measuring.wait()
    assert (zoo.trouble, len(seen), zoo.measured["fastText"]) == ("", 4, Measured("fastText")), "those that are new"


def test_rows_are_there_while_others_are_measured_and_stop_ends_it():
    go, begun = threading.Event(), threading.Event()

    def measure(entry, seed):
        if entry.name == "GPT":
            begun.set()
            go.wait(30)
        return Measured(entry.name)

    zoo = ZooStore(measure)
    zoo.measure()
    assert begun.wait(30)
    assert list(zoo.measured) == ["ELMo"]
    assert zoo.measuring.share == pytest.approx(1 / len(entries()))
    zoo.measuring.forget()
    go.set()
    zoo.measuring.wait()
    assert not zoo.measuring.busy and set(zoo.measured) <= {"ELMo", "GPT"}


def test_an_objective_opens_on_the_stage_as_the_entry_has_turned_it(store):
    store.page = Tab.ZOO
    store.show_objective("ELECTRA")
    assert (store.page, store.stage.view, store.stage.objective) == (0, "stage", "RTD")
    assert store.stage.settings == {}
    store.show_objective("GPT")
    assert (store.stage.objective, store.stage.settings) == ("LM", {})


def test_the_text_of_an_entry_opens_on_the_corpus_page(store):
    store.show_corpus("XLM")
    assert (store.page, store.corpus.source) == (Tab.CORPUS, entries()["XLM"].corpus)


def test_every_row_starts_a_run_with_its_entry(store, monkeypatch):
    monkeypatch.setattr("widgets.state.train.choice.open_corpus", lambda _: reviews())
    store.train_entry("GPT")
    assert (store.page, store.train.entry, store.train.session.run.entry.name) == (1, "GPT", "GPT")
    assert store.message.startswith("GPT trains on")
