"""Knobs of generated corpora on the Train page and on the Corpus page: controls, names, links; no browser."""

from types import SimpleNamespace

import panel_material_ui as pmui
import pytest
from panel.io.location import Location

from playground.corpora import open_corpus
from playground.corpora.sources import FEWEST, name_with_knobs, read_name, source_knobs, sources
from playground.corpora.tokenization import Tokenization
from playground.errors import UserError
from playground.knob import Knob, knobs
from playground.zoo import find_entry
from tests.runs import is_a_sentence
from widgets.app import main
from widgets.pages.corpus import CorpusPage
from widgets.pages.knobs import control, corpus_knobs
from widgets.pages.train.page import TrainPage
from widgets.state.app import Store
from widgets.state.corpus import CorpusStore
from widgets.state.train.choice import OWN_FILE, OWN_TEXT, load_corpus
from widgets.state.train.store import TrainStore

SOURCES = sources()
TOKENIZER = tuple(k for k in knobs(Tokenization) if k.name == "tokenizer")
WITH_KNOBS = [name for name, source in SOURCES.items() if source.settings is not None]


@pytest.fixture(autouse=True)
def _no_reading(monkeypatch):
    """Nothing is generated where a page only chooses."""
    monkeypatch.setenv("XDG_CACHE_HOME", "/dev/null")
    monkeypatch.setattr(CorpusStore, "_look", lambda *_: None)


def other(k):
    """A value of a knob that is not the one it has."""
    if isinstance(k.default, bool):
        return not k.default
    if k.choices:
        return next(choice for choice in k.choices if choice != k.default)
    return k.low if k.default != k.low else k.high


def turn(widget, value):
    """What the browser sends when a control is let go."""
    name = "value_throttled" if "value_throttled" in widget.param else "value"
    widget._process_events({"value": value, name: value})


def test_a_corpus_that_a_link_names_takes_the_refusal_of_the_one_before_away():
    store = TrainStore()
    store.choose_corpus("nothing such")
    assert "no corpus named" in store.trouble
    store.choose_corpus("bilingual(shared=0.5)")
    assert (store.corpus_name, store.trouble) == ("bilingual(shared=0.5)", "")


def test_a_knob_of_several_lines_is_an_area():
    one, several = (Knob("text", "", None, None, (), "", "", lines) for lines in (1, 4))
    assert isinstance(control(one), pmui.TextInput)
    assert (type(control(several)), control(several).rows) == (pmui.TextAreaInput, 4)


def test_there_are_corpora_with_knobs():
    assert {"bilingual", "parallel"} <= set(WITH_KNOBS)


@pytest.mark.parametrize("kind", [TrainStore, CorpusStore])
@pytest.mark.parametrize("name", WITH_KNOBS)
def test_every_knob_of_a_corpus_has_a_control_and_each_turn_names_another_corpus(kind, name):
    store = kind()
    column = corpus_knobs(store).layout
    store.param.update(**{kind.chosen_by: name})
    mine = store.known_knobs
    assert mine == (*knobs(SOURCES[name].settings), *(TOKENIZER if kind is TrainStore else ()))
    assert column.visible and len(column) == len(mine)
    assert [widget.value for widget in column] == [k.default for k in mine]
    assert store.corpus_name == name, "nothing is turned yet"
    for k, widget in zip(mine, [*column], strict=True):
        before = store.corpus_name
        turn(widget, other(k))
        assert store.corpus_name != before
        assert read_name(store.corpus_name)[1][k.name] == other(k)
        assert f"{k.name}=" in store.corpus_name
    turned = read_name(store.corpus_name)
    assert turned == (name, {k.name: other(k) for k in mine})
    for k, widget in zip(mine, [*column][: len(mine)], strict=True):
        turn(widget, k.default)
    assert store.corpus_name == name


@pytest.mark.parametrize("name", WITH_KNOBS)
def test_the_name_with_knobs_is_the_name_of_the_corpus_that_is_made(name):
    turned = {k.name: other(k) for k in source_knobs(name)}
    made = open_corpus(name_with_knobs(name, turned), tokens=FEWEST)
    assert made.name == name_with_knobs(name, turned)


@pytest.mark.parametrize("name", [*(n for n in SOURCES if n not in WITH_KNOBS), OWN_TEXT, OWN_FILE, "some/file.txt"])
def test_where_there_are_no_knobs_there_is_no_control_but_that_of_the_tokenizer(name):
    store, there = TrainStore(corpus=WITH_KNOBS[0]), TrainStore(corpus=name).known_knobs
    column = corpus_knobs(store).layout
    assert column.visible
    store.corpus = name
    assert there == (TOKENIZER if name != "some/file.txt" else ())
    assert column.visible == bool(there) and len(column) == len(there)
    assert store.corpus_name == name
    looking = CorpusStore(source=name)
    assert not corpus_knobs(looking).layout.visible, "that page has a tokenizer of its own"


def test_a_vocabulary_has_a_size_once_a_tokenizer_is_chosen():
    store = TrainStore()
    column = corpus_knobs(store).layout
    [kind] = column
    turn(kind, "bpe")
    assert len(column) == 2 and store.corpus_name == "world(tokenizer=bpe)"
    turn(column[1], 500)
    assert store.corpus_name == "world(tokenizer=bpe, vocab_size=500)"
    turn(column[0], "auto")
    assert len(column) == 1


