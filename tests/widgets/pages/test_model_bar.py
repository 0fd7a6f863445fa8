"""The row of buttons below the sentence: a model, a second objective, a sample text."""

import panel_material_ui as pmui
import pytest
import torch

from playground.analysis import predictions
from playground.errors import MissingText, UnfitModel
from playground.models import LanguageModel
from playground.objectives import find_objective, objectives
from playground.trace import inputs
from playground.trace.rebuild import SENTENCE
from playground.training import Run, Started, train
from playground.zoo import entry_named
from tests.runs import reviews
from widgets.pages.model_bar import ModelBar
from widgets.pages.stage import StagePage
from widgets.state.stage import loaded_model, suggestions
from widgets.state.stage.model import StageModel
from widgets.state.stage.store import StageStore


def buttons(page):
    """The buttons of a page that can be seen, by their labels."""
    return {each.label: each for each in page.select(pmui.Button) if each.visible}


def test_the_same_sentence_stands_under_a_second_objective_at_one_press():
    visit = StageStore(objective="LM")
    row = ModelBar(visit).layout
    shown = buttons(row)
    assert {"Compare with MLM", "Train this", "Train a small model now"} <= set(shown)
    assert "Next: why two streams?" not in shown, "first things first"
    shown["Compare with MLM"].clicks += 1
    assert [each["title"] for each in visit.record()["records"]] == ["LM", "MLM"]
    after = buttons(row)
    after["LM alone"].clicks += 1
    assert (visit.compared, visit.record()["title"]) == ([], "LM")
    suggestions.compare(visit)
    after["Next: why two streams?"].clicks += 1
    assert (visit.objective, visit.frame, visit.compared) == ("PLM", "visibility", [])
    assert visit.record()["switch"]["question"].lower().startswith("why two streams")
    assert "Compare with LM" in buttons(row)


def test_the_button_says_so_where_it_trains_without_what_was_set_by_hand():
    visit = StageStore(objective="PLM")
    bar = ModelBar(visit)
    visit.plan = "order=3,1,2,4,5,6,7,8"
    bar.poll()
    assert "Train the plain PLM" in buttons(bar.layout)
    visit.plan = ""
    bar.poll()
    assert "Train this" in buttons(bar.layout)


def test_what_is_pressed_changes_the_row_at_once_and_moves_no_button_that_stays():
    run = Run(entry_named("MLM"), reviews(), 0, torch.device("cpu"), steps=1, evaluate_every=1)
    learner = next(event.learner for event in train(run) if isinstance(event, Started))
    visit = StageStore()
    loaded_model.attach(visit, StageModel(learner, reviews()))
    row = ModelBar(visit).layout
    before = buttons(row)
    before["Step through one update"].clicks += 1
    during = buttons(row)
    assert list(during.values()) == list(before.values()), "each keeps its place"
    assert {label for label, button in during.items() if button.disabled} == {"Compare with LM", "Train this"}
    during["Back to the sentence"].clicks += 1
    assert buttons(row) == before and not any(button.disabled for button in before.values())
    during["Remove the model"].clicks += 1
    assert "Train a small model now" in buttons(row) and "Remove the model" not in buttons(row)


def test_the_bundled_model_says_what_it_is_and_can_be_trained_on_replaced_and_removed():
    visit = StageStore(bundled=True)
    bar = ModelBar(visit)
    shown = buttons(bar.layout)
    assert {"Train longer", "Train a new one", "Step through one update", "Remove the model"} <= set(shown)
    assert "Next: why two streams?" not in shown and visit.model.card in bar.status.object
    shown["Remove the model"].clicks += 1
    away = buttons(bar.layout)
    assert {"Train a small model now", "Use the model of the app"} <= set(away) and "Train longer" not in away
    away["Use the model of the app"].clicks += 1
    assert buttons(bar.layout) == shown and visit.model.card in bar.status.object


NEEDY = [o.name for o in objectives().values() if {"pair", "translation", "sentences", "distance"} & set(o.needs)]


@pytest.mark.parametrize("name", NEEDY)
def test_a_text_too_short_is_a_sentence_with_a_sample_one_press_away(name):
    visit = StageStore(text="word")
    visit.objective = name
    visit.param.update(text="word", pair="")
    if not visit.trouble:
        assert visit.rebuilt.objective.name == name, "it makes something even of this"
        return
    suggestions.take_sample(visit)
    assert (visit.trouble, visit.rebuilt.objective.name, suggestions.sample(visit)) == ("", name, None)


def test_the_sample_is_a_button_beside_the_sentence_only_while_it_helps():
    visit = StageStore(text="word", objective="sentence permutation")
    visit.text = "word"
    page = StagePage(visit).layout
    buttons(page)["Use an example text"].clicks += 1
    assert visit.rebuilt.objective.name == "sentence permutation" and "Use an example text" not in buttons(page)


def test_the_sample_is_offered_whatever_the_refusal_says(monkeypatch):
    monkeypatch.setattr(inputs, "_lacks", lambda objective, need: MissingText("Il manque une phrase.", need))
    visit = StageStore(text="word", objective="sentence permutation")
    visit.text = "word"
    assert visit.trouble == "Il manque une phrase." and suggestions.sample(visit) is not None


def test_why_a_model_cannot_answer_is_said_without_the_remedy(monkeypatch):
    def refuse(*_):
        raise UnfitModel("No head for this", "buy another one")

    monkeypatch.setattr(predictions, "read", refuse)
    run = Run(entry_named("LM"), reviews(), steps=1)
    learner = next(event.learner for event in train(run) if isinstance(event, Started))
    visit = StageStore(objective="LM")
    loaded_model.attach(visit, StageModel(learner, reviews()))
    assert "cannot answer LM here: No head for this. Train a small model that can." in visit.silent


def test_where_no_sample_helps_none_is_offered():
    visit = StageStore()
    visit.plan = "chosen=99"
    assert visit.trouble and suggestions.sample(visit) is None
    suggestions.take_sample(visit)
    assert visit.text == SENTENCE


def test_a_model_that_hides_its_weights_says_so_and_still_guesses(monkeypatch):
    objective = find_objective("MLM")
    run = Run(entry_named("MLM"), reviews(), 0, torch.device("cpu"), steps=1, evaluate_every=1)
    learner = next(event.learner for event in train(run) if isinstance(event, Started))
    real = LanguageModel.forward
    monkeypatch.setattr(LanguageModel, "forward", lambda self, batch, attn_weights=None: real(self, batch))
    visit = StageStore(objective=objective.name)
    loaded_model.attach(visit, StageModel(learner, reviews()))
    frames = {frame["name"]: frame for frame in visit.record()["frames"]}
    assert "returns no attention weights" in frames["forward"]["caption"]
    assert visit.record()["numbers"]["attention"] == {} and visit.record()["numbers"]["guesses"]
