"""A fine-tuned copy of a subject that classifies sentences, to be attacked or cut through."""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from playground.analysis.subject import Subject
from playground.errors import UserError
from playground.finetuning.data.dataset import Dataset, Item, pack
from playground.finetuning.data.input_format import InputFormat, format_for
from playground.finetuning.data.task import Task
from playground.finetuning.run.base import Base, replace_model
from playground.finetuning.run.trainer import FinetuneConfig, Finetuner, numbered
from playground.finetuning.strategy.strategy import Strategy
from playground.finetuning.tasks.sentiment import SENTIMENT
from playground.tokenizing import Tokenizer
from playground.training.train_state import TrainState
from playground.zoo import entry_for

AT_ONCE = 256
"""Sentences that are classified in one pass."""


def base_of(subject: Subject) -> Base:
    """A base for fine-tuning that is a copy of the subject's model."""
    entry = replace(entry_for(subject.objective), model=subject.model.shape)
    device = subject.model.token_embedding.weight.device
    fresh = TrainState.new(entry, subject.tokenizer.words, subject.seed, device)
    learner = replace_model(fresh, deepcopy(subject.model).train())
    return Base(learner, subject.held_out, lambda: subject.held_out, tokenizer=subject.tokenizer, task=SENTIMENT)


def knows_sentiment(subject: Subject) -> str:
    """Its vocabulary knows the words of the task sentiment."""
    try:
        SENTIMENT.load(subject.tokenizer, 20, 0, "train")
    except UserError as refusal:
        return str(refusal)
    return ""


@dataclass(frozen=True, eq=False)
class Victim:
    """A fine-tuned model with its head, and how it reads sentences that are given as words."""

    run: Finetuner
    tokenizer: Tokenizer
    input_format: InputFormat
    task: Task

    def read(self, texts: Sequence[Sequence[str]], labels: Sequence[int]) -> Dataset:
        """Sentences as the model reads them."""
        items = [Item((list(words),), label) for words, label in zip(texts, labels, strict=True)]
        return self.run.prepared(
            numbered(pack(items, self.task.answer, self.input_format, self.tokenizer), self.run.base)
        )

    @torch.no_grad()
    def scores(self, texts: Sequence[Sequence[str]]) -> Tensor:
        """Logits `[r, c]` of sentences."""
        parts = [texts[k : k + AT_ONCE] for k in range(0, len(texts), AT_ONCE)]
        return torch.cat([self.scored(self.read(part, [0] * len(part))) for part in parts]).cpu()

    def accuracy(self, texts: Sequence[Sequence[str]], labels: Sequence[int]) -> float:
        """The share of sentences that it classifies as they are labelled."""
        return float((self.scores(texts).argmax(1) == torch.tensor(labels)).double().mean())

    def scored(self, texts: Dataset) -> Tensor:
        """Logits `[r, c]` of texts as the model reads them."""
        return self.run.head(dict(enumerate(self.run.model.hidden_states(texts.tokens))), texts)

    def embedding_gradient(self, texts: Sequence[Sequence[str]], labels: Sequence[int]) -> tuple[Dataset, Tensor]:
        """The texts as they are read, and the gradient `[r, t, d]` of their mean loss by each embedding."""
        batch = self.read(texts, labels)
        embedded = self.run.embed(batch).detach().requires_grad_()
        with torch.enable_grad():
            loss = batch.answer.loss(self.run.score(batch, embedded), batch.labels)
            (gradient,) = torch.autograd.grad(loss, embedded)
        return batch, gradient


def begun(subject: Subject, strategy: Strategy, labels: int, steps: int, task: Task = SENTIMENT) -> Victim:
    """A copy of the subject before the first step of fine-tuning on labelled texts of a task of single sentences."""
    base, input_format = base_of(subject), format_for(subject.model.shape)
    train = numbered(task.load(subject.tokenizer, labels, subject.seed, "train", input_format), base)
    run = Finetuner(base, strategy, train, FinetuneConfig(steps=steps), subject.seed)
    return Victim(run, subject.tokenizer, input_format, task)


def fine_tuned(subject: Subject, strategy: Strategy, labels: int, steps: int, task: Task = SENTIMENT) -> Victim:
    """A copy of the subject after fine-tuning; it does not learn any more."""
    victim = begun(subject, strategy, labels, steps, task)
    for step in range(steps):
        victim.run.learn(step)
    for part in (victim.run.model.eval(), victim.run.head):
        part.requires_grad_(False)
    return victim


def unseen(victim: Victim, count: int) -> tuple[list[list[str]], list[int]]:
    """Unseen sentences of the victim's task, and their labels."""
    items = victim.task.items(count, 0, "test")
    return [list(item.texts[0]) for item in items], [int(item.right) for item in items]