@pytest.mark.parametrize("kind", ["characters", "bytes", "words"])
def test_a_pasted_text_and_an_uploaded_one_are_split_as_chosen(kind):
    store = TrainStore(corpus=OWN_TEXT, pasted="The cat sat on the mat . " * 40)
    store.corpus_knobs = {name: {"tokenizer": kind} for name in store.own}
    named = {"characters": "character", "words": "word"}.get(kind, kind)
    assert load_corpus(store).tokenizer.kind == named
    store.keep("own.txt", b"The cat sat on the mat . " * 40)
    store.corpus = OWN_FILE
    assert load_corpus(store).tokenizer.kind == named


def test_an_entry_brings_the_tokenizer_of_its_corpus_and_the_next_one_its_own(monkeypatch):
    store = TrainStore()
    monkeypatch.setattr(store, "begin", lambda: None)
    store.begin_with(find_entry("flair"))
    assert (store.corpus, store.corpus_name) == ("world", "world(tokenizer=characters)")
    store.begin_with(find_entry("BERT"))
    assert store.corpus_name == "world"
    store.corpus_knobs = {"world": {"tokenizer": "bpe"}}
    monkeypatch.setattr(store, "begin", lambda: "a session")
    store.begin_with(find_entry("GPT"))
    assert store.corpus_name == "world(tokenizer=bpe)", "what a person chose stays"


def test_knobs_are_remembered_by_corpus_and_both_pages_have_their_own():
    store = Store()
    for part, choice in ((store.train, "corpus"), (store.corpus, "source")):
        part.param.update(**{choice: "bilingual"})
    store.train.corpus_knobs = {"bilingual": {"shared": 0.5}}
    assert (store.train.corpus_name, store.corpus.corpus_name) == ("bilingual(shared=0.5)", "bilingual")
    store.train.corpus = "parallel"
    assert store.train.corpus_name == "parallel"
    store.train.corpus = "bilingual"
    assert store.train.corpus_name == "bilingual(shared=0.5)"


def test_a_share_is_told_in_per_cent_from_none_to_all():
    shared = corpus_knobs(TrainStore(corpus="parallel")).layout[0]
    assert isinstance(shared, pmui.FloatSlider)
    assert (shared.start, shared.end, shared.format) == (0.0, 1.0, "0%")


@pytest.mark.parametrize("value", [7.0, -0.1, float("nan")])
def test_what_lies_outside_a_knob_is_not_taken(value):
    store = TrainStore(corpus="parallel")
    shared = corpus_knobs(store).layout[0]
    turn(shared, value)
    assert store.corpus_name == "parallel" and shared.value == 0.1


def test_the_corpus_that_is_trained_on_has_the_knobs(monkeypatch):
    asked = []
    monkeypatch.setattr("widgets.state.train.choice.open_corpus", lambda name: asked.append(name))
    store = TrainStore(corpus="bilingual", corpus_knobs={"bilingual": {"second": 0.25, "verb_last": False}})
    load_corpus(store)
    assert asked == ["bilingual(verb_last=no, second=0.25)"]


def test_a_link_brings_the_knobs_back_and_one_without_them_takes_them_away():
    store = Store()
    store.train.param.update(corpus="bilingual", corpus_knobs={"bilingual": {"shared": 0.3}})
    store.corpus.param.update(source="parallel", corpus_knobs={"parallel": {"adjective_after": True}})
    store.page = 1
    address, opened = main._address(store), Store()
    main._open(opened, address)
    assert opened.train.corpus_name == "bilingual(shared=0.3)"
    assert opened.corpus.corpus_name == "parallel(adjective_after=yes)"
    assert opened.page == 1 and main._address(opened).endswith(address.removeprefix("?page=train"))
    main._open(opened, "?page=train")
    assert (opened.train.corpus_name, opened.corpus.corpus_name) == ("bilingual", "parallel")


def test_an_address_is_told_anew_where_a_knob_is_turned(monkeypatch):
    position, store = Location(), Store()
    monkeypatch.setattr(main, "pn", SimpleNamespace(state=SimpleNamespace(location=position)))
    main._link(store)
    store.train.param.update(corpus="parallel", corpus_knobs={"parallel": {"shared": 0.5}})
    assert "corpus=parallel%28shared%3D0.5%29" in position.search
    store.train.corpus = "world"
    assert "corpus=" not in position.search


@pytest.mark.parametrize(
    ("said", "right"),
    [
        ("bilingual(shared=7)", "between 0.0 and 1.0"),
        ("bilingual(shared)", "knob=value"),
        ("bilingual(speed=1)", "no knob 'speed'"),
        ("world(shared=0.5)", "has no knobs"),
        ("nothing such", "no corpus named"),
    ],
)
def test_a_link_that_is_wrong_says_so_and_changes_nothing(said, right):
    store = Store()
    main._open(store, f"?page=train&corpus={said}&source={said}")
    store.corpus.take()
    for trouble in (store.train.trouble, store.corpus.trouble):
        assert right in trouble
        assert is_a_sentence(trouble)
    assert (store.train.corpus_name, store.corpus.corpus_name) == ("world", "world")
    with pytest.raises(UserError):
        read_name(said)


def test_both_pages_have_the_controls_and_say_the_name():
    store = Store()
    train, corpus = TrainPage(store.train).layout, CorpusPage(store).layout
    store.train.param.update(corpus="parallel", corpus_knobs={"parallel": {"shared": 0.5}})
    store.corpus.source = "parallel"
    for page, value in ((train, 0.5), (corpus, 0.1)):
        [shared] = [w for w in page.select(pmui.FloatSlider) if w.label.startswith("shared")]
        assert shared.value == value
    labels = [button.label for button in train.select(pmui.Button)]
    assert any("on parallel(shared=0.5)" in (label or "") or label == "Hide settings" for label in labels)
