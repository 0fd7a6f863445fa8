"""A model that is lent to the stage: it answers the very example on screen, and lets one update be looked into."""

from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import torch

from playground.analysis.predictions import read, sentence_of
from playground.batch import Tokens
from playground.corpora import Corpus, open_corpus
from playground.corpora.readers.decode import Progress
from playground.errors import Refusal
from playground.models import LanguageModel
from playground.objectives import Objective
from playground.tokenizing import Tokenizer
from playground.trace.model_frames import numbers, with_numbers
from playground.trace.rebuild import Rebuilt
from playground.training import Run, Started, Stepped, train
from playground.training.data import BatchSampler
from playground.training.observe.update import look_inside
from playground.training.observe.update import record as inside_record
from playground.training.train_state import TrainState
from playground.zoo.entry import entry_for

STEPS = 200
"""Steps of a small model that is trained for the stage: seconds on one core, and guesses that are no longer blind."""

WINDOW = 16
"""Tokens of its texts: a row of its batch can be read on the stage at a glance."""

SECOND = {"translation": "translation", "pair": "next"}
"""What an objective can need beside a text, and the neighbour of a corpus' text that it is."""

LONGEST_PAIR = 16
"""Words of two sample texts together that still make a readable picture."""


@dataclass(frozen=True)
class Lent:
    """A learner at rest, with the text it learned from."""

    learner: TrainState
    corpus: Corpus

    @classmethod
    def copied(cls, learner: TrainState, corpus: Corpus) -> "Lent":
        """As the learner is now; what it learns later does not show."""
        return cls(deepcopy(learner), corpus)

    @property
    def name(self) -> str:
        """What it is called on screen; a model that never learned says so."""
        step = self.learner.step
        said = (
            f"after {step} step{'s' * (step != 1)} on {self.corpus.name}" if step else "that has not learned anything"
        )
        return f"{self.learner.entry.name} {said}"

    @cached_property
    def model(self) -> LanguageModel:
        """The model on the processor on which texts are rebuilt."""
        model = self.learner.model
        return model if self.learner.device.type == "cpu" else deepcopy(model).cpu()

    @property
    def tokenizer(self) -> Tokenizer:
        return self.corpus.tokenizer

    def ready(self, objective: Objective) -> Objective:
        """The objective with this model's generator as the one that proposes, where somebody must propose."""
        can = objective.proposes and self.model.shape.generator_ratio
        return objective.proposing(self.model.propose) if can else objective

    def sample(self, objective: Objective) -> tuple[str, str] | None:
        """A held-out text that the model can read, and the second text where the objective asks for one.

        Nothing where the model's text has no such pairs.
        """
        needed = next((name for need, name in SECOND.items() if need in objective.needs), "")
        if not needed:
            return self._say(sentence_of(self.corpus)), ""
        try:
            held_out = self.corpus.pairs(self.learner.entry.recipe.seq_len, "held_out")
            second = held_out.neighbours[needed]
        except (Refusal, KeyError):
            return None
        size = held_out.lengths + second.lengths
        fit = size.masked_fill((held_out.lengths < 4) | (second.lengths < 3), 10_000)
        row = int((fit - LONGEST_PAIR).abs().argmin())
        return self._say(held_out, row), self._say(second, row)

    def _say(self, tokens: Tokens, row: int = 0) -> str:
        return self.tokenizer.join(tokens.ids[row, : int(tokens.lengths[row])].tolist())

    def answers(self, made: Rebuilt, layers: tuple[int, ...] | None = None) -> dict[str, Any]:
        """The record of a rebuilt text with what this model makes of it; a model that cannot answer is a refusal."""
        try:
            seen = read(self.model, made.example)
        except Refusal as refusal:
            said = str(refusal).replace("This objective", made.objective.name).split("; set ")[0].rstrip(".")
            raise Refusal(f"{self.name} cannot answer here: {said}. Train a small model that can.") from refusal
        record = made.record()
        return with_numbers(record, numbers(record, seen, self.name, layers))

    def inside(self) -> dict[str, Any]:
        """The record of this learner's coming step."""
        recipe, needs = self.learner.entry.recipe, self.learner.objective.needs
        feed = BatchSampler.of(
            self.corpus, recipe.seq_len, recipe.batch_size, self.learner.seed, self.learner.device, needs
        )
        return inside_record(look_inside(self.learner, feed), self.corpus.name)


def train_small(objective: Objective, seed: int, progress: Progress) -> Lent:
    """A small model of an objective, trained here and now on the generated text that fits it.

    It rests early in its schedule, so that its next update still moves something.
    """
    entry = entry_for(objective)
    entry = replace(entry, recipe=replace(entry.recipe, seq_len=WINDOW))
    corpus = open_corpus(entry.corpus)
    learner = None
    for event in train(Run(entry, corpus, seed, torch.device("cpu"), steps=STEPS, evaluate_every=STEPS)):
        if isinstance(event, Started):
            learner = event.learner
        if isinstance(event, Stepped):
            progress(event.step, STEPS)
    assert learner is not None
    return Lent(learner, corpus)
