"""Meters: models timed side by side, and the speed of early exit against the model run at each speed."""

from functools import cache

import pytest
import torch

from playground.compression import meters
from playground.compression.classifier import score_all, uncertainty
from playground.compression.meters import SHOWN_EXITS, depth, operations, speed_curve
from tests.compressing import data, quick, teacher


@cache
def exiting(speed=0.33):
    """A model of four layers with sharper heads than three steps make, so that its texts leave at different layers."""
    made = quick("early exit", speed=speed, steps=30, unlabelled=64).apply(teacher(4), data(4)).classifier
    with torch.no_grad():
        for head in (*made.exits, made.head):
            for parameter in head.parameters():
                parameter *= 3
    return made, speed_curve(made, data(4).test, data(4).base.words)


def test_every_speed_of_the_curve_is_what_the_model_does_at_it():
    (made, curve), texts = exiting(), data(4).test
    assert 0.33 in curve["speeds"] and curve["speed"] == 0.33
    for k, speed in enumerate(curve["speeds"]):
        there = made.at_speed(speed)
        assert curve["accuracy"][k] == texts.answer.measure(score_all(there, texts), texts.labels)["accuracy"]
        assert curve["layers_used"][k] == depth(there, texts)
        assert curve["operations"][k] == pytest.approx(operations(there, texts), rel=1e-9)
    assert made.speed == 0.33


def test_a_faster_speed_never_takes_more_layers():
    layers = exiting()[1]["layers_used"]
    assert layers[0] == 4
    assert layers == sorted(layers, reverse=True)
    assert len(set(layers)) > 3


def test_texts_are_shown_from_the_surest_to_the_least_sure_with_each_answer():
    (made, curve), texts = exiting(), data(4).test
    first = [text["uncertainty"][0] for text in curve["texts"]]
    every = uncertainty(made.exit_scores(texts)[0]).tolist()
    assert 1 < len(first) <= SHOWN_EXITS and first == sorted(set(first))
    assert (first[0], first[-1]) == (min(every), max(every))
    for text in curve["texts"]:
        assert len(text["uncertainty"]) == len(text["answers"]) == 4
        assert {text["right"], *text["answers"]} <= set(texts.answer.classes)


def test_a_model_is_timed_on_a_batch_that_it_has_just_read_and_in_a_changing_order():
    """Else the first of the list pays in every round for what the last left in the caches."""
    calls = []
    known = data().test
    models = {name: lambda some, name=name: calls.append((name, tuple(some.labels.tolist()))) for name in "abc"}
    found = meters.latencies(models, known)
    assert calls[::2] == calls[1::2]
    rounds = [calls[k : k + 6 : 2] for k in range(0, len(calls), 6)]
    assert all({name for name, _ in each} == {*"abc"} and len({read for _, read in each}) == 1 for each in rounds)
    first = [each[0][0] for each in rounds]
    assert len(rounds) == meters.ROUNDS * len(meters.BATCHES) and min(map(first.count, "abc")) > len(rounds) / 6
    assert all(each["share"] == 1 for each in found["a"].values())
