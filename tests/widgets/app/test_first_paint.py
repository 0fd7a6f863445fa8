"""The first bytes of a visit, its address, and how long a visit waits for its browser."""

import re
from pathlib import Path

import panel as pn
import panel_material_ui as pmui
import pytest

from widgets.app import main
from widgets.app import session as visit
from widgets.app.first_paint import first
from widgets.browser import components as browser
from widgets.pages.stage import StagePage
from widgets.pages.train.page import RunButtons
from widgets.state.app import Store
from widgets.state.stage import survey
from widgets.state.stage.store import SCENE, StageStore
from widgets.state.train.store import TrainStore


def test_a_row_of_the_table_is_one_address_away_and_so_one_way_back(tmp_path):
    visit = Store(tmp_path)
    main._open(visit, "")
    seen = [main._address(visit)]
    visit.stage.param.watch(lambda *_: seen.append(main._address(visit)), [*SCENE, "rebuilt", "view"])
    survey.show(visit.stage, "RTD")
    assert list(dict.fromkeys(seen)) == ["?view=table", "?objective=RTD"]
    visit.close()


def test_the_table_is_made_once_for_the_first_bytes_and_the_page_of_all_visits(monkeypatch):
    survey._rows.cache_clear()
    made = []
    real = survey.rebuild.table
    monkeypatch.setattr(survey.rebuild, "table", lambda *asked: made.append(asked) or real(*asked))
    visit = StageStore(view="table")
    assert "today you am I" in first(visit)
    StagePage(visit)
    survey.show(visit, "PLM")
    visit.view = "table"
    assert len(made) == 1 and StageStore(view="table").table() is visit.table()
    visit.text = "the cat saw the dog"
    assert visit.table()[0] == "the cat saw the dog" and len(made) == 2


def test_what_a_page_has_to_say_stands_there_before_anybody_could_press_below_it(tmp_path):
    visit = Store(tmp_path, page=2)
    tabs = main.Tabs(visit).layout
    said = [[pane.object for pane in position.select(pn.pane.HTML)] for position in tabs]
    assert any("None yet. Train RoBERTa on world first." in each for each in said[2])
    assert [len(each) for each in (said[0], said[1], said[3], said[4])] == [1, 1, 1, 1]
    assert "Loading Train …" in said[1][0]
    visit.close()


def test_the_keys_that_the_train_page_lists_are_those_that_it_hears():
    source = Path(browser.__file__).with_name("shortcuts.js").read_text(encoding="utf-8")
    [commands_line] = re.findall(r"(?ms)^const COMMANDS = \{(.*?)^\};$", source)
    [list_line] = re.findall(r"(?ms)^const LIST = \[(.*?)^\];$", source)
    heard = {key.strip() or "space" for key in re.findall(r'"?([\w ])"?: \[', commands_line)} | {"f", "?"}
    listed = {key.lower() for key in re.findall(r'\["([^"]+)", "', list_line)}
    assert heard == listed


def test_every_command_of_a_key_is_that_of_a_button_whatever_stands_on_it(tmp_path):
    source = Path(browser.__file__).with_name("shortcuts.js").read_text(encoding="utf-8")
    [line] = re.findall(r"(?ms)^const COMMANDS = \{(.*?)^\};$", source)
    named = {name for some in re.findall(r"\[(.*?)\]", line) for name in re.findall(r'"([\w-]+)"', some)}
    buttons = RunButtons(TrainStore(tmp_path))
    there = {name for each in buttons.layout.select(pmui.Button) for name in each.css_classes or ()}
    buttons._resumes(True)
    there |= set(buttons.train.css_classes)
    assert there == {f"command-{name}" for name in named}


class Late:
    """A visit whose browser has not come yet, as the server keeps it."""

    def __init__(self):
        self.template_variables, self.session_context, self.later = {"dist_url": "static"}, self, {}
        self.session, self.blocked = self, 0

    def block_expiration(self):
        self.blocked += 1

    def unblock_expiration(self):
        self.blocked -= 1

    def add_timeout_callback(self, act, after):
        self.later[after] = act


@pytest.mark.parametrize("first_of_both", ["browser", "clock"])
def test_a_visit_is_kept_until_its_browser_has_come_or_a_minute_is_over(monkeypatch, first_of_both):
    late, acts = Late(), {}
    monkeypatch.setattr(type(main.pn.state), "curdoc", property(lambda _: late))
    monkeypatch.setattr(type(main.pn.state), "onload", lambda _, act: acts.update(browser=act))
    visit.wait_for_the_browser()
    assert late.blocked == 1, "else it ends after some seconds, and the scripts of a slow machine find nothing"
    acts["clock"] = late.later[visit.PATIENCE]
    acts.pop(first_of_both)()
    assert late.blocked == 0
    acts.popitem()[1]()
    assert late.blocked == 0, "it is let go once"
