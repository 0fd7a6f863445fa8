"""The Inside page by value: its list, its chips, its pictures and files, and its address; no browser."""

import io
import re
import zipfile
from dataclasses import replace
from html import escape
from xml.etree import ElementTree

import numpy as np
import pytest

from playground.analysis.finding import (
    Bars,
    Coded,
    Curve,
    Finding,
    Matrix,
    Number,
    Rows,
    Scatter,
    Table,
    Tree,
    Words,
    difference,
)
from playground.analysis.inspection import battery
from playground.analysis.instrument import instruments
from playground.errors import UserError
from playground.training.observe.subjects import of_learner
from playground.training.system.turns import Turns
from playground.training.train_state import TrainState
from tests.runs import becomes, run_of, tiny
from widgets import inspect
from widgets.notebook import Inspected
from widgets.pages.inside import InsidePage
from widgets.state.app import Store, Tab
from widgets.state.inside import InsideStore
from widgets.state.quota import Quota
from widgets.static import findings


def subject_of(name="RoBERTa", seed=0):
    run = run_of(entry=tiny(name), seed=seed)
    return of_learner(TrainState.new(run.entry, run.corpus.tokenizer.words, seed, run.device), run.corpus)


@pytest.fixture
def inside():
    subjects = {"one": subject_of(), "two": subject_of(seed=1), "vectors": subject_of("word2vec")}
    return InsideStore(lambda key, to_read=True: subjects[key], lambda: "one")


def refuse(sentence):
    raise UserError(sentence)


def looked(inside):
    inside.look()
    inside.looking.wait()
    assert inside.looking.error is None
    return inside.found()


@pytest.fixture
def shown(store, inside, monkeypatch):
    monkeypatch.setattr(store, "inside", inside)
    monkeypatch.setattr(store, "looked_into", lambda: {"one": "one", "two": "two", "vectors": "vectors"})
    page = InsidePage(store)
    inside.opening.wait()
    page.poll()
    return page


DRAWN = {
    Bars: Table("b", {"n": ["x", "x<"], "v": [1.0, -2.0], "g": ["a", "b"]}, Bars("n", "v", "g"), lines={"chance": 0.5}),
    Curve: Table("c", {"x": ["p", "q"], "y": [1.0, 2.0], "l": [0.5, 1.0]}, Curve("x", "y", "", "l", "y")),
    Matrix: Table("m", {"r": ["a", "a"], "c": ["x", "y"], "v": [1.0, -1.0]}, Matrix("r", "c", "v")),
    Scatter: Table("s", {"x": [0.0, 1.0], "y": [1.0, float("nan")], "l": ["a", "b"]}, Scatter("x", "y", "l")),
    Tree: Table("t", {"w": ["a", "b", "c"], "h": [1, -1, 1], "g": [1, -1, 0]}, Tree("w", "h", "g")),
    Words: Table("w", {"w": ["a", "<b>"], "v": [0.1, -0.2]}, Words("w", "v")),
    Rows: Table("r", {"w": ["a", "<b>"], "v": [0.1, -0.2]}),
}  # fmt: skip


def test_the_last_name_below_a_curve_ends_within_the_picture():
    levels = ["embeddings", "layer 1", "final norm"]
    made = findings.curve(Table("c", {"level": levels, "y": [1.0, 2.0, 3.0]}, Curve("level", "y")))
    middle = float(re.search(r'x="([0-9.]+)"[^>]*>final norm<', made)[1])
    assert middle + findings.LETTER * len("final norm") / 2 <= findings.WIDE


@pytest.mark.parametrize("kind", findings.DRAWINGS)
def test_every_way_to_draw_makes_markup_that_escapes_words(kind):
    made = findings.markup(Finding("It is <so>.", (Number("n", 1.0, "u", {"chance": 0.5}),), (DRAWN[kind],)))
    ElementTree.fromstring(f"<div>{made}</div>")
    assert "<so>" not in made and "<b>" not in made.replace("<b>1</b>", "")


