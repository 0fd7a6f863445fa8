"""What a picture tells beside itself: the code of a frame, the film of a mask, the answers of a switch, a table row."""

import base64
import inspect
from dataclasses import replace
from textwrap import dedent

import pytest
import torch

from playground import leaks
from playground.corpora.corpus import pick
from playground.models import Architecture, LanguageModel
from playground.objectives import find_objective, objectives
from playground.objectives.see.order import STREAMS
from playground.trace import frames
from playground.trace.mask_history import STRIPS, VISITS
from playground.trace.rebuild import SENTENCE, rebuild, table
from tests.texts import story


@pytest.mark.parametrize("name", objectives())
def test_every_frame_of_every_objective_shows_its_own_source(name):
    made = story(name)
    drawn = made.record()["frames"]
    kinds = {type(step.stage).__name__: type(step.stage) for step in made.steps}
    for frame in drawn[1:]:
        if frame["title"] not in {"Arrange", "Choose", "Change", "Propose", "Attention mask", "Predict"}:
            continue
        kind = kinds[frame["code"]["call"].split("(")[0]]
        assert frame["code"]["parts"][-1]["text"] == dedent(inspect.getsource(kind.build)).rstrip()
    assert drawn[0]["code"]["call"] == "begin(tokens)"


@pytest.mark.parametrize("name", ["MLM", "static MLM", "RTD", "TLM"])
def test_the_film_keeps_one_choice_takes_a_few_in_turn_or_draws_again(name):
    film = story(name).record()["film"]
    n = len(film["words"])
    choices = []
    for strip in film["strips"]:
        states = base64.b64decode(strip["states"])
        assert len(states) == n * VISITS
        choices.append([tuple(map(bool, states[v * n : (v + 1) * n])) for v in range(VISITS)])
    static, turns, dynamic = choices
    assert len(set(static)) == 1
    assert [turns[v] == turns[v % STRIPS[1][1]] for v in range(VISITS)] == [True] * VISITS
    assert len(set(dynamic)) > len(set(turns)) > 1


def test_an_objective_without_such_a_choice_has_no_film():
    assert rebuild("PLM").record()["film"] is None


def test_why_two_streams_as_the_leak_table_says():
    """The one-stream rows of the leak table: who sees itself copies, and so does who carries its own word along."""
    switch = rebuild("PLM", overrides=find_objective("PLM").printed.plan).record()["switch"]
    assert switch["question"] == "Why two streams?"
    assert {c["value"]: c["leak"] for c in switch["choices"]} == {
        "two streams": False,
        "one that sees itself": True,
        "one blind to itself": True,
        "positions only": False,
        "an order that turns round": True,
        "words only": False,
    }
    assert all("5 of 5" in switch["choices"][k]["sentence"] for k in (1, 2, 4))
    assert "No other word" in switch["choices"][3]["hears"]
    assert ["position is not given" in c["hears"] for c in switch["choices"]] == [False] * 5 + [True]


@pytest.mark.parametrize(("choice", "hears_itself"), [("two streams", False), ("an order that turns round", True)])
def test_a_model_obeys_the_order_of_every_layer_as_the_leak_check_says(choice, hears_itself):
    """Another word at a scored place changes the guess for that very place only where the order turns round."""
    made = rebuild("PLM", settings={"streams": choice}, overrides=find_objective("PLM").printed.plan)
    inputs, position = made.batch.inputs, len(SENTENCE.split()) - 1
    ids = inputs.ids.clone()
    ids[0, position] = ids[0, 0]
    other = replace(made.batch, inputs=replace(inputs, ids=ids))
    shape = Architecture(layers=2, width=16, heads=2, two_streams=True)
    model = LanguageModel(shape, made.tokens.specials.size, torch.Generator().manual_seed(0)).eval()
    (said,), (changed,) = model(made.batch), model(other)
    at = (said.positions == position).nonzero()[0, 0]
    assert torch.allclose(said.scores[at], changed.scores[at], atol=1e-6) is not hears_itself
    attention = model.attention(made.batch)["content"][:, 0].sum(1) > 0
    seen = frames.attention_mask(made.batch)
    above = seen.get("content above", seen["content"])
    assert attention.long().tolist() == [seen["content"], above]


