"""The baked replay: small enough to send by mail, complete to the last byte, and harmless whatever the text says."""

import base64
import json
import zlib
from dataclasses import replace

import pytest
import torch

from playground.analysis.predictions import one_row
from playground.training import Started, train
from playground.training.observe.replay import MOST, RecordedCurve, ReplayRecorder
from tests.runs import TWO_STREAMS, reviews, run_of, tiny
from widgets.animation import replay as pages

MOST_BYTES = 3_000_000


def long_replay(name, tokens=32, moments=MOST):
    """Sixty moments of a model with 4 layers of 4 heads on a long text; its weights take random strides in between."""
    model = {"layers": 4, "heads": 4, "width": 32} | ({"decoder_layers": 4} if name == "BART" else {})
    run = run_of(entry=tiny(name, model=model))
    learner = next(e.learner for e in train(run) if isinstance(e, Started))
    text = one_row(reviews().ids[:tokens].tolist(), reviews().tokenizer)
    made = ReplayRecorder.of(learner, "reviews", text, moments - 1)
    rng = torch.Generator().manual_seed(0)
    for step in range(moments):
        learner.step = step
        made.look(learner)
        with torch.no_grad():
            for parameter in learner.model.parameters():
                parameter.add_(torch.randn(parameter.shape, generator=rng) * 0.15)
    curve = [(step, 6 / (1 + step / 300)) for step in range(1, 3000)]
    return made.replay(RecordedCurve(curve, curve[::50], {"unigram baseline": 4.6}))


@pytest.mark.parametrize("name", ["RoBERTa", TWO_STREAMS, "BART"])
def test_sixty_moments_of_four_layers_at_32_tokens_fit_into_three_megabytes(name):
    made = long_replay(name)
    assert len(made.moments) == 60
    shape = next(iter(made.attention.values())).shape
    assert tuple(shape[:3]) == (60, 4, 4) and max(w.shape[3] for w in made.attention.values()) in (32, 33)
    assert all(weights.float().std() > 4 for weights in made.attention.values()), (
        "attention that differs from cell to cell"
    )
    assert len(pages.page(made).encode()) <= MOST_BYTES


def unpacked(packed):
    """What the browser does, in Python."""
    story = json.loads(zlib.decompress(base64.b64decode(packed["story"])))
    attention = {}
    for name, kept in packed["attention"].items():
        data = torch.frombuffer(bytearray(zlib.decompress(base64.b64decode(kept["data"]))), dtype=torch.uint8)
        attention[name] = data.view(kept["shape"])
    return story, attention


@pytest.mark.parametrize("name", ["GPT", TWO_STREAMS, "BART"])
def test_nothing_is_lost_on_the_way(name):
    made = long_replay(name, tokens=9, moments=7)
    story, attention = unpacked(pages.packed(made))
    assert attention.keys() == made.attention.keys()
    assert all(torch.equal(attention[k], made.attention[k]) for k in attention)
    assert [m["guesses"] for m in story["moments"]] == [m["guesses"] for m in made.moments]
    assert [f["name"] for f in story["record"]["frames"]][-3:] == ["forward", "predict", "loss"]


def test_a_long_curve_is_thinned_late_and_kept_early():
    curve = [(step, 1.0) for step in range(1, 20_001)]
    points = pages._thin(curve)
    assert len(points) < 2 * pages.MOST_POINTS
    assert [step for step, _ in points[:20]] == list(range(1, 21))
    assert points[-1][0] == 20_000


def test_text_in_a_replay_can_never_become_markup():
    made = long_replay("RoBERTa", tokens=5, moments=2)
    wicked = "</script><script>alert(1)</script>"
    cells = [{**c, "text": wicked} for c in made.record["frames"][0]["lanes"][0]["cells"]]
    lanes = [{**made.record["frames"][0]["lanes"][0], "cells": cells}]
    frames = [{**made.record["frames"][0], "lanes": lanes}, *made.record["frames"][1:]]
    page = pages.page(replace(made, record={**made.record, "title": wicked, "frames": frames}))
    assert page.count("</script>") == 1 and "<script>alert" not in page
    assert not any(sign in page for sign in ("http://", "https://", "src=//")) or "www.w3.org" in page