def test_matrices_of_the_same_cells_stand_side_by_side():
    """Three maps of one plane are compared cell by cell; another map and a plain table begin a new line."""
    cells = {"x": ["0", "1"], "y": ["0", "0"], "value": [0.25, 0.5]}
    first, second = (Table(name, cells, Matrix("y", "x", "value")) for name in ("accuracy", "forgetting"))
    other = Table("other", {**cells, "x": ["0", "2"]}, Matrix("y", "x", "value"))
    group, *rest = findings.pictures([first, second, other, Table("rows", cells)])
    assert group.startswith('<div class="side-by-side"><section>') and group.count("<section>") == 2
    assert "accuracy" in group and "forgetting" in group
    assert rest == [findings.picture(other), findings.picture(Table("rows", cells))]


def test_two_notes_on_the_data_are_seen_and_the_others_are_folded_away():
    made = findings.markup(Finding("So.", notes=("One <so>.", "Two.", "Three.", "Four.")))
    assert "One &lt;so&gt;. Two.<details><summary>More notes on the data (2)</summary>Three. Four.</details>" in made
    assert "details" not in findings.markup(Finding("So.", notes=("One.", "Two.")))


def test_many_maps_are_one_image_whose_parts_are_pressed_and_enlarged():
    position = np.indices((2, 3, 50, 50)).reshape(4, -1)
    names = [tuple(str(k + 1) for k in range(n)) for n in (2, 3, 50, 50)]
    maps = Matrix("query", "key", "w", "", "layer", "head")
    columns = {n: Coded(names[k], position[k]) for k, n in enumerate(("layer", "head", "query", "key"))}
    table = Table("maps", {**columns, "w": np.random.default_rng(0).random(15000)}, maps)
    grid = findings.matrix(table)
    assert grid.count("<image") == 1 and len(re.findall('data-name="[12],[123]"', grid)) == 6
    assert "layer 2, head 3: query down" in findings.matrix(table, "2,3")
    assert "query down" not in findings.matrix(table, "9,9")
    named = Coded(("none", "next word"), (position[1] == 2).astype(int))
    kinds = Matrix("query", "key", "w", "", "layer", "head", "pattern")
    labelled = findings.matrix(Table("maps", {**table.columns, "pattern": named}, kinds))
    assert re.findall('aria-label="layer ., head .: next word"', labelled) == [
        f'aria-label="layer {k}, head 3: next word"' for k in (1, 2)
    ]
    assert labelled.count(">next word</text>") == 2 and ": none" not in labelled


def test_the_instruments_are_listed_with_their_questions_and_what_cannot_run_with_its_reason(shown, inside):
    assert all(name in shown.list.markup for name in instruments())
    greyed = re.findall(r'aria-disabled="true">(.*?)<small>(.*?)</small>', shown.list.markup)
    assert greyed and all(reason.endswith(".") for _, reason in greyed)
    assert "attention" not in dict(greyed), "a transformer has heads"
    inside.subject = "vectors"
    inside.opening.wait()
    shown.poll()
    greyed = re.findall(r'aria-disabled="true">(.*?)<small>(.*?)</small>', shown.list.markup)
    assert ("attention", "There are no attention heads in a model of the kind static.") in greyed


def test_a_head_is_switched_by_its_chip_and_the_numbers_follow(shown, inside):
    shown.list.pressed = ["instrument", "switch off", 1]
    shown.poll()
    assert shown.side._button.label == "Settings: switch off"
    assert shown.chips.visible and 'data-name="layer1.head2"' in shown.chips.markup
    shown.chips.pressed = ["part", "layer1.head2", 1]
    inside.looking.wait()
    shown.poll()
    assert "Without layer1.head1, layer1.head2 the loss is" in shown.result.markup
    shown.chips.pressed = ["part", "layer1.head2", 2]
    inside.looking.wait()
    shown.poll()
    assert "Without layer1.head1 the loss is" in shown.result.markup
    assert inside.settings.parts == "layer1.head1"
    named = ["layer1.head1", "layer1.head2", "layer1.attention", "layer1.mlp"]
    assert re.findall('data-name="(.*?)"', shown.chips.markup) == named


