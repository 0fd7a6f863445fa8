"""The menus of models, texts and tasks: in groups, what a visitor brings first."""

import panel as pn
import panel_material_ui as pmui
import pytest

from playground.zoo import entries
from widgets.app import main
from widgets.pages.menus import FAMILIES, FROM_STAGE, model_groups
from widgets.state.app import Store


def menu(view, label: str) -> pmui.Select:
    """The menu with this label on a page."""
    return next(select for select in pn.panel(view).select(pmui.Select) if select.label == label)


def test_every_model_is_in_one_family_the_oldest_first():
    groups = model_groups("MLM")
    assert [*groups] == [FROM_STAGE, *FAMILIES.values()] and [*groups[FROM_STAGE]] == ["MLM"]
    families = [[*groups[heading].values()] for heading in FAMILIES.values()]
    assert sorted(name for names in families for name in names) == sorted(entries())
    for names in families:
        assert [entries()[name].year for name in names] == sorted(entries()[name].year for name in names)
    assert [*model_groups("BERT")] == [*FAMILIES.values()]


def test_the_menu_of_models_is_searched_and_follows_the_stage(tmp_path):
    store = Store(tmp_path)
    models = menu(main.PAGES["Train"](store), "system")
    assert models.searchable and "XLNet: PLM on pairs" in models.labels
    models.filter_str, models.value = "PLM", "XLNet"
    assert (store.train.entry, models.filter_str) == ("XLNet", "")
    store.train.entry = "text infilling"
    assert models.value == "text infilling" and models.groups[FROM_STAGE]


@pytest.mark.parametrize(("tab", "label", "own"), [
    ("Train", "corpus", ["my own text", "my own file", "the corpus on the Corpus page"]),
    ("Corpus", "corpus", ["my own text", "my own file"]), ("Transfer", "fine-tune on", ["my own labelled file"]),
])  # fmt: skip
def test_what_is_ones_own_stands_first_and_apart(tab, label, own, tmp_path):
    first, *others = menu(main.PAGES[tab](Store(tmp_path)), label).groups.values()
    assert first == own and len(others) == 1 and not set(own) & set(others[0])


@pytest.mark.parametrize("tab", ["Transfer", "Compress"])
def test_runs_that_came_meanwhile_are_offered_when_a_page_is_opened(tab, tmp_path, monkeypatch):
    store, came = Store(tmp_path), {"another run": "kept:another"}
    bases = menu(main.PAGES[tab](store), "trained model")
    monkeypatch.setattr(store, "bases", lambda: came)
    store.page = [*main.PAGES].index(tab)
    assert bases.options == came
