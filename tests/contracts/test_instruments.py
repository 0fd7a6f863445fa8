"""Every instrument runs on what has what it needs, says what lacks elsewhere, repeats itself, and changes no model."""

import json
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import torch

from playground.analysis.finding import FindingFacts, plain
from playground.analysis.instrument import instruments
from playground.errors import UserError
from playground.knob import knobs, turn
from playground.training.observe.subjects import of_learner
from playground.training.train_state import TrainState
from tests import json_keys
from tests.runs import KINDS, run_of, tiny

SUBJECTS = (*KINDS, "word2vec", "an encoder alone", "a wide table")


@cache
def subject_of(name):
    """A fresh learner of each kind of model on the reviews, its objective's second texts included."""
    changed = {"an encoder alone": {"lm_head": False}, "a wide table": {"embedding_size": 80}}.get(name, {})
    run = run_of(entry=tiny("RoBERTa" if changed else name, {"layers": 2} | changed))
    learner = TrainState.new(run.entry, run.corpus.tokenizer.words, 0, run.device)
    return of_learner(learner, run.corpus, name)


def state_of(model):
    return [(name, value.clone()) for name, value in model.state_dict().items()], [m.training for m in model.modules()]


def lowest(settings):
    """The settings with every number at its lower limit, where an instrument must work too."""
    return turn(settings, {k.name: k.low for k in knobs(settings) if k.low is not None})


@pytest.mark.parametrize("name", instruments())
@pytest.mark.parametrize("kind", SUBJECTS)
def test_an_instrument_answers_or_says_what_is_missing(name, kind):
    instrument, subject = instruments()[name], subject_of(kind)
    if sentence := instrument.missing(subject):
        assert sentence.endswith("."), sentence
        with pytest.raises(UserError):
            instrument.look(subject)
        return
    subject.model.train()
    weights, modes = state_of(subject.model)
    found = instrument.look(subject, lowest(instrument.settings))
    after, modes_after = state_of(subject.model)
    assert modes == modes_after
    assert all(torch.equal(a, b) for (_, a), (_, b) in zip(weights, after, strict=True))
    assert all(p.grad is None and p.requires_grad for p in subject.model.parameters())
    assert not any(m._forward_hooks or m._forward_pre_hooks for m in subject.model.modules())
    assert found.headline.endswith(".")
    assert found.n and all(number >= 1 and what for what, number in found.n.items()), "it says how much was measured"
    json_keys.check(json.dumps(found.facts(), allow_nan=False), FindingFacts)
    if not instrument.repeatable:
        return
    again = instrument.look(replace(subject, known={}), lowest(instrument.settings))
    assert found.headline == again.headline
    for table, other in zip(found.tables, again.tables, strict=True):
        assert len(table.to_csv().splitlines()) == len(table) + 1
        for column, repeated in zip(table.columns.values(), other.columns.values(), strict=True):
            np.testing.assert_array_equal(plain(column), plain(repeated), table.title)  # NaN is NaN


@pytest.mark.parametrize("name", [name for name, each in instruments().items() if hasattr(each.settings, "sentence")])
def test_what_is_not_read_of_a_typed_sentence_is_said(name):
    instrument, subject = instruments()[name], subject_of("RoBERTa")
    if instrument.missing(subject):
        return  # it has no checkpoints that were kept
    gap = {"answer": "great"} if hasattr(instrument.settings, "answer") else {}
    text = "the zyzzyva was [MASK] ." if gap else "the zyzzyva was great . " * 30
    found = instrument.look(subject, replace(lowest(instrument.settings), sentence=text, **gap))
    assert "Not in the vocabulary, so read as [UNK]: zyzzyva." in " ".join(found.notes)
    if not gap:
        assert "The text has 150 tokens; only the first 128 are used." in " ".join(found.notes)
        found = instrument.look(subject, replace(lowest(instrument.settings), sentence="the film was [MASK] ."))
        assert "read as [UNK]: [, MASK, ]." in " ".join(found.notes), "only a sentence with an answer has a gap"
    assert found.headline.endswith(".")
