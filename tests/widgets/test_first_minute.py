"""The first minute of a visit, and what the page shows where there is nothing yet or something is missing."""

import re
from pathlib import Path

import bokeh
import panel as pn
import panel_material_ui as pmui
import pytest
import torch

from playground.corpora import open_corpus
from playground.models import LanguageModel
from playground.objectives import find_objective, objectives
from playground.trace.rebuild import SENTENCE, rebuild
from playground.training import Evaluated, Run, Started, train
from playground.training.session import Row
from playground.zoo import entry_named
from tests.runs import reviews
from widgets import browser
from widgets.animation.static_svg import svg
from widgets.app import main
from widgets.app import session as visit
from widgets.app.first_paint import first
from widgets.charts import loss
from widgets.charts.reference_run import RUN
from widgets.pages.model_bar import ModelBar
from widgets.pages.stage import StagePage
from widgets.state import stage as stage_module
from widgets.state.app import Store
from widgets.state.stage import SCENE, StageModel, StageStore
from widgets.theme import CHART_TYPE, LARGER, chart


def buttons(page):
    """The buttons of a page that can be seen, by their labels."""
    return {each.label: each for each in page.select(pmui.Button) if each.visible}


def test_a_row_of_the_table_is_one_address_away_and_so_one_way_back(tmp_path):
    visit = Store(tmp_path)
    main._open(visit, "")
    seen = [main._address(visit)]
    visit.stage.param.watch(lambda *_: seen.append(main._address(visit)), [*SCENE, "rebuilt", "view"])
    visit.stage.show("RTD")
    assert list(dict.fromkeys(seen)) == ["?view=table", "?objective=RTD"]
    visit.close()


def test_the_table_is_made_once_for_the_first_bytes_and_the_page(monkeypatch):
    made = []
    real = stage_module.table
    monkeypatch.setattr(stage_module, "table", lambda *asked: made.append(asked) or real(*asked))
    visit = StageStore(view="table")
    assert "today you am I" in first(visit)
    StagePage(visit)
    visit.show("PLM")
    visit.view = "table"
    assert len(made) == 1
    visit.text = "the cat saw the dog"
    assert visit.table()[0] == "the cat saw the dog" and len(made) == 2


def test_what_a_page_has_to_say_stands_there_before_anybody_could_press_below_it(tmp_path):
    visit = Store(tmp_path, page=2)
    tabs = main.Tabs(visit).layout
    said = [[pane.object for pane in place.select(pn.pane.HTML)] for place in tabs]
    assert any("None yet. Train RoBERTa on world first." in each for each in said[2])
    assert [len(each) for each in (said[0], said[1], said[3], said[4])] == [1, 1, 1, 1]
    assert "Train is being made" in said[1][0]
    visit.close()


def test_the_same_sentence_stands_under_a_second_objective_at_one_press():
    visit = StageStore(objective="LM")
    row = ModelBar(visit).layout
    shown = buttons(row)
    assert {"Same sentence as MLM", "Train this", "Train a small model now"} <= set(shown)
    assert "Next: why two streams?" not in shown, "first things first"
    shown["Same sentence as MLM"].clicks += 1
    assert [each["title"] for each in visit.record()["records"]] == ["LM", "MLM"]
    after = buttons(row)
    after["LM alone"].clicks += 1
    assert (visit.beside, visit.record()["title"]) == ([], "LM")
    visit.compare()
    after["Next: why two streams?"].clicks += 1
    assert (visit.objective, visit.frame, visit.beside) == ("PLM", "visibility", [])
    assert visit.record()["switch"]["question"].lower().startswith("why two streams")
    assert "Same sentence as LM" in buttons(row)


def test_what_is_pressed_changes_the_row_at_once_and_moves_no_button_that_stays():
    run = Run(entry_named("MLM"), reviews(), 0, torch.device("cpu"), steps=1, evaluate_every=1)
    learner = next(event.learner for event in train(run) if isinstance(event, Started))
    visit = StageStore()
    visit.attach(StageModel(learner, reviews()))
    row = ModelBar(visit).layout
    before = buttons(row)
    before["Step through one update"].clicks += 1
    during = buttons(row)
    assert list(during.values()) == list(before.values()), "each keeps its place"
    assert {label for label, button in during.items() if button.disabled} == {"Same sentence as LM", "Train this"}
    during["Back to the sentence"].clicks += 1
    assert buttons(row) == before and not any(button.disabled for button in before.values())
    during["Remove the model"].clicks += 1
    assert "Train a small model now" in buttons(row) and "Remove the model" not in buttons(row)


NEEDY = [o.name for o in objectives().values() if {"pair", "translation", "sentences", "distance"} & set(o.needs)]


@pytest.mark.parametrize("name", NEEDY)
def test_a_text_too_short_is_a_sentence_with_a_sample_one_press_away(name):
    visit = StageStore(text="word")
    visit.objective = name
    visit.param.update(text="word", pair="")
    if not visit.trouble.startswith(f"{name} needs "):
        assert visit.rebuilt.objective.name == name, "it makes something even of this"
        return
    visit.take_sample()
    assert (visit.trouble, visit.rebuilt.objective.name, visit.sample) == ("", name, None)


