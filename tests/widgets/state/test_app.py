"""Stores: the state of a visit, without a browser; what is wrong is a sentence and loses nothing."""

import base64
import html
import json
import os
import re
import threading
import zlib
from html import unescape
from pathlib import Path
from urllib.parse import parse_qsl, urlencode

import pytest
import torch

from playground.analysis.predictions import read
from playground.errors import UserError
from playground.finetuning.report.notebook import again
from playground.objectives import find_objective, objectives
from playground.objectives.ask.loss_mask import LossMaskOverride
from playground.objectives.choose.order import OrderOverride
from playground.objectives.plan_overrides import write
from playground.objectives.see.painted import AttentionMaskOverride
from playground.rng import generator
from playground.trace.inputs import said_by_hand
from playground.trace.overrides import natural
from playground.trace.rebuild import SENTENCE, rebuild
from playground.training import Run, Session, Started, train
from playground.training.store.bundled import OBJECTIVES
from playground.training.store.ready_made import weights_hash
from playground.zoo import entries
from tests.live import live_widget
from tests.papers.test_survey_table import ROWS
from tests.runs import (
    KINDS,
    alone,
    becomes,
    is_a_sentence,
    learner_of,
    reviews,
    run_of,
    same_weights,
    suited_reviews,
    tensors_of,
)
from tests.texts import tokens_for
from widgets import notebook
from widgets.animation.survey_table import ABOUT, table_data
from widgets.pages.stage import Notices, painted
from widgets.pages.train.curves import origin
from widgets.pages.train.page import _about
from widgets.state.app import Store
from widgets.state.stage import by_hand, loaded_model, suggestions, survey
from widgets.state.stage.model import StageModel
from widgets.state.stage.samples import listed
from widgets.state.stage.store import SCENE, StageStore
from widgets.state.stage.suggestions import NOTHING_COUNTS
from widgets.state.stage.texts import LONGEST_TEXT
from widgets.state.train import choice
from widgets.state.train.choice import OWN_FILE, OWN_TEXT
from widgets.state.train.store import TrainStore
from widgets.state.transfer.store import SHOWN_FIRST, TransferStore, base_of_session
from widgets.state.transfer.task_choice import OWN_FILE as TRANSFER_FILE


