"""Suspects: the sound run is the playground's own, and the same seed gives the same pair."""

from dataclasses import replace

import pytest
import torch

from playground.claims.lab import corpus_of
from playground.errors import UserError
from playground.hunt import fault_named, train_suspect
from playground.knob import turn
from playground.training import Evaluated, Run, train
from playground.zoo import entry_to_train
from playground.zoo.preset import FAST

FAULT = replace(fault_named("a causal mask in a bidirectional model"), steps=4)


def test_the_sound_run_is_what_the_playground_trains():
    entry = FAST(entry_to_train("MLM")).turned({"batch_size": "16"})
    entry = replace(entry, recipe=turn(entry.recipe, {"steps": 4}))
    events = train(Run(entry, corpus_of("reviews", 0), 3, torch.device("cpu"), evaluate_every=20))
    held_out = [event.held_out for event in events if isinstance(event, Evaluated)][-1]
    assert train_suspect(FAULT, faulty=False, seed=3).held_out_loss == held_out


def test_the_same_seed_gives_the_same_suspect():
    one, two = (train_suspect(FAULT, faulty=True, seed=1) for _ in range(2))
    assert one.figures == two.figures
    assert one.figures != train_suspect(FAULT, faulty=True, seed=2).figures


def test_what_is_drawn_of_a_suspect_is_what_it_trains_on():
    sound, suspect = (train_suspect(FAULT, faulty) for faulty in (False, True))
    assert sound.batch(1).inputs.attn_mask.dense().all()
    mask = suspect.batch(1).inputs.attn_mask.dense()[0]
    assert torch.equal(mask, torch.ones_like(mask).tril().bool())
    assert [point.step for point in suspect.points if point.loss is not None] == [1, 2, 3, 4]
    assert len(suspect.glance.guesses) > 0
    assert suspect.subject.model is suspect.learner.model
    assert (sound.subject.name, suspect.subject.name) == ("sound", "suspect")


def test_a_fault_that_is_not_there_is_refused():
    with pytest.raises(UserError, match="no fault named"):
        fault_named("quantum noise in the embeddings")
