"""What the parts of a page are made of: our scripts go to the browser as they are, and words are never hidden."""

import panel as pn
import pytest
from bokeh.document import Document
from panel.custom import ReactiveESM
from panel.models.esm import AnyWidgetComponent

from widgets.app import main
from widgets.panel_compat import Component


@pytest.mark.parametrize("name", main.PAGES)
def test_words_are_never_hidden_as_the_browser_fails_at_that_where_they_are_not_drawn_yet(store, name):
    panes = main.PAGES[name](store).layout.select(pn.pane.HTML)
    assert panes and all(pane.visible for pane in panes)
    for pane in panes:
        with pytest.raises(TypeError, match="onstant"):
            pane.visible = False


def test_the_browser_compiles_none_of_our_scripts(tmp_path):
    visit = Document()
    main.app(tmp_path).server_doc(visit)
    ours = list(visit.select({"type": AnyWidgetComponent}))
    assert len({model.class_name for model in ours}) > 5 and all(model.bundle for model in ours)
    by_module = {model.esm: model.bundle for model in ours}
    assert len(set(by_module.values())) == len(by_module), "two scripts under one name"


def test_every_part_with_a_script_of_ours_is_a_component():
    def kinds(kind):
        return {kind, *(below for each in kind.__subclasses__() for below in kinds(each))}

    assert {kind for kind in kinds(ReactiveESM) if kind.__module__.startswith("widgets")} <= kinds(Component)