@pytest.fixture(autouse=True)
def _no_cache(monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", os.devnull)


def text(tokens=4_000):
    """The reviews as a person would paste them."""
    corpus = reviews(tokens)
    return corpus.tokenizer.join(corpus.ids.tolist()).replace("[SEP]", "\n\n")


# the stage

GUESSED = ("label:phrase", "label:mention", "label:language")
"""Labels that a typed text has by guess; the others only a corpus knows."""


@pytest.mark.parametrize("row", ROWS)
def test_the_stage_opens_every_row_as_the_survey_prints_it(row):
    name, _, inputs, targets = ROWS[row]
    store = StageStore(objective="LM")
    store.objective = name
    if row in ("NSP", "SOP"):  # the survey's Sent1 and Sent2 stand for any two; the stage shows two real ones
        inputs = inputs.replace("Sent1", store.text).replace("Next Sent", store.pair).replace("Sent2", store.pair)
    assert store.rebuilt.survey() == {"inputs": inputs, "targets": targets}


def test_a_second_text_comes_and_goes_with_the_objective_and_a_typed_one_stays():
    store = StageStore()
    store.objective = "TLM"
    assert (store.text, store.pair, store.paired) == ("How are you", "Comment vas-tu", True)
    store.objective = "MLM"
    assert (store.text, store.pair, store.paired) == (SENTENCE, "", False)
    store.objective = "NSP"
    store.pair = "They never came back"
    store.objective = "SOP"
    assert (store.pair, store.trouble) == ("They never came back", "")
    assert "never" in store.rebuilt.facts()["inputs"]
    store.pair = ""
    assert is_a_sentence(store.trouble)


@pytest.mark.parametrize("name", objectives())
def test_every_objective_can_be_put_on_the_stage(name):
    store = StageStore(text="I am happy to join . We walk with you today . Now it is late .")
    store.objective = name
    derived = ("label:capitalized", "label:recurring", "label:field")
    typed = (*GUESSED, *derived, *(f"label:{label}" for label in said_by_hand(objectives()[name])))
    if any(n.startswith("label:") and n not in typed for n in objectives()[name].needs):
        assert is_a_sentence(store.trouble)
        assert "label" in store.trouble
        return
    assert store.trouble == ""
    assert store.rebuilt.objective.name == name
    assert store.rebuilt.record()["frames"]
    counts = natural(store.rebuilt.batch)["scored"][0]
    store.edit(
        {"do": "paint", "matrix": "scored", "cells": [[0, k, False] for k, counted in enumerate(counts) if counted]}
    )
    assert store.trouble == "" and not store.rebuilt.verdict.leak
    assert not any(natural(store.rebuilt.batch)["scored"][0]), "with no answer scored nothing is asked"
    assert store.record()["frames"]


@pytest.mark.parametrize("name", ["inference", "InferSent", "discourse relation", "sentence distance", "text-to-text"])
def test_an_objective_opens_with_its_own_example_and_leaves_it_behind(name):
    """Nothing typed: the example and its plan; then another objective, and the text is the survey's again."""
    printed = find_objective(name).printed
    store = StageStore()
    store.objective = name
    assert (store.text, store.pair, store.plan) == (printed.text, printed.pair, write(printed.plan))
    assert store.trouble == ""
    assert store.rebuilt.signal["scored"] > 0
    store.objective = "MLM"
    assert (store.text, store.pair, store.trouble) == (SENTENCE, "", "")


def test_a_typed_pair_is_judged_by_the_plan():
    store = StageStore()
    store.objective = "inference"
    store.pair = "Nobody is there"
    assert "This pair has no label" in store.rebuilt.notice
    store.plan = "pair=contradiction"
    assert store.rebuilt.facts()["survey"]["targets"] == "contradiction"


BAD = [
    ("plan", "chosen=99", "99"),
    ("plan", "chosen=x", "'x'"),
    ("plan", "nope=3", "'nope'"),
    ("plan", "cut=3", "'cut'"),
    ("settings", {"mask_ratio": 7}, "mask_ratio is 7"),
    ("settings", {"nope": 1}, "'nope'"),
]


@pytest.mark.parametrize(("what", "value", "named"), BAD)
def test_what_cannot_be_shown_is_a_sentence_and_the_last_good_picture_stays(what, value, named):
    store = StageStore(text="We walk here now .")
    good, before = store.rebuilt, getattr(store, what)
    setattr(store, what, value)
    assert store.rebuilt is good
    assert is_a_sentence(store.trouble)
    assert named in store.trouble
    setattr(store, what, before)
    assert (store.trouble, store.rebuilt.text) == ("", "We walk here now ."), "it is over when it is put right"


def test_every_turn_of_a_knob_makes_a_new_picture():
    store = StageStore(text="We walk here now and never there .")
    seen = [store.rebuilt]
    for what, value in (("seed", 5), ("settings", {"mask_ratio": 0.9}), ("plan", "chosen=2"), ("text", "We walk .")):
        setattr(store, what, value)
        assert store.trouble == ""
        assert all(store.rebuilt is not old for old in seen)
        seen.append(store.rebuilt)
    assert store.rebuilt.seed == 5


def test_several_plan_keys_may_be_typed_with_spaces_or_semicolons():
    store = StageStore(text="We walk here now .")
    for plan in ("chosen=2,3 actions=mask,keep", "chosen=2,3; actions=mask,keep"):
        store.plan = plan
        assert store.rebuilt.facts()["inputs"] == "We [MASK] here now .".split()


def test_another_objective_forgets_the_knobs_and_the_plan_of_the_one_before():
    store = StageStore(text="We walk here now .")
    store.param.update(settings={"mask_ratio": 0.5}, plan="chosen=2")
    store.objective = "PLM"
    assert (store.settings, store.plan, store.trouble) == ({}, "", "")
    assert store.rebuilt.objective.name == "PLM"


def test_a_very_long_text_is_cut():
    store = StageStore(text="word " * 100_000)
    assert store.trouble == ""
    assert len(store.rebuilt.text) == LONGEST_TEXT


def test_undo_and_redo_walk_through_the_scenes_and_a_new_edit_ends_the_way_forth():
    store = StageStore()
    store.edit({"do": "choose", "word": 5})
    store.edit({"do": "roll"})
    plans = [store.plan]
    for way in ("undo", "undo", "undo", "redo"):
        store.edit({"do": way})
        plans.append(store.plan)
    assert plans == [
        "",
        "chosen=3,5,8 actions=mask,mask,mask",
        "chosen=3,8",
        "chosen=3,8",
        "chosen=3,5,8 actions=mask,mask,mask",
    ]
    assert store.seed == 0
    store.objective = "PLM"
    assert not store.record()["can"]["redo"]
    store.edit({"do": "undo"})
    assert (store.objective, store.rebuilt.objective.name, store.plan) == ("MLM", "MLM", plans[1])


def test_letters_typed_one_after_the_other_are_one_step_back():
    store = StageStore(text="We walk")
    for end in (" h", " he", " her", " here"):
        store.text = f"We walk{end}"
    store.edit({"do": "undo"})
    assert store.text in ("We walk", "We walk h")
    store.edit({"do": "undo"})
    assert store.text == "We walk"


def test_a_painted_leak_lights_the_lamp_and_the_repair_puts_it_out():
    store = StageStore(objective="PLM")
    assert not store.record()["leak"]["leak"]
    store.edit({"do": "paint", "matrix": "query", "cells": [[7, 7, True], [0, 1, False]]})
    assert store.record()["leak"]["leak"] and store.record()["painted"] == {"query": [[0, 1], [7, 7]]}
    store.edit({"do": "paint", "matrix": "query", "cells": [[7, 7, False]]})
    assert not store.record()["leak"]["leak"] and store.record()["painted"] == {"query": [[0, 1]]}
    store.edit({"do": "unpaint"})
    assert store.record()["painted"] == {}
    store.edit({"do": "paint", "matrix": "query", "cells": [[99, 0, True]]})
    assert "100.1" in store.trouble


def test_scored_answers_by_hand_are_in_the_link_and_can_be_undone():
    store = StageStore(objective="LM")
    store.edit({"do": "paint", "matrix": "scored", "cells": [[0, 2, False]]})
    scored = [cell["scored"] for cell in store.record()["frames"][-1]["lanes"][-1]["cells"]]
    assert scored == [True, True, False, *[True] * 5]
    assert "In training, in every text: the answer at position 3 does not count." in painted(store)
    other = StageStore()
    assert store.query() == {"objective": "LM", "paint.scored": "1.3-"}
    other.open(store.query())
    assert other.painted == store.painted == {"scored": [(0, 2, False)]}
    assert by_hand.rules(other) == by_hand.rules(store) == (LossMaskOverride(skips=(3,)),)
    store.edit({"do": "undo"})
    assert store.painted == {}


@pytest.mark.slow
def test_train_anyway_brings_the_painted_mask_and_the_knobs_to_the_train_page(tmp_path):
    store = Store(tmp_path)
    store.stage.objective = "MLM"
    store.stage.edit({"do": "set", "knob": "mask_ratio", "to": 0.3})
    store.stage.edit({"do": "paint", "matrix": "encoder", "cells": [[2, 1, False], [5, 4, False]]})
    suggestions.train_anyway(store.stage)
    run = store.train.session.run
    assert (store.page, store.train.entry, run.entry.name) == (1, "MLM", "MLM")
    assert store.train.mask_overrides == run.entry.mask_overrides == (AttentionMaskOverride("encoder", (), (-1,)),)
    assert store.message.startswith("MLM with a mask by hand trains on ")
    assert run.entry.objective.knobs["mask_ratio"].default == 0.3
    assert "no position may see the one 1 to the left" in run.entry.objective.idea
    assert "no position may see the one 1 to the left" in _about(store.train), "the card says it"
    store.train.entry = "BERT"
    assert store.train.mask_overrides == () == store.train.chosen.mask_overrides
    store.close()


def test_an_order_by_hand_is_trained_with_and_a_cut_is_drawn_again(tmp_path):
    store = Store(tmp_path)
    store.stage.param.update(objective="PLM", view="stage")
    notices = Notices(store.stage)
    assert not notices.anyway.visible
    store.stage.plan = "order=8,7,6,5,4,3,2,1 cut=3"
    said = notices.text.object
    assert "In training, words 8, 7, 6, 5, 4, 3, 2 and 1 come in this order, the others as drawn, in every text" in said
    assert "set by hand (cut) is drawn again" in said and notices.anyway.label == "Train with an order by hand"
    order = store.stage.rebuilt.batch.prediction_order
    suggestions.train_anyway(store.stage)
    run = store.train.session.run
    assert (store.page, run.entry.mask_overrides) == (1, (OrderOverride((8, 7, 6, 5, 4, 3, 2, 1)),))
    text = store.stage.rebuilt.tokens
    assert torch.equal(run.entry.objective.batch(text, generator(0)).prediction_order, order), "what is drawn trains"
    store.close()


@pytest.mark.parametrize(
    ("objective", "plan", "what"),
    [
        ("PLM", "order=8,7,6,5,4,3,2,1 cut=3", "cut"),
        ("sentence shuffling", "order=2,1", "order"),
        ("MLM", "chosen=2,4", "chosen"),
    ],
)
def test_choices_that_training_draws_itself_are_said_before_it_begins(tmp_path, objective, plan, what):
    store = Store(tmp_path)
    store.stage.param.update(objective=objective, view="stage")
    notices = Notices(store.stage)
    assert "set by hand" not in notices.text.object, "the printed plan is nobody's choice"
    store.stage.plan = plan
    assert f"what you set by hand ({what})" in notices.text.object
    store.stage.plan = "order=one"
    assert store.stage.trouble in notices.text.object.replace("&#x27;", "'")
    store.stage.plan = ""
    assert "set by hand" not in notices.text.object
    store.close()


def test_mlm_and_plm_open_beside_each_other_in_one_step_and_say_how_they_differ(tmp_path):
    stage = Store(tmp_path).stage
    stage.objective = "NSP"
    suggestions.show_both(stage)
    assert (stage.view, stage.objective, stage.compared) == ("stage", "MLM", ["PLM"])
    mlm, plm = map(find_objective, ("MLM", "PLM"))
    said = [record["subtitle"] for record in stage.record()["records"]]
    assert said == [mlm.versus["PLM"], plm.versus["MLM"]]
    stage.compared = []
    assert stage.record()["subtitle"] == mlm.idea, "alone it says what it is"
    stage.go_back(-1)
    stage.go_back(-1)
    assert (stage.objective, stage.compared) == ("NSP", []), "one step back"


def test_answers_chosen_by_hand_are_trained_with_and_said_before(tmp_path):
    store = Store(tmp_path)
    store.stage.objective = "LM"
    store.stage.edit({"do": "paint", "matrix": "scored", "cells": [[0, 0, False], [0, 1, False], [0, 4, False]]})
    assert "the answers at positions 1 to 2 and 5 do not count" in painted(store.stage)
    assert "Train anyway" not in painted(store.stage), "nothing leaks"
    suggestions.train_anyway(store.stage)
    run = store.train.session.run
    assert (store.page, run.entry.mask_overrides) == (1, (LossMaskOverride(skips=(1, 2, 5)),))
    batch = run.entry.objective.batch(tokens_for(run.entry.objective), generator(0))
    scored = batch.targets[0].loss_mask
    assert not scored[:, [0, 1, 4]].any() and scored[:, [2, 3]].all()
    store.close()


def test_without_any_answer_nothing_is_trained_and_why_is_said():
    store, heard = StageStore(objective="NSP"), []
    store.trainer = lambda *asked: heard.append(asked)
    assert not by_hand.unasked(store)
    store.edit({"do": "paint", "matrix": "scored", "cells": [[0, 0, False]]})
    assert by_hand.unasked(store) and NOTHING_COUNTS in painted(store)
    suggestions.train_anyway(store)
    assert (heard, store.trouble) == ([], NOTHING_COUNTS)


@pytest.mark.slow
def test_in_a_notebook_the_digits_and_c_choose_and_a_cut_text_says_so():
    store = StageStore(text="go " * 500)
    widget = live_widget(store)
    first = [o.name for o in objectives().values() if o.row][:10]
    for number in (1, 6, 10):
        store.edit({"do": "objective", "to": number})
        assert store.objective == first[number - 1] and widget.record["title"] == store.objective
    assert widget.record["alone"]
    (left_out,) = widget.record["left_out"]
    assert left_out == {"text": "text", "used": 400, "tokens": 500, "said": str(store.rebuilt.left_out[0])}
    store.edit({"do": "compare"})
    assert store.compared == ["LM"] and [r["alone"] for r in widget.record["records"]] == [True, True]
    assert "2,000 characters" in live_widget(StageStore(text="word " * 500)).record["said"]


def test_the_table_says_what_it_leaves_out_of_a_long_text_also_of_the_second_one():
    text, done, refused = StageStore(text="go " * 100).table()
    assert table_data(text, done, refused)["subtitle"].endswith("The text has 100 tokens; only the first 64 are used.")
    assert table_data(*StageStore().table())["subtitle"] == ABOUT
    pair = rebuild("NSP", "go " * 10, pair="we " * 40).left_out
    assert [(each.text, each.used, each.tokens) for each in pair] == [("second text", 32, 40)]


def test_what_is_painted_in_a_mixture_is_for_the_part_on_the_stage():
    store = StageStore(objective="UniLM")
    store.plan = "part=3"
    store.edit({"do": "paint", "matrix": "encoder", "cells": [[2, 3, True]]})
    heard = []
    store.trainer = lambda *asked: heard.append(asked)
    suggestions.train_anyway(store)
    rules = (AttentionMaskOverride("encoder", (1,), part=3),)
    assert (heard, store.trouble) == ([("UniLM", {}, rules)], "")


def test_matrices_above_the_first_layer_cannot_be_painted_and_nothing_is_lost():
    store = StageStore(objective="PLM", settings={})
    store.edit({"do": "set", "knob": "streams", "to": "an order that turns round"})
    store.edit({"do": "paint", "matrix": "content above", "cells": [[0, 1, True]]})
    assert "first layer" in store.trouble and store.painted == {}
    store.edit({"do": "paint", "matrix": "content", "cells": [[2, 0, True]]})
    assert (
        store.record()["painted"] == {"content": [[2, 0]]}
        and store.rebuilt.batch.inputs.attn_mask.odd_layers is not None
    )


def test_reset_keeps_text_and_seed_and_an_empty_text_is_drawn_with_letters():
    store = StageStore(text="we walk here now")
    before = store.record()["plan"]
    store.edit({"do": "set", "knob": "mask_ratio", "to": 0.5})
    store.edit({"do": "choose", "word": 1})
    store.edit({"do": "paint", "matrix": "encoder", "cells": [[0, 1, False]]})
    store.edit({"do": "reset"})
    assert (store.settings, store.painted, store.plan, store.record()["plan"]) == ({}, {}, "", before)
    for empty in (StageStore(text=" "), store):
        empty.text = ""
        assert empty.record()["text"] == list("abcdefgh") and "There is no text yet" in empty.trouble
        assert empty.table()[0] == "a b c d e f g h"
    store.text = "we walk here now"
    assert store.record()["plan"] == before and store.trouble == ""


LINKS = [
    {},
    {"objective": "PLM"},
    {"text": ""},
    {"text": "We walk here now .", "plan": "chosen=2"},
    {"plan": ""},
    {"seed": 3, "settings": {"mask_ratio": 0.0, "add_special_tokens": True}},
    {"objective": "T5 spans", "settings": {"match_released_code": False, "noise_density": 0.4}},
    {"painted": {"encoder": [(0, 1, False), (2, 2, False)]}},
    {"objective": "PLM", "painted": {"query": [(7, 7, True)]}},
    {"compared": ["PLM", "LM"], "same_plan": False},
    {"objective": "TLM", "pair": "Où vas-tu"},
    {"objective": "MLM + 0.5 LM"},
    {"text": "", "view": "table"},
]


@pytest.mark.parametrize("values", LINKS)
def test_a_link_brings_the_exact_state_back_and_holds_only_what_differs(values):
    store = StageStore()
    for name, value in values.items():
        setattr(store, name, value)
    query = dict(parse_qsl(urlencode(store.query()), keep_blank_values=True))
    again = StageStore(text="something else", seed=9) if not values else StageStore()
    again.open(query)
    if values:
        assert {k: getattr(again, k) for k in SCENE if k != "settings"} == {
            k: getattr(store, k) for k in SCENE if k != "settings"
        }
        assert again.query() == store.query()
        assert again.trouble == store.trouble
    else:
        assert query == {}


def test_a_link_holds_nothing_that_is_as_it_opens():
    store = StageStore()
    store.objective = "PLM"
    assert store.query() == {"objective": "PLM"}
    store.settings = {"partial_prediction_k": 6.0}
    assert store.query() == {"objective": "PLM", "plan": ""}, "who turns a knob wants to see the dice"


@pytest.mark.parametrize(
    "query",
    [
        {"seed": "x"},
        {"objective": "nope"},
        {"set.nope": "0.3"},
        {"paint.encoder": "zz"},
        {"compared": "nope"},
        {"plan": "chosen=99"},
        {"paint.nope": "1.1+"},
    ],
)
def test_a_broken_link_opens_and_says_what_is_wrong(query):
    store = StageStore()
    store.open(query)
    assert store.rebuilt is not None
    assert store.trouble == "" or is_a_sentence(store.trouble)
    unknown = query.get("objective") == "nope" or query.keys() & {"paint.nope", "set.nope"}
    assert ("nope" in store.trouble) == bool(unknown)


def test_objectives_beside_share_the_plan_where_they_have_its_keys():
    store = StageStore(text="We walk here now with you .")
    store.param.update(plan="chosen=2,4 actions=mask,mask")
    store.compared = ["RTD", "LM"]
    rtd, _ = store.companions
    assert [i + 1 for i, c in enumerate(rtd.batch.selected[0].tolist()) if c] == [2, 4]
    assert [r["title"] for r in store.record()["records"]] == ["MLM", "RTD", "LM"]
    store.compared = ["sentence permutation"]
    assert store.companions == [] and is_a_sentence(store.trouble)
    assert store.record()["title"] == "MLM"


# training


@pytest.fixture
def training():
    """A store that trains a small model on a pasted text, ended after the test."""
    store = TrainStore(corpus=OWN_TEXT, pasted=text(), device="cpu", steps=20_000)
    yield store
    store.end()


def trained(store, steps=2):
    """The session of a store after a few steps, resting."""
    session = store.begin()
    for step in range(1, steps + 1):
        session.step()
        assert becomes(lambda step=step: len([r for r in session.rows if r.loss is not None]) >= step)
    session.rest()
    return session


def test_beginning_makes_a_session_that_has_not_started(training):
    session = training.begin()
    assert session is training.session
    assert (session.state, session.rows, training.trouble) == ("ready", [], "")
    assert (session.run.entry.name, session.run.seed, session.run.steps) == ("RoBERTa", 0, 20_000)
    assert session.run.entry.recipe.steps == 20_000


@pytest.mark.parametrize("entry", KINDS)
def test_every_entry_trains_and_shows_itself(training, entry):
    training.entry = entry
    session = trained(training, 1)
    session.viewer.watch()
    assert becomes(lambda: session.viewer.view is not None)
    assert session.viewer.view.sees
    assert session.error == ""


@pytest.mark.parametrize(
    ("values", "named"),
    [
        ({"pasted": ""}, "is empty"),
        ({"pasted": "  \n \n "}, "white space"),
        ({"pasted": "Only a few words here."}, "7 tokens"),
        ({"corpus": OWN_FILE}, "No file is chosen yet"),
        ({"corpus": OWN_FILE, "upload": "/nowhere/at/all.txt"}, "/nowhere/at/all.txt"),
        ({"corpus": "nope"}, "'nope'"),
        ({"entry": "nope"}, "'nope'"),
        ({"device": "tpu"}, "'tpu'"),
        ({"sentence": "\u200b"}, "no words"),
    ],
)
def test_what_cannot_be_trained_is_a_sentence_and_the_old_session_stays(training, values, named):
    session = training.begin()
    training.param.update(**values)
    assert training.begin() is None
    assert is_a_sentence(training.trouble)
    assert named in training.trouble
    assert training.session is session
    assert not session._halt.is_set()
    training.param.update(corpus=OWN_TEXT, pasted=text(), entry="RoBERTa", device="cpu", sentence="")
    assert training.begin() is not None and training.trouble == "", "the trouble goes when it is put right"


PARAGRAPHS = "\n\n".join(f"The {w} stood by the river. " * 5 for w in ("mill", "old bridge", "fisher"))
"""Three short paragraphs, as somebody pastes them."""


@pytest.mark.parametrize("pasted", ["Just above the fewest words . " * 12, PARAGRAPHS])
def test_a_short_text_is_trained_on_in_rows_as_long_as_it_allows_and_the_page_says_so(training, pasted):
    training.pasted = pasted
    session = trained(training, 1)
    corpus, window = session.run.corpus, session.run.entry.recipe.seq_len
    held_out = len(corpus) - corpus.held_out_from
    assert window == held_out < 32
    assert session.learner.entry.recipe.seq_len == window
    assert is_a_sentence(training.notice)
    assert f"{held_out:,} held out, so a row has {window} tokens instead of 32" in training.notice
    training.pasted = text()
    assert training.begin().run.entry.recipe.seq_len == 32
    assert training.notice == ""


def test_the_length_of_a_row_can_be_chosen(training):
    training.window = 16
    assert training.begin().run.entry.recipe.seq_len == 16
    training.window = 0
    assert training.begin().run.entry.recipe.seq_len == 32


def test_a_good_file_is_trained_on(training, tmp_path):
    (tmp_path / "some.txt").write_text(text(), encoding="utf-8")
    training.param.update(corpus=OWN_FILE, upload=str(tmp_path / "some.txt"))
    assert training.begin().run.corpus.name == "some.txt"


def test_reset_ends_the_session_before_and_repeats_it(training):
    first = trained(training, 3)
    second = trained(training, 3)
    assert not first._thread.is_alive()
    assert [r.loss for r in first.rows] == [r.loss for r in second.rows]
    training.end()
    training.end()
    assert not second._thread.is_alive(), "ending twice is no harm"


def test_another_sentence_is_watched_in_the_midst_of_a_run_and_the_page_says_which(training):
    training.param.update(entry="GPT", sentence="the movie was good .")
    session = trained(training, 1)
    session.viewer.watch()
    assert becomes(lambda: session.viewer.view is not None and session.viewer.view.sees[1] == "the")
    training.sentence = "a story was told"
    session.viewer.watch()
    assert becomes(lambda: session.viewer.view.sees == ("[START]", "a", "story", "was")), (
        "a run that rests is looked at again"
    )
    assert session.learner.step == 1
    assert "Watched: the typed sentence." in origin(session)
    training.sentence = "\u200b"
    assert "no words" in training.trouble
    assert session.viewer.view.sees == ("[START]", "a", "story", "was")
    training.sentence = ""
    assert training.trouble == ""
    assert "Watched: a held-out sentence from pasted text." in origin(session)
    training.end()
    training.sentence = "the story was good"
    assert session.viewer.view.sees == ("[START]", "the", "story", "was"), "also of a run that is over"


# transfer


@pytest.fixture
def transfer():
    """A small comparison, ended after the test."""
    store = TransferStore(train_size=8, seeds=2, steps=4)
    yield store
    store.end()


def done(store):
    return becomes(lambda: store.trials.state != "running")


def test_without_a_model_there_is_nothing_to_compare(transfer, training):
    for session in (None, training.begin()):
        assert transfer.begin(session) is False
        assert "There is no trained model yet" in transfer.trouble
        assert is_a_sentence(transfer.trouble)
        assert (transfer.trials.state, transfer.trials.events, transfer.trials.result) == ("ready", [], None)


@pytest.mark.slow
def test_a_comparison_fills_the_screen(transfer, training):
    session = trained(training)
    assert transfer.trials.done_share == 0.0
    assert transfer.begin(session) is True
    shares = []
    assert becomes(lambda: shares.append(transfer.trials.done_share) or transfer.trials.state != "running")
    assert shares == sorted(shares) and shares[0] >= 0.0, "how far it is only grows"
    assert (transfer.trials.state, transfer.trouble, transfer.trials.done_share) == ("done", "", 1.0)
    assert transfer.trials.base_name == "RoBERTa after 2 steps on pasted text"
    outcomes = transfer.trials.result.outcomes
    for what in ("accuracy", "forgetting"):
        assert transfer.trials.values(what, transfer.chosen) == {
            n: [getattr(o, what) for o in outcomes[n]] for n in SHOWN_FIRST
        }
    assert transfer.trials.values("forgetting", transfer.chosen)["feature-based"] == [0.0, 0.0]


@pytest.mark.parametrize(
    ("values", "named"),
    [
        ({"chosen": []}, "No strategy is chosen"),
        ({"chosen": ["nope"]}, "'nope'"),
        ({"task": "nope"}, "'nope'"),
        ({"train_size": 0}, "0"),
        ({"train_size": 50_000}, "50000"),
    ],
)
def test_what_cannot_be_compared_is_a_sentence(transfer, training, values, named):
    session = trained(training, 1)
    transfer.param.update(**values)
    assert transfer.begin(session) is False
    assert is_a_sentence(transfer.trouble)
    assert named in transfer.trouble
    assert transfer.trials.state == "ready"


def test_what_turns_out_wrong_in_the_thread_is_a_sentence(transfer, training):
    transfer.train_size = 1
    transfer.begin(trained(training, 1))
    assert done(transfer)
    assert transfer.trials.state == "failed"
    assert is_a_sentence(transfer.trouble)
    assert "train_size is 1" in transfer.trouble


def test_a_model_of_other_words_is_a_sentence(transfer, training):
    training.pasted = "the quick brown fox jumps over a lazy dog . " * 80
    assert transfer.begin(trained(training, 1)) is False
    assert "does not know" in transfer.trouble


@pytest.mark.slow
def test_a_running_training_is_paused_for_the_comparison(transfer, training):
    session = training.begin().start()
    assert becomes(lambda: len(session.rows) > 2)
    assert transfer.begin(session)
    assert session.state == "paused"
    step = session.learner.step
    assert done(transfer)
    assert session.learner.step == step


def test_the_base_is_a_copy_of_the_sessions_model_with_its_held_out_text(training):
    session = trained(training, 1)
    base, tokenizer = base_of_session(session)
    assert same_weights(base.learner.model, session.learner.model)
    assert base.learner.optimisers[0].state and base.learner.step == session.learner.step
    assert not tensors_of(base.learner) & tensors_of(session.learner), "it may train on meanwhile"
    assert tokenizer is session.run.corpus.tokenizer
    assert base.held_out.ids.shape[1] == session.run.entry.recipe.seq_len
    with pytest.raises(UserError, match="no trained model"):
        base_of_session(None)


def test_ending_stops_a_comparison_at_once(transfer, training):
    transfer.param.update(steps=300, seeds=8)
    assert transfer.begin(trained(training, 1))
    assert becomes(lambda: len(transfer.trials.events) > 3)
    transfer.end()
    assert transfer.trials.state == "stopped"
    assert not transfer.running._thread.is_alive()
    assert transfer.trials.done_share < 1.0
    transfer.param.update(steps=4, seeds=2)
    assert transfer.begin(training.session) and done(transfer), "after the end it can begin again"
    assert (transfer.trials.state, transfer.trials.done_share) == ("done", 1.0)


@pytest.mark.slow
def test_beginning_again_in_the_middle_leaves_one_comparison(transfer, training):
    session = trained(training, 1)
    transfer.steps = 60
    assert transfer.begin(session)
    first = transfer.running._thread
    assert becomes(lambda: len(transfer.trials.events) > 3)
    assert transfer.begin(session)
    assert done(transfer)
    assert becomes(lambda: not first.is_alive())
    assert transfer.trials.done_share == 1.0
    assert {
        name: len(values) for name, values in transfer.trials.values("accuracy", transfer.chosen).items()
    } == dict.fromkeys(SHOWN_FIRST, 2)


# the visit


def test_closing_a_visit_ends_all_that_runs_and_removes_the_upload():
    before = set(threading.enumerate())
    store = Store()
    store.train.keep("mine.txt", text().encode())
    upload = store.train.upload
    assert upload.is_file()
    store.train.param.update(corpus=OWN_FILE, device="cpu", steps=20_000)
    session = store.train.begin().start()
    assert becomes(lambda: len(session.rows) > 2)
    store.transfer.param.update(steps=300, seeds=8)
    assert store.transfer.begin(session)
    session.start()
    store.close()
    store.close()
    assert set(threading.enumerate()) <= before
    assert not Path(upload).exists()
    assert (session.state, store.transfer.trials.state) == ("done", "stopped")


def test_two_visits_share_nothing():
    one, other = Store(), Store()
    one.stage.text = "We walk ."
    one.train.seed = 7
    one.transfer.chosen.append("more")
    assert other.stage.rebuilt.text != "We walk ."
    assert other.train.seed == 0
    assert other.transfer.chosen == list(SHOWN_FIRST)


def test_the_table_is_for_ones_own_text_and_a_row_opens_with_what_it_shows():
    store = StageStore(view="table")
    shown, done, refused = store.table()
    assert (shown, len(done), refused) == (SENTENCE, 11, [])
    for made in done:
        survey.show(store, made.objective.name)
        assert store.view == "stage"
        assert store.rebuilt.survey() == made.survey()
        store.view = "table"
        assert store.table()[0] == SENTENCE, "the survey's own texts do not take the place of a person's"


def test_a_sample_gives_ones_own_text_back():
    store = StageStore(view="table", text="Rosa baked the bread. Then her brother sold it.")
    _, done, refused = store.table()
    assert [o.name for o, _ in refused] == ["TLM"]
    survey.show(store, "TLM")
    assert (store.text, store.rebuilt.objective.name) == ("How are you", "TLM")
    store.view = "table"
    assert store.text == "Rosa baked the bread. Then her brother sold it."
    assert len(store.table()[1]) == len(done) == 10


def test_a_plan_by_hand_stands_in_its_row_and_one_that_does_not_fit_is_left_out():
    store = StageStore()
    store.plan = "chosen=2"
    rows = {made.objective.name: made for made in store.table()[1]}
    assert rows["MLM"].survey()["targets"] == "am"
    store.text = "we walk"
    store.plan = "chosen=9"
    assert {made.objective.name for made in store.table()[1]} >= {"LM", "MLM"}


def test_a_switch_turns_a_knob_and_nothing_else():
    store = StageStore(objective="PLM", seed=3)
    order = store.record()["plan"]["order"]
    store.edit({"do": "set", "knob": "streams", "to": "one that sees itself"})
    assert store.rebuilt.verdict.leak
    assert store.record()["plan"]["order"] == order
    store.edit({"do": "undo"})
    assert not store.rebuilt.verdict.leak
    store.edit({"do": "set", "knob": "streams", "to": "seven"})
    assert "choose one of" in store.trouble
    store.edit({"do": "set", "knob": "speed", "to": 1})
    assert "has no knob 'speed'" in store.trouble


# a model on the stage


def lent(name):
    """A tiny model of an objective after two steps."""
    objective = find_objective(name)
    run = Run(alone(objective), suited_reviews(objective), steps=2)
    return StageModel(next(e.learner for e in list(train(run)) if isinstance(e, Started)), run.corpus)


def frames_of(store):
    return [frame["name"] for frame in store.record()["frames"]]


def test_a_model_brings_three_frames_and_a_text_that_it_can_read():
    store = StageStore()
    bare, model = frames_of(store), lent("MLM")
    loaded_model.attach(store, model)
    assert frames_of(store)[-3:] == ["forward", "predict", "loss"]
    assert "[UNK]" not in store.record()["text"]
    assert store.frame == "forward" and store.silent == ""
    seen = read(model.learner.model, store.rebuilt.batch)
    assert [g["loss"] for g in store.record()["numbers"]["guesses"]] == [round(g.loss, 4) for g in seen.guesses]
    loaded_model.attach(store, None)
    assert frames_of(store) == bare and store.text == SENTENCE


def test_the_numbers_follow_every_edit_and_only_one_layer_travels():
    store = StageStore()
    model = lent("MLM")
    loaded_model.attach(store, model)
    before = store.record()["numbers"]
    store.edit({"do": "roll"})
    assert store.record()["numbers"]["guesses"] != before["guesses"]
    store.edit({"do": "paint", "matrix": "encoder", "cells": [[0, 1, False]]})
    heads = base64.b64decode(store.record()["numbers"]["attention"]["encoder"]["data"]["0"])
    n = store.record()["frames"][-1]["matrices"][0]["shape"][0]
    assert all(heads[h * n * n + 1] == 0 for h in range(2)), "a closed cell gets no attention"
    deep = StageModel(learner_of("RoBERTa", model={"layers": 3}), reviews())
    loaded_model.attach(store, deep)
    for asked, told in ((None, "2"), (0, "0"), (1, "1")):
        if asked is not None:
            store.edit({"do": "look", "layer": asked})
        assert list(store.record()["numbers"]["attention"]["encoder"]["data"]) == [told]
    assert len(store.record(whole=True)["numbers"]["attention"]["encoder"]["data"]) == 3


def noticed(store):
    """What the Stage page says of the text."""
    return unescape(Notices(store).text.object)


def test_the_surveys_sentence_stays_when_a_model_comes_that_knows_its_words():
    store = StageStore()
    plan = store.plan
    loaded_model.attach(store, lent("MLM"))
    assert (store.text, store.plan, store.record()["text"]) == (SENTENCE, plan, SENTENCE.lower().split())
    assert store.gave_way == "" and "does not know" not in noticed(store)


@pytest.mark.parametrize("objective", ["NSP", "TLM"])
def test_a_text_with_unknown_words_gives_way_and_a_sentence_names_them(objective):
    store = StageStore(objective=objective)
    before, model = (store.text, store.pair), lent(objective)
    lacking = {"NSP": "the word “together”", "TLM": "the words “Comment” and “vas-tu”"}[objective]
    loaded_model.attach(store, model)
    assert (store.text, store.pair) == model.sample(find_objective(objective)) != before
    assert store.gave_way == (
        f"{model.name} does not know {lacking}, so a held-out text of reviews replaces the one that was here."
    )
    assert store.gave_way in noticed(store)
    store.text = "the film was good"
    assert store.gave_way == "" and "does not know" not in noticed(store)
    loaded_model.attach(store, None)
    assert store.text == "the film was good" and store.pair == before[1]


def test_another_objective_brings_its_own_text_where_the_model_knows_it_and_else_says_why_not():
    store = StageStore()
    loaded_model.attach(store, StageModel(learner_of("RoBERTa"), suited_reviews(find_objective("TLM"))))
    store.objective = "TLM"
    assert "“Comment” and “vas-tu”" in store.gave_way and store.pair != "Comment vas-tu"
    store.objective = "LM"
    assert (store.text, store.pair, store.gave_way) == (SENTENCE, "", "")


def test_a_typed_text_with_unknown_words_stays_and_a_sentence_names_them():
    store = StageStore()
    store.text = "the <b>glockenspiel</b> was good"
    loaded_model.attach(store, lent("MLM"))
    assert store.text == "the <b>glockenspiel</b> was good" and store.gave_way == ""
    assert "read as [UNK]" in noticed(store) and "glockenspiel" in noticed(store)
    assert "[UNK]" in store.record()["text"]


def test_many_unknown_words_are_counted_and_not_all_named():
    assert listed(["a", "b", "c"]) == "the words “a”, “b” and “c”"
    assert listed(["[" * 20_000]) == f"the word “{'[' * 40}…”"
    assert listed(["a\u20fe"]) == "the word “a\\u20fe”"
    said = listed([str(k) for k in range(9)])
    assert said.count("“") == 6 and said.endswith("and 3 more words")


def test_a_printed_plan_with_unknown_words_gives_way_to_the_dice_and_the_text_stays():
    store, model = StageStore(objective="RTD"), lent("RTD")
    assert "thrilled" in store.plan
    loaded_model.attach(store, model)
    said = f"{model.name} does not know the word “thrilled” of the printed plan, so it is sampled."
    assert (store.text, store.plan, store.trouble, store.gave_way) == (SENTENCE, "", "", said)
    store.edit({"do": "reset"})
    assert (store.plan, store.trouble) == ("", "")
    store.plan = "chosen=3 replace=am"
    loaded_model.attach(store, model)
    assert store.plan == "chosen=3 replace=am", "a plan by hand stays"


def test_a_model_that_cannot_answer_says_so_and_the_picture_stays():
    store = StageStore()
    loaded_model.attach(store, lent("MLM"))
    store.objective = "PLM"
    assert is_a_sentence(store.silent.replace(". Train", "; train")) and "query stream" in store.silent
    assert "forward" not in frames_of(store) and store.trouble == ""
    store.objective = "MLM"
    assert store.silent == "" and "forward" in frames_of(store)


@pytest.mark.parametrize("name", ["NSP", "TLM", "T5 spans", "RTD"])
def test_every_kind_of_objective_gets_its_samples(name):
    store = StageStore(objective=name)
    loaded_model.attach(store, lent(name))
    assert store.trouble == store.silent == ""
    assert frames_of(store)[-1] == "loss" and store.paired == bool(store.pair)


def test_no_model_and_no_objective_bring_the_stage_down():
    store = StageStore()
    loaded_model.attach(store, StageModel(learner_of("RoBERTa"), reviews()))
    for name in objectives():
        store.objective = name
        assert store.trouble == "" or is_a_sentence(store.trouble), name
        assert store.silent == "" or store.silent.startswith("RoBERTa that has not learned anything cannot answer"), (
            name
        )
        assert ("forward" in frames_of(store)) == (not store.silent), name


def test_inside_one_update_is_shown_instead_of_the_sentence_and_leaves_no_trace():
    store = StageStore()
    model = lent("MLM")
    loaded_model.attach(store, model)
    before, step = store.record(), model.learner.step
    loaded_model.look_inside(store)
    assert frames_of(store)[-3:] == ["gradient", "change", "after"] and store.frame == "text"
    store.edit({"do": "roll"})
    assert frames_of(store)[-1] == "after", "the batch of a run is not edited"
    loaded_model.look_inside(store)
    assert store.record() == before and model.learner.step == step
    loaded_model.look_inside(store)
    store.text = "the film was bad"
    assert frames_of(store)[-1] == "loss", "who types wants to see what was typed"


def test_a_small_model_is_trained_in_seconds_and_comes_onto_the_stage(monkeypatch):
    monkeypatch.setattr("widgets.state.stage.model.STEPS", 3)
    monkeypatch.setattr("widgets.state.stage.model.open_corpus", lambda _: reviews())
    store = StageStore()
    loaded_model.teach(store)
    assert store.teaching.busy
    store.teaching.wait()
    loaded_model.take(store)
    assert store.model.learner.step == 3 and frames_of(store)[-1] == "loss"
    store.objective = "LM"
    loaded_model.teach(store)
    store.objective = "MLM"
    store.teaching.wait()
    loaded_model.take(store)
    assert store.model.learner.entry.name == "MLM", "who has gone elsewhere keeps what is there"
    store.objective = "LM"
    assert store.model.learner.entry.name == "LM"


def test_a_fresh_stage_has_the_bundled_model_at_once_and_still_opens_at_the_text():
    store = StageStore(bundled=True, view="table")
    assert store.model is None and "forward" not in frames_of(store), "nothing is read for the table"
    plain = StageStore(objective="PLM")
    survey.show(store, "PLM")
    assert frames_of(store) == [*frames_of(plain), "forward", "predict", "loss"]
    assert (store.text, store.plan, store.frame, store.trouble, store.silent) == (SENTENCE, plain.plan, "", "", "")
    assert store.query() == plain.query()
    store.compared = ["MLM", "LM"]
    assert [made["numbers"]["model"].split(" after ")[0] for made in store.record()["records"]] == ["PLM", "MLM", "LM"]


@pytest.mark.parametrize("name", [name for name, objective in objectives().items() if objective.row])
def test_a_row_opens_with_its_own_bundled_model_or_with_none(name):
    store, plain = StageStore(bundled=True), StageStore(objective=name)
    store.objective = name
    assert (store.text, store.pair, store.plan, store.gave_way, store.silent) == (
        plain.text, plain.pair, plain.plan, "", "",
    )  # fmt: skip
    assert (store.model is not None) == (name in OBJECTIVES)
    assert store.model is None or store.model.card.startswith(f"{name}, ")


@pytest.mark.parametrize("name", OBJECTIVES)
def test_a_bundled_model_changes_no_sample(name):
    store, plain = StageStore(bundled=True, objective=name), StageStore(objective=name)
    seeds = [{"seed": seed} for seed in range(6)]
    for values in (*seeds, {"text": "Rosa baked the bread. Then her brother sold it."}):
        for each in (store, plain):
            each.param.update(**values)
        facts, others = store.rebuilt.facts(), plain.rebuilt.facts()
        assert store.model is not None and facts["plan"].keys() == others["plan"].keys()
        for key in ("inputs", "decoder_inputs", "targets"):
            assert facts[key] == (others[key] and [word if word[0] == "[" else word.lower() for word in others[key]])
        assert (facts["scored"], facts["attention_mask"], facts["leak"]) == (
            others["scored"],
            others["attention_mask"],
            False,
        )


def test_a_removed_bundled_model_stays_away_until_it_is_brought_back():
    store = StageStore(bundled=True)
    loaded_model.attach(store, None)
    store.objective = "LM"
    assert store.model is None and loaded_model.removed(store)
    loaded_model.attach_bundled(store)
    assert store.model.card.startswith("LM, ") and not loaded_model.removed(store) and frames_of(store)[-1] == "loss"


def test_words_that_the_bundled_model_lacks_are_shown_without_it():
    store, plain = StageStore(bundled=True), StageStore()
    for each in (store, plain):
        each.text = "The quick fox is happy"
    assert store.rebuilt.facts() == plain.rebuilt.facts() and store.model is None
    assert store.silent.endswith("does not know the words “quick” and “fox”, so it predicts nothing here.")
    store.text = "The dog is happy"
    assert store.model is not None and store.silent == "" and frames_of(store)[-1] == "loss"


def test_a_plan_with_words_that_the_bundled_model_lacks_is_shown_without_it():
    store, asked = StageStore(bundled=True), {"objective": "RTD", "plan": "chosen=3 replace=quartz"}
    store.open(asked)
    assert (store.plan, store.trouble, store.model) == (asked["plan"], "", None)
    assert "quartz" in store.rebuilt.facts()["inputs"]
    assert store.silent.endswith("does not know the word “quartz”, so it predicts nothing here.")
    store.plan = ""
    assert store.model is not None and store.silent == ""


def test_a_bundled_file_that_cannot_be_read_is_said_and_the_picture_is_there(monkeypatch):
    def refuse(name):
        raise UserError(f"The file of {name} is damaged.")

    monkeypatch.setattr("widgets.state.stage.model_choice.bundled_model", refuse)
    store = StageStore(bundled=True)
    assert (store.silent, store.trouble, store.model) == ("The file of MLM is damaged.", "", None)
    assert frames_of(store) == frames_of(StageStore())


def test_a_chosen_model_takes_the_place_of_the_bundled_one():
    store, model = StageStore(bundled=True), lent("MLM")
    loaded_model.attach(store, model)
    store.seed = 3
    assert store.model is model
    store.objective = "span mask"
    assert store.model is model


def test_a_bundled_model_is_trained_on_here(monkeypatch):
    monkeypatch.setattr("widgets.state.stage.model.STEPS", 2)
    store = StageStore(bundled=True)
    before = store.model.learner
    weights = weights_hash(before)
    loaded_model.teach_on(store)
    store.teaching.wait()
    loaded_model.take(store)
    assert store.teaching.error is None and store.model.learner.step == before.step + 2
    assert loaded_model.own(store) and not store.model.card and weights_hash(before) == weights
    assert store.model.name == f"MLM after {before.step + 2:,} steps on everyday"


def test_every_stage_beside_shows_numbers_of_its_own_model_or_says_why_not(monkeypatch):
    monkeypatch.setattr("widgets.state.stage.model.STEPS", 3)
    monkeypatch.setattr("widgets.state.stage.model.open_corpus", lambda _: reviews())
    store = StageStore(compared=["LM", "PLM"])
    loaded_model.attach(store, lent("MLM"))
    speaks = [made.get("numbers", {}).get("model", "") for made in store.record()["records"]]
    assert speaks == ["MLM after 2 steps on reviews"] * 2 + [""]
    assert "query stream" in store.silent
    loaded_model.teach(store)
    store.teaching.wait()
    loaded_model.take(store)
    names = [made["numbers"]["model"] for made in store.record()["records"]]
    assert names == [f"{name} after 3 steps on reviews" for name in ("MLM", "LM", "PLM")] and not store.silent


def test_the_model_of_the_train_page_is_on_the_stage_where_it_learned_this_objective():
    store = Store(page=1)
    session = Session(run_of("RoBERTa", steps=3)).start()
    store.train.session = session
    assert becomes(lambda: session.state == "done")
    store.page = 0
    assert store.stage.model.learner.step == 3 and store.stage.model.learner is not session.learner
    loaded_model.attach(store.stage, None)
    store.page = 1
    store.page = 0
    assert store.stage.model is None, "who sent it away does not meet it again"
    loaded_model.attach_trained(store.stage)
    assert store.stage.model is not None
    store.close()


def test_a_base_is_trained_on_a_file_in_the_encoding_that_was_named(monkeypatch):
    store = Store()
    rows = "".join(f"größe {k} ist {w},{k % 2}\n" for k in range(40) for w in ("gut", "klein"))
    store.transfer.task = TRANSFER_FILE
    store.transfer.upload("films.csv", f"text,label\n{rows}".encode("cp1252"))
    store.transfer.encoding = "cp1252"
    monkeypatch.setattr(store, "train_one", lambda: None)
    store.train_base()
    corpus = choice.load_corpus(store.train)
    assert "größe" in corpus.tokenizer.words and "encoding=cp1252" in corpus.name
    store.close()


def test_a_comparison_in_a_notebook_has_the_options_of_the_command_line(tmp_path, capsys, recwarn):
    trained = notebook.train("RoBERTa", reviews(), steps=2, batch_size=8, seq_len=16)
    (tmp_path / "films.csv").write_text(
        "said,liked\n" + "".join(f"it was a {w} film {k},{k % 2}\n" for k in range(40) for w in ("good", "bad"))
    )
    lines = ("mine = full + L2-SP [embeddings 1-2 x0]", "feature-based")
    shared = {"train_size": (4, 8), "seeds": 2, "steps": 3, "match": "tokens", "lr_policy": "fixed"}
    file = str(tmp_path / "films.csv")
    columns = {"text_column": "said", "label_column": "liked"}
    columns |= {"max_length": 4, "second_column": "", "encoding": "utf-8"}
    made = notebook.compare(trained, file, lines, **shared, **columns, input_format="BERT", out=tmp_path / "out")
    assert "texts to learn from, " in capsys.readouterr().out and not recwarn, "how many there are is no warning"
    assert "8 of the 8 texts to learn from are longer than 4 tokens" in made._repr_html_()
    assert [s["name"] for s in made.facts["strategies"]] == ["mine", "feature-based"]
    assert [s["rate"] for s in made.facts["strategies"]] == [4e-3, 4e-3]
    assert [point["labels"] for point in made.facts["curve"]] == [4, 8]
    assert made.report.comparison.outcomes["mine"][0].rates[0].tolist() == [0.0, 0.0, pytest.approx(4e-3)]
    assert {"comparison.html", "comparison.csv", "comparison.ipynb", "base", "trials.jsonl"} <= {
        path.name for path in (tmp_path / "out").iterdir()
    }
    assert "Accuracy on unseen texts" in made._repr_html_()
    repeated = again(made.report.asked)
    mine = made.report.comparison.outcomes["mine"]
    assert [o.accuracy for o in repeated.outcomes["mine"]] == [o.accuracy for o in mine]
    with pytest.raises(UserError, match="match is 'nope'"):
        notebook.compare(trained, strategies=("full",), match="nope")
    with pytest.raises(UserError, match="must be what train"):
        notebook.compare("bert")


def test_a_notebook_trains_an_entry_of_pairs_and_tells_which_text_is_watched(monkeypatch):
    monkeypatch.setenv("PLAYGROUND_HEADLESS", "1")
    trained = notebook.train(
        "BERT",
        suited_reviews(entries()["BERT"].objective),
        steps=1,
        batch_size=4,
        seq_len=16,
        sentence="the film was good",
    )
    assert "needs two texts" in trained.learned.watched and "a held-out pair of texts" in trained.learned.watched
    assert trained.learned.watched.split("Watched instead")[1] in html.unescape(trained._repr_html_())
    assert trained.learned.glance is not None and trained.learned.glance.sees.count("[SEP]") == 2
    recorded = trained.learned.replay.moments[-1]["guesses"]
    assert [g["top"][0][0] for g in recorded if g["top"]] == [
        g.top[0][0] for g in trained.learned.glance.guesses if g.top
    ]


def test_a_stage_in_a_notebook_shows_a_trained_model(monkeypatch):
    monkeypatch.setenv("PLAYGROUND_HEADLESS", "1")
    trained = notebook.train("RoBERTa", reviews(), steps=2, batch_size=8, seq_len=16)
    picture = notebook.stage("MLM", model=trained)
    markup = picture._repr_mimebundle_()["text/html"]
    data = re.search(r'\["stage", "stage-\w+", "([^"]+)"\]', markup)
    assert data is not None
    record = json.loads(zlib.decompress(base64.b64decode(data[1])))
    assert record["numbers"]["model"].startswith(trained.learner.entry.name)
    assert [moment["step"] for moment in trained.learned.replay.moments] == [0, 1, 2]
    assert '["replay", "replay-' in trained._repr_html_() and "held out" in trained._repr_html_()


def test_a_later_visit_opens_and_looks_into_a_run_of_a_text_of_ones_own(tmp_path):
    first = Store(tmp_path / "runs")
    first.train.param.update(corpus=OWN_TEXT, pasted="the baker laughs at the dog . " * 60, steps=3, device="cpu")
    session = first.train.begin().start()
    assert becomes(lambda: session.state in ("done", "failed")) and not session.error
    content, name = session.run.corpus.hash, first.train.name_of_run
    first.close()
    del first
    later = Store(tmp_path / "runs")
    assert later.open_subject(f"kept:{name}").corpus.hash == content
    assert later.train.open(name).run.corpus.hash == content
    later.close()
