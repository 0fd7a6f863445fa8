"""The knobs of a model on the Train page: what is turned is what is trained."""

from dataclasses import replace

import param
import pytest

from playground.errors import UserError
from playground.zoo import entries
from playground.zoo.preset import FAST
from tests.runs import every_entry_or_kind
from widgets.pages.knobs import model_knobs
from widgets.state.train import choice
from widgets.state.train.store import TrainStore


def let_go(slider, value):
    """A slider that is let go at a value."""
    with param.edit_constant(slider):
        slider.param.update(value=value, value_throttled=value)


@pytest.fixture
def train(tmp_path):
    return TrainStore(tmp_path, entry="BERT", corpus="reviews", steps=2)


@every_entry_or_kind
def test_each_control_begins_where_the_entry_has_it(train, name):
    train.entry = name
    shown, model = model_knobs(train).controls, FAST(entries()[name]).model
    assert {knob: control.value for knob, control in shown.items()} == {k: getattr(model, k) for k in shown}
    assert ("heads" in shown) == (model.kind == "transformer")


def test_what_is_turned_is_what_is_trained_and_another_entry_keeps_its_own(train):
    controls = model_knobs(train).controls
    let_go(controls["layers"], 1)
    controls["positions"].value = "relative bias"
    controls["layer_sharing"].value = "all"
    expected = replace(FAST(entries()["BERT"]).model, layers=1, positions="relative bias", layer_sharing="all")
    assert train.next_run().entry.model == expected
    train.entry = "GPT"
    assert train.next_run().entry.model == FAST(entries()["GPT"]).model
    train.entry = "BERT"
    assert train.next_run().entry.model == expected


def test_a_recipe_brings_its_own_form_and_what_was_turned_stays(train):
    let_go(model_knobs(train).controls["layers"], 3)
    train.preset = "paper"
    model = choice.shaped(train).model
    assert (model.layers, model.norm_first, model.positions) == (3, False, "learned")
    assert model_knobs(train).controls["norm_first"].value is False


def test_recurrent_layers_have_their_own_knobs(train):
    view = model_knobs(train)
    view.controls["kind"].value = "lstm"
    assert "heads" not in view.controls and "weight_drop" in view.controls
    assert train.next_run().entry.model.kind == "lstm"


def test_sizes_that_do_not_fit_are_refused_in_a_sentence(train):
    controls = model_knobs(train).controls
    controls["width"].value = 48
    controls["heads"].value = 8
    assert choice.shaped(train).model.width == 48
    controls["width"].value = 32
    controls["heads"].value = 1
    assert (choice.shaped(train).model.width, choice.shaped(train).model.heads) == (32, 1)
    train.shapes = {"BERT": {"width": 24, "heads": 8}}
    with pytest.raises(UserError, match="width 24 does not fit 8 heads"):
        _ = choice.shaped(train)
