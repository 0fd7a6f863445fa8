"""Tiny runs for the tests: a small corpus of reviews, every entry of the zoo made small, a check with a deadline."""

import os
import time
from dataclasses import replace
from functools import cache

import pytest

from playground.corpora import open_corpus
from playground.training import Evaluated, Run, Stepped
from playground.training.learner import Learner
from playground.zoo import entries

ENTRIES = tuple(entries())
every_entry = pytest.mark.parametrize("name", ENTRIES)


@cache
def reviews(tokens=20_000):
    """Film reviews, made anew so that no test reads or fills the cache of the person who runs it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", os.devnull)
        return open_corpus("reviews", tokens=tokens)


def tiny(name="BERT", model=None, **recipe):
    """An entry with one narrow layer and short rows; `recipe` and `model` turn what a test is about."""
    entry = entries()[name]
    small = {"width": 16, "heads": 2, "layers": 1, "decoder_layers": min(1, entry.model.decoder_layers)}
    short = {"window": 16, "batch": 8, "steps": 12}
    model, recipe = small | (model or {}), short | recipe
    return replace(entry, model=replace(entry.model, **model), recipe=replace(entry.recipe, **recipe))


def run_of(name="BERT", *, steps=12, **values):
    """A run of a tiny entry on the reviews."""
    entry = values.pop("entry", None) or tiny(name)
    return Run(entry, values.pop("corpus", None) or reviews(), steps=steps, **values)


def learner_of(name="BERT", seed=0, **recipe):
    """A fresh learner of a tiny entry."""
    run = run_of(entry=tiny(name, **recipe), seed=seed)
    return Learner.new(run.entry, len(run.corpus.tokenizer), seed, run.device)


def losses(events):
    """The training losses of a stream of events, in step order."""
    return [float(e.loss) for e in events if isinstance(e, Stepped)]


def held_out(events):
    """Step and loss of every evaluation."""
    return [(e.step, e.held_out) for e in events if isinstance(e, Evaluated)]


def becomes(condition, seconds=10.0):
    """Whether a condition comes true before the deadline."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.005)
    return bool(condition())