def test_the_sample_is_a_button_beside_the_sentence_only_while_it_helps():
    visit = StageStore(text="word", objective="sentence permutation")
    visit.text = "word"
    page = StagePage(visit).layout
    buttons(page)["Take a sample text"].clicks += 1
    assert visit.rebuilt.objective.name == "sentence permutation" and "Take a sample text" not in buttons(page)


def test_where_no_sample_helps_none_is_offered():
    visit = StageStore()
    visit.plan = "chosen=99"
    assert visit.trouble and visit.sample is None
    visit.take_sample()
    assert visit.text == SENTENCE


def test_a_model_that_hides_its_weights_says_so_and_still_guesses(monkeypatch):
    objective = find_objective("MLM")
    run = Run(entry_named("MLM"), reviews(), 0, torch.device("cpu"), steps=1, evaluate_every=1)
    learner = next(event.learner for event in train(run) if isinstance(event, Started))
    real = LanguageModel.forward
    monkeypatch.setattr(LanguageModel, "forward", lambda self, example, attn_weights=None: real(self, example))
    visit = StageStore(objective=objective.name)
    visit.attach(StageModel(learner, reviews()))
    frames = {frame["name"]: frame for frame in visit.record()["frames"]}
    assert "returns no attention weights" in frames["forward"]["caption"]
    assert visit.record()["numbers"]["attention"] == {} and visit.record()["numbers"]["guesses"]


def test_a_recorded_run_stands_faintly_until_there_is_one_of_ones_own():
    drawn = loss.loss_chart()
    assert drawn.recorded.visible and drawn.name.visible and str(drawn.name.text).startswith("recorded: RoBERTa")
    drawn.show([])
    assert drawn.recorded.visible, "a run that has not begun has nothing to show either"
    drawn.over("seconds")
    assert not drawn.recorded.visible
    drawn.over("steps")
    assert drawn.recorded.visible
    drawn.extend([Row(1, 5.0, None, 10, 0.1)])
    assert not drawn.recorded.visible and not drawn.name.visible


def test_the_recorded_run_is_what_training_gives():
    run = Run(
        entry_named(RUN.entry),
        open_corpus(RUN.corpus),
        RUN.seed,
        torch.device("cpu"),
        RUN.every,
        evaluate_every=RUN.every,
    )
    measured = [event.held_out for event in train(run) if isinstance(event, Evaluated)]
    assert measured == pytest.approx(RUN.held_out[:2], abs=0.15)


def test_charts_grow_with_the_screen_by_names_that_the_library_knows():
    sheet = str(chart(height=200).stylesheets[0])
    for px, times in LARGER.items():
        rule = sheet[sheet.index(f"(min-width: {px}px)") :].split("}")[0]
        assert f"min-height: {200 * times:g}px" in rule
        for name, size in CHART_TYPE.items():
            assert f"--bk-{name}-font-size: {size * times:g}px" in rule
    library = (Path(bokeh.__file__).parent / "server/static/js/bokeh.js").read_text(encoding="utf-8")
    assert '"--bk-"' in library and '_get_css_value("text-font-size")' in library
    for prefix in (name.removesuffix("text").replace("-", "_") for name in CHART_TYPE):
        assert not prefix or f'"{prefix}"' in library, "the words of an axis have a name of their own"


def test_two_languages_are_told_apart_on_every_token_and_one_is_not_marked():
    made = rebuild("TLM", "How are you", pair="Comment vas-tu").record()
    lanes = {lane["name"]: [cell.get("language", 0) for cell in lane["cells"]] for lane in made["frames"][-1]["lanes"]}
    assert lanes["original"] == [1, 1, 1, 2, 2]
    assert sorted(lanes["inputs"]) == lanes["inputs"] and set(lanes["inputs"]) == {1, 2}
    alone = rebuild("MLM", SENTENCE).record()["frames"]
    assert not any(cell.get("language") for each in alone for lane in each["lanes"] for cell in lane["cells"])
    drawn = svg(made)
    assert drawn.count('stroke-dasharray="4 2.5"') == lanes["original"].count(2) + lanes["inputs"].count(2)


def test_the_keys_that_the_train_page_lists_are_those_that_it_hears():
    source = Path(browser.__file__).with_name("shortcuts.js").read_text(encoding="utf-8")
    [buttons_line] = re.findall(r"^const BUTTONS = \{(.*)\};$", source, re.M)
    [list_line] = re.findall(r"^const LIST = \[(.*)\];$", source, re.M)
    heard = {key.strip() or "space" for key in re.findall(r'"?([\w ])"?: \[', buttons_line)} | {"f", "?"}
    listed = {key.lower() for key in re.findall(r'\["([^"]+)", "', list_line)}
    assert heard == listed


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
