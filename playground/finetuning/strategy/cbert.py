"""Conditional masked language model: predicts masked words given a text's label, to rewrite texts and edit others."""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import ClassVar

import torch
from torch import Generator, Tensor, nn
from torch.nn.functional import cross_entropy

from playground.batch import Tokens
from playground.errors import UserError
from playground.finetuning.data.dataset import Dataset
from playground.finetuning.data.task import Task
from playground.finetuning.strategy.losses import AuxLoss, ReadingBudget, StepContext, TrainerView
from playground.finetuning.strategy.semi_supervised import check_classes
from playground.knob import knob
from playground.models.model import LanguageModel
from playground.optimisers import AdamW
from playground.rng import generator
from playground.training.train_state import TrainState

RATE, BATCH = 2e-3, 16
"""Learning rate and batch size of the conditional model."""


def check_filling(model: LanguageModel) -> None:
    """Refuse a model that does not fill gaps in place."""
    shape = model.shape
    one_stack = not (shape.decoder_layers or shape.two_streams or shape.generator_ratio)
    if shape.kind == "static" or shape.attention != "bidirectional" or not one_stack:
        raise UserError(
            "Rewriting a text for its label needs a masked language model, which reads both sides. Choose "
            "a base such as BERT."
        )


class Conditional:
    """A copy of a model with a vector for each class, added to every embedding (CBERT, arXiv:1812.06705, sec. 3.2)."""

    def __init__(self, model: LanguageModel, classes: int) -> None:
        self.model = deepcopy(model).requires_grad_(True)
        self.labels = nn.Embedding(classes, model.shape.width).to(model.token_embedding.weight.device)
        nn.init.zeros_(self.labels.weight)

    def scores(self, tokens: Tokens, gaps: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
        """The scores `[k, v]` of the words in the gaps of texts with these labels `[b]`, and where the gaps are `[k]`.

        Waits once for a GPU, for the number of gaps.
        """
        hidden = replace(tokens, ids=tokens.ids.masked_fill(gaps, tokens.specials.mask), example_ids=None)
        embedded = self.model.hidden_states(hidden, last=0)[0] + self.labels(labels)[:, None]
        top = self.model.hidden_states(hidden, embedded, 0, self.model.top_hidden_state)[-1]
        at = gaps.flatten().nonzero()[:, 0]
        return self.model.score(top.flatten(0, 1)[at], "vocabulary", self.model.network), at

    def learn(self, texts: Dataset, steps: int, word_ratio: float, seed: int) -> "Conditional":
        """Fill gaps in the labelled texts, each with its own label."""
        optimiser = AdamW([*self.model.parameters(), *self.labels.parameters()], lr=RATE)
        for step in range(steps):
            rng = generator(seed, "lesson", step, device=texts.labels.device)
            drawn = texts.pick(torch.randint(len(texts.labels), (BATCH,), generator=rng, device=rng.device))
            gaps = some_words(drawn.tokens, word_ratio, rng)
            scores, at = self.scores(drawn.tokens, gaps, _row_labels(drawn))
            cross_entropy(scores, drawn.tokens.ids.flatten()[at]).backward()
            optimiser.step()
            optimiser.zero_grad(set_to_none=True)
        self.model.requires_grad_(False)
        return self

    @torch.no_grad()
    def fill(self, tokens: Tokens, gaps: Tensor, labels: Tensor, rng: Generator) -> Tokens:
        """The texts with words sampled for the gaps."""
        scores, at = self.scores(tokens, gaps, labels)
        words = tokens.specials.is_word(torch.arange(scores.shape[1], device=scores.device))
        scores = scores.masked_fill(~words, float("-inf"))
        shares = scores.softmax(-1).to(rng.device)
        drawn = (shares / torch.empty_like(shares).exponential_(generator=rng)).argmax(-1)  # as torch.multinomial draws
        ids = tokens.ids.flatten().index_copy(0, at, drawn.to(at.device)).view(tokens.ids.shape)
        return replace(tokens, ids=ids, example_ids=None)


def some_words(tokens: Tokens, word_ratio: float, rng: Generator) -> Tensor:
    """Gaps `[b, t]` for a share of the words of every text, at least one."""
    noise = torch.rand(tokens.ids.shape, generator=rng, device=rng.device).to(tokens.ids.device)
    noise = noise.masked_fill(~tokens.maskable, 2.0)
    rank = noise.argsort(dim=1).argsort(dim=1)
    number = (tokens.maskable.sum(1) * word_ratio).round().clamp(min=1)
    return (rank < number[:, None]) & tokens.maskable


def _row_labels(texts: Dataset) -> Tensor:
    return texts.labels.repeat_interleave(texts.rows_each)


@dataclass(frozen=True)
class Rewritten(AuxLoss):
    """In every step the texts of the batch are read a second time, with some words filled in anew for their labels.

    The model that fills them in is a copy that has first learnt to fill gaps in the labelled texts, given their labels
    (arXiv:1812.06705, sec. 3.3).
    """

    finetune_steps: int = knob(60, 1, 1000, unit="steps", why="Training of the label-aware copy.")
    word_ratio: float = knob(0.3, 0.01, 1.0, unit="share of the words", why="How much of a text is replaced.")
    weight: float = knob(1.0, 0.0, 10.0, unit="times the task's loss", why="How much rewritten texts count.")
    name: ClassVar[str] = "rewritten texts"

    def check(self, learner: TrainState, task: Task) -> None:
        check_classes(self.name, task)
        check_filling(learner.model)

    def tokens_read(self, budget: ReadingBudget) -> float:
        return budget.tokens * (2 * budget.steps + self.finetune_steps)

    def begin(self, run: TrainerView) -> Callable[[StepContext], Tensor]:
        texts, how = run.train, (self.finetune_steps, self.word_ratio, run.seed)
        writer = run.base.remember(
            ("conditional", id(texts.labels), *how),
            lambda: Conditional(run.base.learner.model, texts.answer.scores).learn(texts, *how),
        )

        def loss(now: StepContext) -> Tensor:
            tokens = now.batch.tokens
            rng = generator(run.seed, "rewritten", now.step, device=tokens.ids.device)
            gaps = some_words(tokens, self.word_ratio, rng)
            other = replace(now.batch, tokens=writer.fill(tokens, gaps, _row_labels(now.batch), rng))
            return self.weight * other.answer.loss(run.score(other), other.labels)

        return loss
