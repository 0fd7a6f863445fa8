"""The Zoo page by value: its tables, timeline and cards as markup, and what is pressed in them; no browser."""

import re
from dataclasses import dataclass, replace
from itertools import pairwise

import pytest

from playground.models import LanguageModel
from playground.zoo import entries
from playground.zoo.surveys import TABLE_1
from tests.runs import every_entry
from widgets.app import main
from widgets.pages.zoo import ZooPage
from widgets.state.app import Tab
from widgets.state.zoo import VIEWS, ZooStore
from widgets.static.zoo import card, tables, timeline


@dataclass(frozen=True)
class Measured:
    """What the table of properties reads."""

    right_context: bool = True
    mismatch: float = 0.128
    generates: bool = False
    taught: float = 0.15
    step_ms: float = 12.34
    taught_us: float = 80.2
    parameters: int = 151_584


@pytest.fixture
def shown(store):
    return ZooPage(store)


def rows(markup):
    """The cells of each row of a table as plain text, by the name of the row."""
    found = re.findall(r'<tr data-row="(.*?)">(.*?)</tr>', markup)
    cells = {name: re.split(r"</t[hd]>", row)[:-1] for name, row in found}
    return {name: [re.sub(r"<[^>]*>", " ", cell).strip() for cell in row] for name, row in cells.items()}


def press(shown, act, name):
    shown.picture.pressed = [act, name, 1]


def test_table_1_is_complete_and_every_row_opens_its_card_its_objective_and_a_run(shown):
    made = shown.picture.markup
    assert list(rows(made))[:13] == list(TABLE_1) and len(rows(made)) == len(entries())
    assert rows(made)["GPT"][1:5] == ["Transformer", "✗", "✓", "LM"]
    assert (
        rows(made)["XLNet"][1].startswith("Two-stream Transformer") and "printed as decoder" in rows(made)["XLNet"][1]
    )
    pressed = set(re.findall(r'data-act="(\w+)" data-name="(.*?)"', made))
    assert pressed == {(act, tables.escape(name)) for act in ("entry", "objective", "train") for name in entries()}


def test_the_page_makes_no_model_until_a_card_is_opened(store, monkeypatch):
    monkeypatch.setattr(LanguageModel, "__init__", lambda *_, **__: pytest.fail("a model was made"))
    shown = main.PAGES["Zoo"](store)
    for view in VIEWS.values():
        store.zoo.view = view
        assert "BERT" in shown.picture.markup


def test_filters_hide_rows_without_sending_the_table_again(shown, store):
    before = shown.picture.markup
    store.zoo.search = "electra"
    assert shown.picture.shown == ["ELECTRA"] and shown.picture.markup is before
    assert f"1 of {len(entries())}" in shown.count.object
    store.zoo.search = "no such thing"
    assert shown.picture.shown == [] and "No system matches" in shown.missing.object
    for search, near in (("mT5", "T5"), ("GPT-4", "GPT-3")):
        store.zoo.search = search
        assert shown.picture.shown == [near] and f"{search}&#x27; is not here; nearest is" in shown.missing.object


def test_a_name_opens_a_card_with_its_diagram_and_the_diff_over_its_parent(shown, store):
    press(shown, "entry", "BERT")
    made = shown.card.markup
    assert store.zoo.entry == shown.picture.chosen == "BERT"
    assert "<del>left to right</del> → <ins>bidirectional</ins>" in made
    assert "Not the paper in: " in made and "<svg" in made and "BERT large" in made
    shown.card.pressed = ["entry", "GPT", 1]
    assert store.zoo.entry == "GPT"
    shown.card.pressed = ["entry", "", 2]
    assert (store.zoo.entry, shown.card.markup) == ("", "")


def test_what_is_pressed_goes_where_it_says(shown, store, monkeypatch):
    done = []
    monkeypatch.setattr(store, "train_entry", lambda name: done.append(("train", name)))
    for act in ("objective", "corpus"):
        press(shown, act, "GPT")
        done.append((act, store.page))
    press(shown, "train", "GPT")
    assert done == [("objective", 0), ("corpus", Tab.CORPUS), ("train", "GPT")]


@every_entry
def test_every_card_is_whole(name):
    entry = entries()[name]
    made = card.markup(entry)
    for tag in ("article", "svg", "p", "h3", "dl", "div", "small", "button", "text"):
        assert len(re.findall(rf"<{tag}[ >]", made)) == made.count(f"</{tag}>"), tag
    assert f'data-act="train" data-name="{tables.escape(name)}"' in made
    assert ("What it changed over" in made) == bool(entry.parent)
    drawn = [float(y) for y in re.findall(r'<rect x="[-\d.]+" y="([-\d.]+)"', made)]
    assert min(drawn) >= 0


def test_what_an_entry_says_is_text_and_never_markup():
    odd = replace(entries()["BERT"], idea="<img src=x>", data="<b>", paper="<i>")
    assert "<img" not in card.markup(odd) and "<b>" not in card.markup(odd) and "<i>" not in card.markup(odd)


def test_the_timeline_has_every_system_in_its_year_and_an_arrow_from_each_parent():
    made = timeline.markup()
    assert len(re.findall(r"<g data-row", made)) == len(entries())
    assert made.count("C") and len(re.findall(r'd="M[\d.]+ [\d.]+C', made)) == sum(
        bool(e.parent) for e in entries().values()
    )
    columns = timeline._columns(entries().values())
    positions, width = timeline._rects(columns)
    for entry in entries().values():
        position = positions[entry.name]
        assert 0 <= position.x <= width - position.width and position.y >= timeline.TOP
        if entry.parent:
            assert positions[entry.parent].x + positions[entry.parent].width < position.x, (
                "what came of it stands to the right"
            )
    for column in columns.values():
        heights = sorted(positions[entry.name].y for entry in column)
        assert all(after - before >= timeline.ROW - 0.01 for before, after in pairwise(heights))


def test_the_chosen_system_stands_out_with_its_ancestors_and_children():
    plain, chosen = timeline.markup(), timeline.markup("GPT-2")
    strong = 'stroke-width="2"'
    children = sum(entry.parent == "GPT-2" for entry in entries().values())
    ancestors = len([*timeline._ancestors("GPT-2")])
    assert (plain.count(strong), chosen.count(strong)) == (0, ancestors + children)


def test_properties_say_that_nothing_is_measured_until_it_is(store):
    store.zoo = ZooStore(lambda entry, seed: Measured(), view="properties", search="electra")
    shown = ZooPage(store)
    assert rows(shown.picture.markup)["ELECTRA"][1:8] == ["not measured yet"] * 7
    assert shown.measuring.layout.visible
    store.zoo.measure()
    store.zoo.measuring.wait()
    shown.poll()
    assert rows(shown.picture.markup)["ELECTRA"][1:8] == ["✓ yes", "13%", "✗ no", "15%", "12.3 ms", "80.2 µs", "152k"]
    assert rows(shown.picture.markup)["BERT"][1] == "not measured yet"
    assert shown.measuring.stop.disabled and not shown.measuring.begin.disabled


def test_why_something_could_not_be_measured_is_said(store):
    store.zoo = ZooStore(view="properties", search="electra")
    store.zoo.measured["ELECTRA"] = "It is <too> large."
    shown = ZooPage(store)
    shown.poll()
    assert "ELECTRA: It is &lt;too&gt; large." in shown.measuring.said.object
    assert rows(shown.picture.markup)["ELECTRA"][1] == "–"
