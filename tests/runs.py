"""Tiny runs for the tests: a small corpus of reviews, every entry of the zoo made small, a check with a deadline."""

import io
import os
import pickle
import subprocess
import sys
import time
from dataclasses import fields, replace
from functools import cache
from pathlib import Path

import pytest
import torch

from playground.corpora import Corpus, open_corpus
from playground.corpora.corpus import pick
from playground.finetuning import find_task
from playground.finetuning.run.base import Base
from playground.objectives import objectives
from playground.training import Evaluated, Run, Stepped
from playground.training.data import BatchSampler
from playground.training.train_state import TrainState
from playground.zoo import entries, entry_for

ROOT = Path(__file__).parents[1]
ENTRIES = tuple(entries())
every_entry = pytest.mark.parametrize("name", ENTRIES)

TWO_STREAMS = "PLM"
"""XLNet's network on single texts."""
KNOWN = {**entries(), TWO_STREAMS: replace(entry_for(objectives()["PLM"]), model=entries()["XLNet"].model)}

KINDS = ("RoBERTa", "GPT", "BART", TWO_STREAMS, "ELECTRA", "ELMo")
"""One entry of each kind: both sides, one side, a decoder, two streams, a generator, recurrence."""
each_kind = pytest.mark.parametrize("name", KINDS)


def sampled(values, chosen):
    """All values as cases; without `--all` only the chosen ones run."""
    return [pytest.param(value, marks=() if value in chosen else pytest.mark.exhaustive) for value in values]


every_entry_or_kind = pytest.mark.parametrize("name", sampled(ENTRIES, (*KINDS, "XLNet")))
"""All entries where a test trains them a second time; without `--all` one of each kind."""

ROWS = tuple(name for name, objective in objectives().items() if objective.row)
every_objective_or_row = pytest.mark.parametrize("name", sampled(objectives(), ROWS))
"""All objectives where a test trains them a second time; without `--all` the rows of the survey's table."""


