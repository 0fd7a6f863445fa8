"""The signal meter: which share of what is read also teaches, exactly."""

import pytest

from playground import cli
from playground.objectives import find_objective
from playground.rng import generator
from playground.tokenizing.vocabulary import FIRST_WORD
from playground.trace.rebuild import meters
from playground.trace.signal import Meter, measure
from tests import json_keys
from tests.texts import SPECIALS, plain_rows, suited, tokens_of

ROWS, LENGTH = 4, 60
"""LENGTH is a multiple of PLM's K, and 0.15 times (LENGTH + 2) rounds to 0.15 times LENGTH."""


def of(name, tokens=None, **knobs):
    objective = find_objective(name).turn(knobs)
    tokens = tokens or plain_rows(ROWS, LENGTH)
    return measure(objective.batch(suited(objective, tokens), generator(0, "signal")))


@pytest.mark.parametrize(
    ("name", "target", "share"),
    [
        ("LM", "next word", 1.0),
        ("MLM", "hidden words", 0.15),
        ("PLM", "hidden words", 1 / 6),
        ("RTD", "replaced?", 1.0),
        ("RTD", "hidden words", 0.15),
        ("BART infilling", "written words", 1.0 + 1 / LENGTH),  # and [END]
    ],
)
def test_the_share_of_positions_that_teach(name, target, share):
    meter = of(name)[target]
    assert meter == Meter(scored=round(share * ROWS * LENGTH), read=ROWS * LENGTH, idle_rows=0)
    assert meter.share == pytest.approx(share, abs=1e-12)


@pytest.mark.parametrize("kept", [2.0, 5.0, 12.0])
def test_permutation_teaches_at_one_position_in_k(kept):
    assert of("PLM", partial_prediction_k=kept)["hidden words"].share == 1 / kept


def test_the_main_question_is_the_detectors_and_not_the_generators():
    found = meters(find_objective("RTD").batch(plain_rows(ROWS, LENGTH), generator(0)))
    assert [(meter["target"], meter["share"]) for meter in found] == [("replaced?", 1.0), ("hidden words", 0.15)]


def test_a_label_of_a_pair_is_one_answer_for_two_texts():
    assert of("NSP") == {"pair": Meter(scored=ROWS, read=2 * ROWS * LENGTH, idle_rows=0)}


def test_padding_is_not_read_and_rows_that_ask_nothing_are_counted():
    word = FIRST_WORD
    tokens = tokens_of([[word] * 20, [SPECIALS.sep] * 5, [], [word]], extra=4)
    assert of("MLM", tokens)["hidden words"] == Meter(scored=3 + 1, read=26, idle_rows=2)
    assert of("LM", tokens)["next word"] == Meter(scored=26, read=26, idle_rows=1)


def test_special_tokens_that_are_scored_count_beyond_the_text():
    assert of("RTD", add_special_tokens=True)["replaced?"].share == (LENGTH + 2) / LENGTH


def test_nothing_read_and_nothing_asked_are_no_error():
    assert of("MLM", tokens_of([[]], extra=1))["hidden words"].share == 0.0
    batch = find_objective("MLM").steps(plain_rows(1, 8), generator(0))[0].batch
    assert measure(batch) == {}


def test_the_command_line_tells_it_by_question(capsys):
    assert cli.main(["objective", "RTD", "--json"]) == 0
    facts = json_keys.read("objective", capsys.readouterr().out)
    assert facts["signal"] == facts["signal_by_target"]["replaced?"]["share"] == 1.0
    assert facts["signal_by_target"]["hidden words"] == {"scored": 2, "read": 8, "idle_rows": 0, "share": 0.25}
