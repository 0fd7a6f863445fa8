"""A model on the Stage page: its predictions for the very batch on screen, and the inside of one update."""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from playground.analysis.predictions import ask, sentence_of, with_generator_of
from playground.analysis.unmasking import can_unmask, unmask
from playground.batch import Tokens
from playground.corpora import Corpus, open_corpus
from playground.corpora.readers.decode import Progress
from playground.corpora.respelling import IN_WORDS
from playground.errors import UserError
from playground.models import LanguageModel
from playground.objectives import Objective
from playground.rng import generator
from playground.tokenizing import Tokenizer
from playground.trace.model_frames import numbers, with_numbers
from playground.trace.rebuild import Rebuilt
from playground.trace.unmask_frames import with_unmasking
from playground.training import Run, Started, Stepped, train
from playground.training.checkpoint import Checkpoint
from playground.training.data import BatchSampler
from playground.training.fork import fork
from playground.training.observe.update import look_inside
from playground.training.observe.update import record as inside_record
from playground.training.own_text import corpus_of
from playground.training.store import bundled
from playground.training.store.ready_made import named
from playground.training.train_state import TrainState
from playground.zoo.entry import entry_for

STEPS = 200  # steps of a small model that is trained for the stage: seconds on one core, and better than chance
UNMASKING = 6  # steps in which the gaps of a text are filled
WINDOW = 16  # tokens of its texts: a row of its batch can be read on the stage at a glance

SECOND = {"translation": "translation", "pair": "next"}
"""What an objective can need beside a text, and which neighbour of a corpus' text that is."""

LONGEST_PAIR = 16  # words of two sample texts together that still make a readable picture


@dataclass(frozen=True)
class StageModel:
    """A learner that is not trained meanwhile, with the corpus that it has learned from, or a checkpoint that names it.

    `card` says in one line what a bundled model is; it is empty for any other. `changed` says what was done to
    the model since it learned. `placed` puts its attention weights `[layers, h, n, m]` where those of another
    version are.
    """

    learner: TrainState
    source: Corpus | Checkpoint
    card: str = ""
    changed: str = ""
    placed: Callable[[Tensor], Tensor] | None = None

    @cached_property
    def corpus(self) -> Corpus:
        """The corpus; that of a checkpoint is opened only where it is needed."""
        return corpus_of(self.source) if isinstance(self.source, Checkpoint) else self.source

    @property
    def corpus_name(self) -> str:
        return self.source.corpus.name if isinstance(self.source, Checkpoint) else self.source.name

    @property
    def tokenizer(self) -> Tokenizer:
        return self.source.tokenizer

    @property
    def name(self) -> str:
        """The entry with its steps and its corpus; a model that never learned, or learned elsewhere, says so."""
        step = self.learner.step
        unlearned = "as it was imported" if IN_WORDS in self.corpus_name else "that has not learned anything"
        after = f"after {step:,} step{'s' * (step != 1)} on {self.corpus_name}" if step else unlearned
        made = f" (ready-made checkpoint {self.checkpoint})" if self.checkpoint else ""
        return f"{self.learner.entry.title} {f'({self.changed})' if self.changed else f'{after}{made}'}"

    @cached_property
    def checkpoint(self) -> str:
        """The ready-made checkpoint that has the same weights, empty where there is none."""
        return named(self.learner)

    @cached_property
    def model(self) -> LanguageModel:
        """The model on the processor on which texts are rebuilt."""
        model = self.learner.model
        return model if self.learner.device.type == "cpu" else deepcopy(model).cpu()

    def ready(self, objective: Objective) -> Objective:
        """The objective with this model's generator, where the objective needs one."""
        return with_generator_of(objective, self.model)

    @property
    def sentence(self) -> str:
        """The held-out sentence that is shown where none was typed."""
        return self._text(sentence_of(self.corpus))

    def sample(self, objective: Objective) -> tuple[str, str] | None:
        """A held-out text, and a second one where the objective asks for it; none where the corpus has no pairs."""
        needed = next((name for need, name in SECOND.items() if need in objective.needs), "")
        if not needed:
            return self.sentence, ""
        try:
            held_out = self.corpus.pairs(self.learner.entry.recipe.seq_len, "held_out")
            second = held_out.neighbours[needed]
        except (UserError, KeyError):
            return None
        size = held_out.lengths + second.lengths
        fit = size.masked_fill((held_out.lengths < 4) | (second.lengths < 3), 10_000)
        row = int((fit - LONGEST_PAIR).abs().argmin())
        return self._text(held_out, row), self._text(second, row)

    def _text(self, tokens: Tokens, row: int = 0) -> str:
        return self.tokenizer.join(tokens.ids[row, : int(tokens.lengths[row])].tolist())

    def answers(self, made: Rebuilt, layers: tuple[int, ...] | None = None) -> dict[str, Any]:
        """The record of a rebuilt text with the predictions of this model; a model that cannot predict is refused."""
        seen = ask(self.model, made.batch, made.objective, self.name)
        if self.placed is not None:
            seen = replace(seen, weights={name: self.placed(each) for name, each in seen.weights.items()})
        record = made.record()
        return with_numbers(record, numbers(record, seen, self.name, layers))

    def unmasked(self, record: dict[str, Any], made: Rebuilt, rule: str, seed: int) -> dict[str, Any]:
        """The record with the steps in which this model fills the gaps by a rule; the same where it cannot."""
        if not can_unmask(made.batch):
            return record
        return with_unmasking(record, unmask(self.model, made.batch, rule, UNMASKING, generator(seed, "unmask")), rule)

    def inside(self) -> dict[str, Any]:
        """The record of this learner's next step."""
        feed = BatchSampler.of_learner(self.learner, self.corpus)
        return inside_record(look_inside(self.learner, feed), self.corpus.name)


@dataclass(frozen=True)
class Versions:
    """A model and another version of it that read the same text beside each other, with a line on each."""

    model: StageModel
    second: StageModel
    subtitles: tuple[str, str]


def bundled_model(name: str) -> StageModel | None:
    """The model of an objective that comes with the package; none where there is none."""
    if name not in bundled.bundled():
        return None
    made = bundled.load(name)
    return StageModel(made.saved.learner, made.saved, made.card)


def train_small(objective: Objective, seed: int, progress: Progress) -> StageModel:
    """A small model of an objective, trained here and now; early in its schedule, so that it still moves."""
    entry = entry_for(objective)
    entry = replace(entry, recipe=replace(entry.recipe, seq_len=WINDOW))
    return _trained(Run(entry, open_corpus(entry.corpus), seed, torch.device("cpu"), STEPS), None, progress)


def train_on(model: StageModel, progress: Progress) -> StageModel:
    """A copy of a model after more steps, with which its schedule ends."""
    learner = model.learner
    run = Run(learner.entry, model.corpus, learner.seed, learner.device, learner.step + STEPS)
    forked = fork(run, learner, {"steps": learner.step + STEPS})
    return _trained(forked.run, forked.learner, progress)


def _trained(run: Run, learner: TrainState | None, progress: Progress) -> StageModel:
    begun = learner.step if learner else 0
    for event in train(replace(run, evaluate_every=STEPS), learner):
        if isinstance(event, Started):
            learner = event.learner
        if isinstance(event, Stepped):
            progress(event.step - begun, STEPS)
    assert learner is not None
    return StageModel(learner, run.corpus)


def has_learned(learner: TrainState, corpus: Corpus) -> bool:
    """Whether a model has learned something: in steps of ours, or before it was imported."""
    return learner.step > 0 or IN_WORDS in corpus.name