@cache
def reviews(tokens=20_000):
    """Film reviews, made anew so that no test reads or fills the cache of the person who runs it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", os.devnull)
        return open_corpus("reviews", tokens=tokens)


def tiny(name="RoBERTa", model=None, **recipe):
    """An entry with one narrow layer, short rows and no dropout; `recipe` and `model` turn what a test is about."""
    entry = KNOWN[name]
    small = {"width": 16, "heads": 2, "layers": 1, "dropout": 0.0, "decoder_layers": min(1, entry.model.decoder_layers)}
    if entry.model.embedding_size:
        small["embedding_size"] = 8
    if entry.model.attention_window:
        small |= {"layers": 2, "attention_window": 4}
    short = {"seq_len": 16, "batch_size": 8, "steps": 12}
    model, recipe = small | (model or {}), short | recipe
    return replace(entry, model=replace(entry.model, **model), recipe=replace(entry.recipe, **recipe))


class Paired(Corpus):
    """A corpus whose windows are cut into pairs of ragged texts; every token has every label."""

    def pairs(self, length, part="train", seed=0):
        rows = self.windows(length, part)
        number = torch.arange(len(rows.ids))
        first = 2 + (number * 7 + seed) % (length - 3)
        near = shortened(replace(rows, ids=rows.ids.flip(1)), length - first)
        return replace(shortened(rows, first), neighbours={"next": near, "other": pick(near, number.roll(1))})

    def triples(self, length, part="train", seed=0, paragraphs=False):
        rows = self.pairs(length, part, seed)
        near = rows.neighbours["next"]
        return replace(rows, neighbours={**rows.neighbours, "apart": replace(near, ids=near.ids.roll(1, 0))})


class Translated(Paired):
    """The same where the second text stands for a translation into another language."""

    def pairs(self, length, part="train", seed=0):
        rows = super().pairs(length, part, seed)
        beside = {"translation": _spoken(rows.neighbours["next"], 1), "other": rows.neighbours["other"]}
        return replace(_spoken(rows, 0), neighbours=beside)

    def streams(self, length, part="train"):
        rows = self.windows(length, part)
        return {name: _spoken(rows, k) for k, name in enumerate(("stream", "translation stream"))}


def _spoken(tokens, language):
    return replace(tokens, labels={**tokens.labels, "language": torch.full_like(tokens.ids, language)})


def shortened(tokens, lengths):
    """Only the first tokens of every row."""
    real = torch.arange(tokens.ids.shape[1]) < lengths[:, None]
    return replace(tokens, ids=tokens.ids.masked_fill(~real, tokens.specials.pad), lengths=lengths, padded=True)


def suited_reviews(objective):
    """The reviews with the second texts and the labels that an objective needs."""
    kind = Translated if "translation" in objective.needs else Paired
    return _with_labels(kind, tuple(n.removeprefix("label:") for n in objective.needs if n.startswith("label:")))


def base_of(entry="RoBERTa", **model):
    """A tiny learner after a few steps, in the default type of numbers."""
    return _base_of(torch.get_default_dtype(), entry, **model)


@cache
def _base_of(dtype, entry, **model):
    learner = learner_of(entry, model=model)
    feed = BatchSampler.of_learner(learner, suited_reviews(learner.entry) if learner.entry.needs else reviews())
    for step in range(3):
        learner.learn(learner.batch(feed.at(step)))
    return Base(learner, feed.evaluation(8), tokenizer=reviews().tokenizer, task=find_task("sentiment"))


@cache
def _with_labels(kind, names):
    given = {f.name: getattr(reviews(), f.name) for f in fields(Corpus)}
    return kind(**given | {"labels": dict.fromkeys(names, given["word_ids"] % 3) | given["labels"]})


def alone(objective, **recipe):
    """The tiny default entry of an objective."""
    entry = entry_for(objective)
    model = replace(entry.model, width=16, heads=2, layers=1)
    return replace(
        entry, model=model, recipe=replace(entry.recipe, **{"seq_len": 16, "batch_size": 8, "steps": 12} | recipe)
    )


def run_of(name="RoBERTa", *, steps=12, **values):
    """A run of a tiny entry on the reviews, which have what its objective needs."""
    entry = values.pop("entry", None) or tiny(name)
    corpus = values.pop("corpus", None) or (suited_reviews(entry) if entry.needs else reviews())
    return Run(entry, corpus, steps=steps, **values)


def learner_of(name="RoBERTa", seed=0, **recipe):
    """A fresh learner of a tiny entry."""
    run = run_of(entry=tiny(name, **recipe), seed=seed)
    return TrainState.new(run.entry, run.corpus.tokenizer.words, seed, run.device)


def feed_of(corpus=None, batch_size=8, seed=0):
    """The batches of a tiny run."""
    return BatchSampler.of(corpus or reviews(1_000), 16, batch_size, seed, torch.device("cpu"))


def tensors_of(value):
    """Where the tensors of a value are in memory, as a pickler meets them."""
    found = set()

    class Tensors(pickle.Pickler):
        def persistent_id(self, part):
            if isinstance(part, torch.Tensor):
                found.add(part.untyped_storage().data_ptr())
            return part if isinstance(part, torch.Tensor) else None

    Tensors(io.BytesIO()).dump(value)
    return found - {0}


def same_weights(one, other):
    """Whether two models have the same weights to the last bit."""
    first, second = one.state_dict(), other.state_dict()
    return first.keys() == second.keys() and all(torch.equal(first[name], second[name]) for name in first)


def losses(events):
    """The training losses of a stream of events, in step order."""
    return [float(e.loss) for e in events if isinstance(e, Stepped)]


def held_out(events):
    """Step and loss of every evaluation."""
    return [(e.step, e.held_out) for e in events if isinstance(e, Evaluated)]


def becomes(condition, seconds=60.0):
    """Whether a condition comes true before the deadline."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.005)
    return bool(condition())


def in_another_process(script, *arguments, **options):
    """What a script of Python prints in a process of its own."""
    command = [sys.executable, "-c", script, *map(str, arguments)]
    done = subprocess.run(command, cwd=ROOT, text=True, capture_output=True, check=False, **options)
    assert done.returncode == 0, done.stderr
    return done.stdout


def is_a_sentence(text):
    """Whether a message is one whole sentence for a person."""
    return len(text.split()) > 3 and text.endswith(".") and "\n" not in text and "Error" not in text