def test_two_models_stand_side_by_side_with_their_difference_and_as_files(shown, inside):
    inside.param.update(instrument="heads one by one", others=["two"])
    made = looked(inside)
    found = made.found
    shown.poll()
    assert len(found) == 2 and "Difference: Change of the loss without each head" in shown.result.markup
    first, second = found.values()
    change = made.summary.tables[0].columns["change"]
    assert np.allclose(change, np.subtract(second.tables[0].columns["change"], first.tables[0].columns["change"]))
    names = zipfile.ZipFile(io.BytesIO(inside.csv())).namelist()
    every = (*found.values(), made.summary)
    assert len(names) == len(set(names)) == sum(len(each.tables) for each in every)


def test_two_models_of_one_name_are_told_apart_on_screen_and_in_the_files(inside):
    inside.open_one = lambda key, to_read=True: subject_of()
    inside.param.update(instrument="heads one by one", others=["two"])
    found = looked(inside).found
    name, other = found
    assert (name.endswith(" (1)"), other.endswith(" (2)")) == (True, True)
    names = zipfile.ZipFile(io.BytesIO(inside.csv())).namelist()
    assert len(names) == len(set(names)) == 3 * len(found[name].tables), "both, and their difference"


def test_steps_are_a_film_of_which_one_frame_is_seen_and_seeds_are_a_band(inside):
    early, last = inside.open_one("two"), inside.open_one("one")
    inside.open_one = lambda key, to_read=True: (
        replace(last, step=9, earlier={3: lambda: early.model}) if key == "one" else early
    )
    inside.param.update(instrument="heads one by one", over="steps", others=["two"])
    made = looked(inside)
    drawn = findings.inspection(made)
    assert list(made.found) == ["step 3", "step 9"], "the other model is not read"
    assert drawn.count('<input type="radio"') == drawn.count('class="frame ') == 2 and drawn.count(" checked>") == 1
    assert drawn.index(made.found["step 3"].headline) < drawn.index(made.summary.headline)
    inside.over = "seeds"
    assert inside.found() is None, "what was found over steps is no mean over seeds"
    band = looked(inside)
    assert "Mean over seeds: Change of the loss without each head" in findings.inspection(band)


def test_all_instruments_are_asked_at_once_and_the_list_says_what_they_found(shown, inside):
    inside.look_with_all()
    inside.looking.wait(120)
    shown.poll()
    asked = [each for each in battery() if not each.missing(inside.of("one"))]
    assert {each.name for each in asked} >= {"attention", "perplexity", "probing classifier"}
    assert all(inside.found(each) for each in asked)
    heading = inside.found(instruments()["perplexity"]).finding.headline
    assert f'<small class="answer">{escape(heading)}</small>' in shown.list.markup
    names = zipfile.ZipFile(io.BytesIO(inside.csv())).namelist()
    assert {name.partition("/")[0] for name in names} == {
        each.name for each in asked if inside.found(each).finding.tables
    }
    inside.open_one = lambda key, to_read=True: replace(subject_of(), step=7)
    inside.enter()
    inside.opening.wait()
    assert inside.found() is None, "the run has gone on, so what was measured is old"


def test_tables_of_other_rows_have_no_difference():
    one = Table("b", {"n": ["x"], "v": [1.0]}, Bars("n", "v"))
    assert difference(one, Table("b", {"n": ["y"], "v": [1.0]}, Bars("n", "v"))) is None
    assert difference(DRAWN[Tree], DRAWN[Tree]) is None


