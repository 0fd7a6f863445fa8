"""The arms: what is trained once and kept, what is read of it, and what is refused."""

from dataclasses import replace

import pytest

from playground.claims.claim import Arm
from playground.claims.lab import ARM, Lab, differences, pretraining
from playground.errors import UserError
from playground.zoo.changes import OBJECTIVE
from tests.playground.claims.test_claim import CARD

QUICK = Arm(entry="MLM", corpus="reviews", tokens=4000, steps=3, settings="width=16, layers=1, batch_size=4")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("claims")


def test_a_model_is_trained_once_and_kept(folder):
    first, second = Lab(folder), Lab(folder)
    before = first.facts(QUICK, 1)
    assert before["steps"] == 3
    assert second.facts(replace(QUICK, figure="gap", task="sentiment"), 1) == before, "the same pre-training"
    assert first.models == second.models
    assert first.run(QUICK, 1).name == second.run(QUICK, 1).name != first.run(QUICK, 2).name
    assert len([*folder.glob("*/ready.json")]) == 2


def test_all_seeds_may_share_one_model(folder):
    lab, shared = Lab(folder), replace(QUICK, one_model=True)
    assert lab.run(shared, 3).name == lab.run(shared, 4).name == lab.run(QUICK, 0).name


def test_no_steps_are_a_random_start(folder):
    lab = Lab(folder)
    assert lab.learner(replace(QUICK, steps=0), 0).step == 0
    assert lab.models == {}
    assert lab.learner(QUICK, 0).step == 3


def test_figures_of_training_of_an_instrument_and_of_fine_tuning(folder):
    lab, facts = Lab(folder), Lab(folder).facts(QUICK, 0)
    assert lab.figure(CARD, replace(QUICK, figure="held-out loss"), 0) == facts["loss"]["held_out"]
    assert lab.figure(CARD, replace(QUICK, figure="gap"), 0) == facts["loss"]["held_out"] - facts["loss"]["train"]
    looked = replace(QUICK, instrument="perplexity(sentence=a good film)", figure="pseudo-perplexity")
    assert lab.figure(CARD, looked, 0) > 1
    tuned = replace(QUICK, task="sentiment", train_size=4, tuning_steps=2, strategy="feature-based")
    assert 0 <= lab.figure(CARD, replace(tuned, figure="accuracy"), 0) <= 1
    assert lab.figure(CARD, replace(tuned, figure="forgetting"), 0) == 0
    computed = replace(CARD, compute=lambda lab, arm, seed: seed + 0.5)
    assert lab.figure(computed, QUICK, 2) == 2.5


def test_figures_of_compression(folder):
    lab = Lab(folder)
    small = replace(QUICK, task="sentiment", train_size=4, tuning_steps=2, pipeline="int8")
    whole = replace(small, pipeline="uncompressed")
    size = {arm.pipeline: lab.figure(CARD, replace(arm, figure="file"), 0) for arm in (whole, small)}
    assert size["int8"] < size["uncompressed"]


def test_a_figure_that_is_not_there_is_refused_with_those_that_are(folder):
    with pytest.raises(UserError, match="reads the figure 'speed'; there are train loss, held-out loss"):
        Lab(folder).figure(CARD, replace(QUICK, figure="speed"), 0)


def test_what_counts_before_adaptation():
    assert pretraining(replace(QUICK, task="sentiment", figure="accuracy")) == QUICK


def test_the_arms_differ_in_the_field_and_what_comes_with_it():
    changes = {(each.group, each.part): (each.before, each.after) for each in differences(CARD)}
    assert changes[ARM, "entry"] == ("MLM", "LM")
    assert changes[OBJECTIVE, "name"] == ("MLM", "LM")
    assert changes["architecture here", "attention"] == ("bidirectional", "left to right")
    assert set(changes) == {
        (ARM, "entry"),
        (OBJECTIVE, "name"),
        (OBJECTIVE, "loss"),
        ("architecture here", "attention"),
    }
