"""The example is short, learns, and takes the steps that the app takes."""

import os
import runpy
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from playground.objectives import find_objective
from playground.training.data import BatchSampler
from playground.training.train_state import TrainState
from playground.zoo import entry_for

FILE = Path(__file__).parents[2] / "examples" / "bert_in_100_lines.py"
WEEKDAYS = {"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"}


@pytest.fixture
def run(monkeypatch):
    """The variables of the example after some steps; it neither reads nor fills the cache of the person who runs it."""

    def run(steps):
        monkeypatch.setenv("XDG_CACHE_HOME", os.devnull)
        monkeypatch.setattr(sys, "argv", [FILE.name, str(steps)])
        return runpy.run_path(str(FILE))

    return run


def test_it_has_at_most_100_lines():
    assert len(FILE.read_text(encoding="utf-8").splitlines()) <= 100


@pytest.mark.slow
@pytest.mark.guarded
def test_its_loss_falls_and_the_blank_is_filled_by_a_weekday(run, capsys):
    made = run(300)
    assert made["losses"][0] > 6.5 and sum(made["losses"][-20:]) / 20 < 3.0
    assert made["words"][0] in WEEKDAYS
    printed = capsys.readouterr().out
    assert "i went to the park on [MASK] ." in printed and "step    0: loss 6.9" in printed


def test_its_steps_are_those_of_the_app(run):
    """The same objective, network, rows, masks, losses and weights as in training."""
    made, app = run(3), entry_for(find_objective("MLM"))
    assert made["MLM"].stages == app.objective.stages
    assert made["shape"] == app.model
    entry = replace(app, recipe=made["RECIPE"])
    learner = TrainState.new(entry, made["tokenizer"].words, made["SEED"], torch.device("cpu"))
    feed = BatchSampler.of_learner(learner, made["corpus"])
    losses = [float(learner.learn(learner.batch(feed.at(step)))[1]) for step in range(3)]
    assert losses == pytest.approx(made["losses"], abs=1e-5)
    for mine, theirs in zip(made["model"].parameters(), learner.model.parameters(), strict=True):
        torch.testing.assert_close(mine, theirs, atol=1e-5, rtol=0)