def test_the_address_brings_back_what_is_open_and_forgets_what_is_wrong(inside):
    inside.param.update(instrument="switch off", others=["two", "vectors"], over="seeds")
    inside.set("parts", "layer1.mlp")
    other = InsideStore(inside.open_one, inside.first)
    other.open(inside.query())
    assert (other.instrument, other.others, other.settings) == (inside.instrument, ["two", "vectors"], inside.settings)
    assert other.over == "seeds"
    other.open({"inside.instrument": "none such", "inside.set.texts": "many", "inside.over": "time"})
    assert other.query() == {} and "none such" in other.misread and "'time'" in other.misread
    other.open({"inside.instrument": "switch off", "inside.set.texts": "many"})
    assert other.query() == {"inside.instrument": "switch off"} and "many" in other.misread
    other.choose("switch off")
    assert not other.misread
    other.open({"inside.instrument": " Switch OFF "})
    assert (other.instrument, other.misread) == ("switch off", "")


def test_a_refusal_is_a_sentence_on_the_page(shown, inside):
    inside.instrument = "switch off"
    inside.set("parts", "layer9.head1")
    inside.look()
    inside.looking.wait()
    shown.poll()
    assert "There are 1 layers, counted from 1, and no number 9." in shown.said.object


def test_a_refusal_goes_with_what_was_asked_and_what_could_not_be_opened(shown, inside):
    inside.instrument = "switch off"
    inside.set("parts", "layer9.head1")
    inside.look()
    inside.looking.wait()
    inside.choose("attention")
    shown.poll()
    assert shown.said.object == "", "the other instrument was not asked yet"
    whole = inside.open_one
    inside.open_one = lambda key, to_read=True: refuse("It is gone.") if key == "two" else whole(key)
    for subject, said in (("two", "It is gone."), ("one", "")):
        inside.subject = subject
        inside.opening.wait()
        shown.poll()
        assert said in shown.said.object and bool(said) == bool(shown.said.object)


def test_a_model_that_was_not_there_yet_is_refused_no_more_once_it_is_measured():
    there = {}
    inside = InsideStore(
        lambda key, to_read=True: there.get(key) or refuse("There is no trained model yet."), lambda: "one"
    )
    inside.enter()
    inside.opening.wait()
    assert inside.refusal == "There is no trained model yet."
    there["one"] = subject_of()
    assert looked(inside) and inside.refusal == ""


def test_a_run_that_has_gone_on_is_opened_again_when_the_page_is_entered(store, shown, inside):
    assert inside.of("one") is inside.of("one")
    inside.open_one = lambda key, to_read=True: later
    later = subject_of(seed=2)
    store.page = Tab.INSIDE
    inside.opening.wait()
    assert inside.of("one") is later


def test_looking_inside_waits_for_its_turn_among_others(inside, tmp_path, monkeypatch):
    turns = Turns(1, 60.0)
    monkeypatch.setattr("widgets.state.app.InsideStore", lambda *_: inside)
    store, other = Store(tmp_path, Quota(turns)), turns.of(object())
    assert other.take()
    inside.look()
    assert becomes(lambda: store.position == 1) and store.busy and inside.found() is None
    other.leave()
    inside.looking.wait()
    assert inside.found() and not store.busy
    store.close()


def test_a_link_to_a_model_that_is_not_there_opens_the_first(shown, inside):
    inside.open({"inside.subject": "kept:gone", "inside.others": "kept:away|two", "inside.over": "time"})
    assert (inside.query(), shown.subject.value) == ({"inside.others": "two"}, "one")
    assert "'time'" in inside.misread and "There is no model 'gone', 'away' here" in inside.misread
    assert shown.others.value == ["two"] and "one" not in shown.others.options.values()
    shown.subject.value = "two"
    assert not inside.misread


def test_a_notebook_cell_shows_what_was_found_or_what_there_is(monkeypatch, inside):
    monkeypatch.setattr("widgets.notebook.inspection.open_subject", lambda name: inside.open_one(name))
    assert all(name in inspect("one")._repr_html_() for name in instruments())
    cell = inspect("one", "heads one by one", others="two", texts=2)
    assert isinstance(cell, Inspected) and len(cell.found) == 2 and cell.summary.tables
    assert cell.finding.headline in cell._repr_html_().replace("&#x27;", "'")
