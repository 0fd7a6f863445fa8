"""Where fine-tuning starts: a pre-trained learner, and pre-training text to measure on and to rehearse."""

from collections.abc import Callable, Hashable
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import torch

from playground.batch import Tokens
from playground.corpora import Corpus, pick
from playground.corpora.sources import open_saved
from playground.errors import NoHead, UserError
from playground.finetuning.data.task import Task
from playground.models.model import NO_LM_HEAD, LanguageModel, with_merged_embeddings
from playground.objectives.bind import with_generator
from playground.tokenizing import Tokenizer
from playground.training.checkpoint import Checkpoint
from playground.training.data import BatchSampler
from playground.training.own_text import corpus_of
from playground.training.train_state import TrainState

T = TypeVar("T")


@dataclass(frozen=True)
class Text:
    """Text to rehearse that can travel to another process."""

    tokens: Tokens

    def __call__(self) -> Tokens:
        return self.tokens


@dataclass(frozen=True)
class Base:
    """A pre-trained learner and the held-out text on which forgetting is measured.

    `rehearsal` gives pre-training text for strategies that rehearse; without it every second row of the held-out text
    is for them, and only the others are measured. `memory` keeps what all runs of a comparison share, so the learner
    must not be trained meanwhile (`compare` takes a copy). `tokenizer` and `task` are for strategies that read more
    than the labelled texts; `compare` fills them in. `extra_encoders` are other models whose vectors a strategy may
    read too. Gradient-disentangled word vectors are read as the sums that they are.
    """

    learner: TrainState
    held_out: Tokens
    rehearsal: Callable[[], Tokens] | None = None
    tokenizer: Tokenizer | None = None
    task: Task | None = None
    extra_encoders: tuple[TrainState, ...] = ()
    memory: dict[Hashable, Any] = field(default_factory=dict, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "learner", _merged(self.learner))

    @property
    def words(self) -> Tokenizer:
        if self.tokenizer is None:
            raise UserError("This strategy needs the tokenizer of the base; give Base(..., tokenizer=...).")
        return self.tokenizer

    @property
    def measured(self) -> Tokens:
        """The rows on which forgetting is measured."""
        return self._every_second(1)

    def pretraining_loss(self, learner: TrainState) -> float | None:
        """The loss on the measured rows; None where the model has no head for it."""
        with suppress(NoHead):
            return learner.pretraining_loss(self.measured)
        return None

    @property
    def notices(self) -> tuple[str, ...]:
        """Sentences on what is not measured of the pre-training loss."""
        model, rows = self.learner.model, len(self.held_out.ids)
        if model.lm_head is None and model.unscored(self.learner.batch(self.measured, "forgetting")):
            return (f"Forgetting is not measured. {NO_LM_HEAD}",)
        halved = (
            f"The pre-training text of the base is missing: every second of its {rows} held-out rows is kept for "
            "strategies that rehearse, and the pre-training loss is measured on the others."
        )
        return (halved,) if len(self.measured.ids) < rows else ()

    def rehearse(self) -> Tokens:
        """Pre-training text that is never measured, without the gold labels that its training does not need."""
        make = self.rehearsal or (lambda: self._every_second(0))
        return self.remember("rehearsal", lambda: self.bare(make()))

    def bare(self, text: Tokens) -> Tokens:
        """Text without the gold labels that pre-training does not need."""
        needed = ("language", *(need.removeprefix("label:") for need in self.learner.objective.needs))
        return replace(text, labels={name: row for name, row in text.labels.items() if name in needed})

    def remember(self, key: Hashable, make: Callable[[], T]) -> T:
        """What an earlier run has made, or makes it now."""
        if key not in self.memory:
            self.memory[key] = make()
        return self.memory[key]

    def travelling(self, rehearses: bool) -> "Base":
        """The same for another process: with the text to rehearse, if a strategy does, without what is remembered."""
        text = self.rehearsal and Text(self.rehearse() if rehearses else self.held_out)
        return replace(self, rehearsal=text, memory={})

    def _every_second(self, first: int) -> Tokens:
        if self.rehearsal is not None or len(self.held_out.ids) < 2:
            return self.held_out
        return pick(self.held_out, torch.arange(first, len(self.held_out.ids), 2, device=self.held_out.ids.device))


def from_checkpoint(saved: Checkpoint) -> Base:
    """The base of a saved run, whose corpus is opened again, if it still is the same."""
    learner, held_out = saved.learner, saved.corpus.held_out
    kept = saved.corpus.rehearsal
    if kept is not None:
        return Base(learner, held_out, lambda: kept)
    try:
        corpus = corpus_of(saved)
    except UserError:  # its text is there no more
        return Base(learner, held_out)
    return Base(learner, held_out, lambda: _rehearsed(learner, corpus))


def base_of(learner: TrainState, corpus: Corpus) -> Base:
    """The base of a learner with the held-out text on which its training is tested."""
    return Base(learner, BatchSampler.of_learner(learner, corpus).evaluation(), lambda: _rehearsed(learner, corpus))


def _rehearsed(learner: TrainState, corpus: Corpus) -> Tokens:
    """The rows on which a learner has trained, as a checkpoint gives them back."""
    return in_words_of(corpus.tokenizer, BatchSampler.of_learner(learner, corpus).windows)


def opened_again(name: str, content: str, tokenizer: Tokenizer) -> Corpus | None:
    """The corpus of a run by its name, None where it is gone or its content has changed."""
    try:
        corpus = open_saved(name, tokenizer)
    except UserError:
        return None
    return corpus if corpus.hash == content else None


def in_words_of(tokenizer: Tokenizer, text: Tokens) -> Tokens:
    """Pre-training text with the model's vocabulary and without example ids, as a checkpoint gives it back."""
    near = {name: in_words_of(tokenizer, other) for name, other in text.neighbours.items()}
    return replace(text, specials=tokenizer.specials, vocabulary=tokenizer.words, neighbours=near, example_ids=None)


def replace_model(learner: TrainState, model: LanguageModel) -> TrainState:
    """The learner with another model, for evaluation only; nothing in it changes where the learner trains on."""
    objective = learner.entry.objective_in(learner.entry.all_phases[learner.phase])
    objective = with_generator(objective, model.propose)
    return replace(learner, model=model, objective=objective, optimisers=(), objectives=(), mems=())


def _merged(learner: TrainState) -> TrainState:
    """The learner whose model has plain tables."""
    model = with_merged_embeddings(learner.model)
    if model is learner.model:
        return learner
    return replace_model(replace(learner, entry=replace(learner.entry, model=model.shape)), model)


def copied(learner: TrainState) -> TrainState:
    """The learner as it is now, with its optimisers, while the other one may train on."""
    model, optimisers, mems = deepcopy((learner.model, learner.optimisers, learner.mems))
    return replace(replace_model(learner, model), optimisers=optimisers, mems=mems)
