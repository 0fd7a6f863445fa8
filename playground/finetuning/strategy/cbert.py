"""A model that fills gaps is told which label the text shall have: it rewrites labelled texts and edits others."""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import ClassVar

import torch
from torch import Generator, Tensor, nn
from torch.nn.functional import cross_entropy

from playground.batch import Tokens
from playground.errors import Refusal
from playground.finetuning.data.dataset import Dataset
from playground.finetuning.data.task import Task
from playground.finetuning.run.base import Base
from playground.finetuning.strategy.losses import AuxLoss, Budget, StepContext, TermContext
from playground.finetuning.strategy.semi_supervised import check_classes
from playground.knob import knob
from playground.models.model import LanguageModel
from playground.rng import generator
from playground.training.train_state import TrainState

RATE = 2e-3
"""The learning rate of the lessons."""

BATCH = 16
"""Texts of a lesson."""


def check_filling(model: LanguageModel) -> None:
    """Refuse a model that does not fill gaps in place."""
    shape = model.shape
    one_stack = not (shape.decoder_layers or shape.two_streams or shape.generator_ratio)
    if shape.kind == "static" or shape.attention != "bidirectional" or not one_stack:
        raise Refusal(
            "Rewriting a text for its label needs a model that fills gaps where they stand, reading both sides; take a "
            "base such as BERT."
        )


class Conditional:
    """A copy of a model with a vector for each class, added to every embedding (CBERT, arXiv:1812.06705, sec. 3.2)."""

    def __init__(self, model: LanguageModel, classes: int) -> None:
        self.model = deepcopy(model).requires_grad_(True)
        self.labels = nn.Embedding(classes, model.shape.width).to(model.token_embedding.weight.device)
        nn.init.zeros_(self.labels.weight)

    def scores(self, tokens: Tokens, gaps: Tensor, labels: Tensor) -> Tensor:
        """What stands in the gaps, `[k, v]`, of texts that shall have these labels `[b]`."""
        hidden = replace(tokens, ids=tokens.ids.masked_fill(gaps, tokens.specials.mask), example_ids=None)
        embedded = self.model.hidden_states(hidden, last=0)[0] + self.labels(labels)[:, None]
        known = self.model.hidden_states(hidden, embedded, 0, self.model.top_hidden_state)[-1]
        return self.model.score(known[gaps], "vocabulary", self.model.network)

    def learn(self, texts: Dataset, steps: int, share: float, seed: int) -> "Conditional":
        """Fill gaps in the labelled texts, each with its own label."""
        optimiser = torch.optim.AdamW([*self.model.parameters(), *self.labels.parameters()], lr=RATE)
        for step in range(steps):
            rng = generator(seed, "lesson", step)
            index = torch.randint(len(texts.labels), (BATCH,), generator=rng).to(texts.labels.device)
            drawn = texts.pick(index)
            labels = _of_rows(drawn)
            gaps = some_words(drawn.tokens, share, rng)
            cross_entropy(self.scores(drawn.tokens, gaps, labels), drawn.tokens.ids[gaps]).backward()
            optimiser.step()
            optimiser.zero_grad(set_to_none=True)
        self.model.requires_grad_(False)
        return self

    @torch.no_grad()
    def fill(self, tokens: Tokens, gaps: Tensor, labels: Tensor, rng: Generator) -> Tokens:
        """The texts with words drawn for the gaps."""
        scores = self.scores(tokens, gaps, labels)
        scores[:, : tokens.specials.first_word] = float("-inf")
        drawn = torch.multinomial(scores.softmax(-1).cpu(), 1, generator=rng)[:, 0]
        ids = tokens.ids.clone()
        ids[gaps] = drawn.to(ids.device)
        return replace(tokens, ids=ids, example_ids=None)


def taught(base: Base, texts: Dataset, steps: int, share: float, seed: int) -> Conditional:
    """The conditional model of a set of labelled texts; lanes with the same texts and seed share it."""
    make = lambda: Conditional(base.learner.model, texts.answer.scores).learn(texts, steps, share, seed)  # noqa: E731
    return base.remember(("conditional", id(texts.labels), steps, share, seed), make)


def some_words(tokens: Tokens, share: float, rng: Generator) -> Tensor:
    """Gaps `[b, t]` for a share of the words of every text, at least one."""
    noise = torch.rand(tokens.ids.shape, generator=rng).to(tokens.ids.device).masked_fill(~tokens.maskable, 2.0)
    rank = noise.argsort(dim=1).argsort(dim=1)
    number = (tokens.maskable.sum(1) * share).round().clamp(min=1)
    return (rank < number[:, None]) & tokens.maskable


def _of_rows(texts: Dataset) -> Tensor:
    """The label of every row."""
    return texts.labels.repeat_interleave(texts.ways)


@dataclass(frozen=True)
class Rewritten(AuxLoss):
    """In every step the texts of the batch are read a second time, with some words filled in anew for their labels.

    The model that fills them in is a copy that has first learnt to fill gaps in the labelled texts, told their labels
    (arXiv:1812.06705, sec. 3.3).
    """

    finetune_steps: int = knob(60, 1, 1000, unit="steps", why="How long the copy learns to write for a label.")
    word_ratio: float = knob(0.3, 0.01, 1.0, unit="share of the words", why="How much of a text is written anew.")
    weight: float = knob(1.0, 0.0, 10.0, unit="times the task's loss", why="How much rewritten texts count.")
    name: ClassVar[str] = "rewritten texts"

    def check(self, learner: TrainState, task: Task) -> None:
        check_classes(self.name, task)
        check_filling(learner.model)

    def tokens_read(self, lane: Budget) -> float:
        return lane.tokens * (2 * lane.steps + self.finetune_steps)

    def begin(self, start: TermContext) -> Callable[[StepContext], Tensor]:
        writer = taught(start.base, start.train, self.finetune_steps, self.word_ratio, start.seed)

        def loss(moment: StepContext) -> Tensor:
            drawn, rng = moment.drawn, generator(start.seed, "rewritten", moment.step)
            gaps = some_words(drawn.tokens, self.word_ratio, rng)
            other = replace(drawn, tokens=writer.fill(drawn.tokens, gaps, _of_rows(drawn), rng))
            return self.weight * other.answer.loss(start.score(other), other.labels)

        return loss
