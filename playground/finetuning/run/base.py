"""Where fine-tuning starts: a pre-trained learner, and pre-training text to measure and to rehearse on."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

import torch

from playground.batch import Tokens
from playground.corpora import Corpus, open_corpus, pick
from playground.errors import Refusal
from playground.models.model import LanguageModel
from playground.tokenizing import Tokenizer
from playground.training.checkpoint import Checkpoint
from playground.training.data import BatchSampler
from playground.training.train_state import TrainState

if TYPE_CHECKING:  # a task knows nothing of where tuning starts
    from playground.finetuning.data.task import Task

T = TypeVar("T")


@dataclass(frozen=True)
class Base:
    """A pre-trained learner and the held-out text on which forgetting is measured.

    `rehearsal` gives pre-training text for strategies that rehearse; without it every second row of the held-out text
    is for them, and only the others are measured. `memory` keeps what all lanes of a comparison share, so the learner
    must not train on meanwhile (`compare` takes a copy). `tokenizer` and `task` are for strategies that read more than
    the labelled texts; `compare` fills them in. `beside` are other models whose vectors a strategy may read too.
    """

    learner: TrainState
    held_out: Tokens
    rehearsal: Callable[[], Tokens] | None = None
    tokenizer: Tokenizer | None = None
    task: "Task | None" = None
    beside: tuple[TrainState, ...] = ()
    memory: dict[Hashable, Any] = field(default_factory=dict, compare=False, repr=False)

    @property
    def measured(self) -> Tokens:
        """The rows on which forgetting is measured."""
        return self._every_second(1) if self._shared else self.held_out

    def rehearse(self) -> Tokens:
        """Pre-training text that is never measured, without the gold labels that its training does not need."""
        make = self.rehearsal or (lambda: self._every_second(0))
        return self.remember("rehearsal", lambda: self.bare(make()))

    def bare(self, text: Tokens) -> Tokens:
        """Text without the gold labels that pre-training does not need."""
        needed = ("language", *(need.removeprefix("label:") for need in self.learner.objective.needs))
        return replace(text, labels={name: row for name, row in text.labels.items() if name in needed})

    def remember(self, key: Hashable, make: Callable[[], T]) -> T:
        """What was made for an earlier lane, or is made now."""
        if key not in self.memory:
            self.memory[key] = make()
        return self.memory[key]

    @property
    def _shared(self) -> bool:
        return self.rehearsal is None and len(self.held_out.ids) > 1

    def _every_second(self, first: int) -> Tokens:
        rows = torch.arange(first, len(self.held_out.ids), 2, device=self.held_out.ids.device)
        return pick(self.held_out, rows) if self._shared else self.held_out


def from_checkpoint(saved: Checkpoint, rehearsed: bool = True) -> Base:
    """The base of a saved run; where strategies rehearse, its corpus is opened again, if it still is the same."""
    held_out = saved.corpus.held_out
    rehearsal = _text_of(saved) if rehearsed else lambda: held_out
    return Base(saved.learner, held_out, rehearsal)


def _text_of(saved: Checkpoint) -> Callable[[], Tokens] | None:
    """The training text of a saved run, None where it is gone or has changed."""
    kept = saved.corpus.rehearsal
    if kept is not None:
        return lambda: kept
    corpus = opened_again(saved.corpus.name, saved.corpus.hash)
    if corpus is None:
        return None
    learner = saved.learner
    recipe, needs = learner.entry.recipe, learner.objective.needs
    return lambda: in_words_of(
        saved.tokenizer,
        BatchSampler.of(corpus, recipe.seq_len, recipe.batch_size, learner.seed, learner.device, needs).windows,
    )


def opened_again(name: str, content: str) -> Corpus | None:
    """The corpus of a run by its name, None where it is gone or its content has changed."""
    try:
        corpus = open_corpus(name)
    except Refusal:
        return None
    return corpus if corpus.hash == content else None


def in_words_of(tokenizer: Tokenizer, text: Tokens) -> Tokens:
    """Pre-training text as a checkpoint gives it back: for the vocabulary of the model, its rows without numbers."""
    near = {name: in_words_of(tokenizer, other) for name, other in text.neighbours.items()}
    return replace(text, specials=tokenizer.specials, vocabulary=tokenizer.words, neighbours=near, example_ids=None)


def replace_model(learner: TrainState, model: LanguageModel) -> TrainState:
    """The learner with another model, for evaluation only."""
    objective = learner.entry.objective
    objective = objective.proposing(model.propose) if objective.proposes else objective
    return replace(learner, model=model, objective=objective)
