"""What is not shown is not sent to the page."""

import panel as pn
import panel_material_ui as pmui
import pytest
from bokeh.models import Plot
from bokeh.plotting import figure

from widgets.app.main import PAGES
from widgets.pages.layout import accordion, column, tabs


def models(view):
    return len(view.get_root().references())


def test_the_parts_of_a_hidden_column_are_sent_when_it_is_first_shown():
    hidden, parts = column(visible=False), [pn.pane.HTML("a"), pn.pane.HTML("b")]
    made = column(*parts, visible=False)
    assert models(made) == models(hidden)
    made.visible = True
    assert list(made) == parts
    made.visible = False
    made.visible = True
    assert list(made) == parts


def test_parts_for_later_are_sent_once():
    part = pn.pane.HTML("a")
    made = column(part, later=True)
    assert not list(made)
    made.send()
    made.send()
    assert list(made) == [part]


def test_what_is_folded_away_is_sent_when_it_is_first_unfolded():
    first, second = pn.pane.HTML("a"), pn.pane.HTML("b")
    made = accordion({"first": first, "second": second})
    assert [list(position) for position in made] == [[], []]
    made.active = [1]
    assert [list(position) for position in made] == [[], [second]]
    made.active = [0, 1]
    assert [list(position) for position in made] == [[first], [second]]


def test_a_tab_is_brought_up_to_date_and_sent_when_it_is_first_opened():
    parts, opened = {"first": pn.pane.HTML("a"), "second": pn.pane.HTML("b")}, []
    made = tabs(parts, 1, lambda number: opened.append((number, list(made[number]))))
    assert [list(position) for position in made] == [[], [parts["second"]]]
    made.active = 0
    assert [list(position) for position in made] == [[parts["first"]], [parts["second"]]]
    assert opened == [(0, [])], "before it is sent"


@pytest.mark.parametrize(("name", "most"), [("Train", 2), ("Transfer", 0)])
def test_a_page_on_which_nothing_has_run_draws_only_charts_that_show_something(store, name, most):
    page = PAGES[name](store)
    assert len([part for part in page.layout.get_root().references() if isinstance(part, Plot)]) == most


def test_a_part_is_made_when_it_is_first_shown():
    made = []

    def part():
        made.append(pn.pane.HTML("a"))
        return made[-1]

    hidden = column(part, visible=False)
    assert (made, hidden.sent) == ([], False)
    for visible in (True, False, True):
        hidden.visible = visible
    assert list(hidden) == made and len(made) == 1


@pytest.fixture
def drawn(monkeypatch):
    """All figures that were built."""
    figures, build = [], figure.__init__

    def counted(self, *args, **looks):
        figures.append(self)
        build(self, *args, **looks)

    monkeypatch.setattr(figure, "__init__", counted)
    return figures


def test_a_chart_is_built_when_its_part_of_the_page_is_first_shown(store, drawn):
    page = PAGES["Train"](store)
    page.poll()
    assert len(drawn) == 2, "the loss and the probes, which are on screen"
    (folded,) = page.layout.select(pmui.Accordion)
    folded.active = [1]
    assert len(drawn) == 3, "the map of a curriculum"
    drawn.clear()
    page = PAGES["Transfer"](store)
    page.poll()
    assert not drawn
    unfold = next(toggle for toggle in page.layout.select(pmui.Toggle) if "strategy" in toggle.label)
    unfold.value = True
    assert len(drawn) == 1, "the plan that can be painted"
    unfold.value = False
    unfold.value = True
    assert len(drawn) == 1