@pytest.mark.parametrize("name", ["PLM", "LM", "MLM"])
def test_how_many_words_an_answer_hears(name):
    """The mean over scored answers, counted by hand from what each may see."""
    settings, overrides = ({"context": "strict"}, {"order": [2, 1, 3, 4], "cut": 1}) if name == "PLM" else ({}, {})
    made = rebuild(name, "we walk home together", settings=settings, overrides=overrides)
    by_hand = {"PLM": (1 + 2 + 3) / 3, "LM": (0 + 1 + 2 + 3) / 4, "MLM": 3.0}
    assert leaks.context_words(made.batch) == pytest.approx(by_hand[name])


@pytest.mark.parametrize("choice", STREAMS[1:])
def test_the_variants_of_a_switch_are_examples_that_train(choice):
    tokens = pick(rebuild("PLM", SENTENCE).tokens, torch.zeros(3, dtype=torch.long))
    batch = find_objective("PLM").turn({"streams": choice}).batch(tokens, torch.Generator().manual_seed(0))
    (target,) = batch.targets
    assert target.stream == ("query" if choice in ("positions only", "an order that turns round") else "inputs")
    assert (batch.inputs.query_attn_mask is None) == (target.stream == "inputs")
    if choice == "positions only":
        assert not batch.inputs.query_attn_mask.dense().any()


def test_a_row_of_the_table_is_cells_that_say_what_the_survey_says():
    done, _ = table()
    for made in done:
        cells = made.cells()
        assert {part: " ".join(c["text"] for c in some) for part, some in cells.items()} == made.survey()
        assert all(cell["scored"] for cell in cells["targets"])
    rtd = next(made for made in done if made.objective.name == "RTD").cells()
    assert [c["state"] for c in rtd["inputs"]].count("replaced") == 2


def test_a_share_that_rounds_to_nothing_says_what_was_chosen_all_the_same():
    short = rebuild("T5 spans", "we go home")
    assert short.notice == "15 % of 3 tokens is 0.45, which would be none: one is chosen."
    assert sum(short.batch.selected[0].tolist()) == 1
    assert "one is chosen" in rebuild("MLM", "go").notice
    told = rebuild("MLM", "go", settings={"selection": "iid", "mask_ratio": 0.1}).notice
    assert told == "Nothing is predicted in this text, so nothing is learned from it: no word was chosen."
    assert rebuild("T5 spans", "we go home", overrides={"spans": "1:2"}).notice == ""
    assert rebuild("T5 spans").notice == ""


@pytest.mark.parametrize(
    ("name", "guessed"),
    [("phrase masking", "phrases"), ("entity masking", "names"), ("knowledge masking", "phrases and names")],
)
def test_that_phrases_and_names_of_a_typed_text_are_guessed_is_said(name, guessed):
    notice = "is guessed, from capital letters and small words."
    assert f"Which words are {guessed} {notice}" in rebuild(name, "Rosa lives in Paris .").notice
    assert "guessed" not in rebuild("MLM", "Rosa lives in Paris .").notice


def test_that_nothing_is_asked_is_said_with_its_reason():
    text = "we go home"
    nothing = "Nothing is predicted in this text, so nothing is learned from it: no word was chosen."
    assert nothing in rebuild("entity masking", text).notice
    assert rebuild("T5 i.i.d.", text, settings={"mask_ratio": 0.0}).notice == nothing
    assert "Nothing is predicted" not in rebuild("entity masking", "we saw Rosa Miller in Paris").notice


def test_a_sum_says_how_many_inputs_its_parts_read():
    said = "The parts of this sum read {} different inputs; each has its own mask and its own words."
    two = "I am here . You are there ."
    assert rebuild("MLM + SOP", two).notice == said.format(2)
    assert rebuild("MLM + RTD").notice == said.format(3), "the generator of RTD reads a text of its own"
    assert rebuild("MLM + NSP", two).notice == "", "BERT's two questions are asked of one input"
    assert rebuild("CBOW + CBOW NS").notice == "", "both read the text as it stands"
