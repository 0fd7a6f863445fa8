"""Mask and infill: the words that give a text its label are hidden, and others are filled in for another label.

After arXiv:1908.08039, sec. 3: a conditional model fills the gaps. Here the words to hide are those without which a
classifier, the judge, is least sure of the present label.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from playground.errors import UserError
from playground.finetuning.comparing.continual import LearnedTask
from playground.finetuning.data.dataset import Dataset, Item, pack
from playground.finetuning.data.input_format import InputFormat, format_for
from playground.finetuning.data.task import Task
from playground.finetuning.run.base import Base
from playground.finetuning.run.trainer import FinetuneConfig, Finetuner, numbered
from playground.finetuning.strategies.full import FULL
from playground.finetuning.strategy.cbert import Conditional, check_filling
from playground.finetuning.strategy.semi_supervised import check_classes
from playground.models.model import LanguageModel
from playground.rng import generator
from playground.tokenizing import Tokenizer

LESSONS, SHARE = 200, 0.3
"""Steps in which the writer learns to fill gaps for a label, and the share of the words that are hidden in each."""

MOST, TRIES = 4, 16
"""Words of a text that are hidden at most, and ways in which they are filled; the best one by the judge is taken."""

EVEN, LOSS = 1e-6, 0.5
"""How far from 0 and 1 a probability is kept, and how much lead in nats a label may lose when a word is put back."""


@dataclass(frozen=True)
class Edited:
    """A text that was edited for another label."""

    before: str
    after: str
    target_label: str
    """The target label."""
    positions: tuple[int, ...]
    """Positions of the words that changed, from 0."""
    chance_before: float
    """Probability of the target label before, by an independent classifier."""
    chance_after: float
    """The same after."""
    kept: float
    """Share of the words that stay."""


@dataclass(frozen=True)
class Judgement:
    """How likely each label of a text is; by how many nats each piece, hidden, lowers the likeliest; unknown words.

    Nats are those of the odds, which still tell words apart where the label is all but certain.
    """

    chances: dict[str, float]
    pieces: tuple[str, ...]
    importance: tuple[float, ...]
    unknown: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Judge:
    """A fine-tuned copy of the base that classifies texts, and the task that it has learnt."""

    model: LanguageModel
    task: LearnedTask
    tokenizer: Tokenizer
    input_format: InputFormat

    @property
    def classes(self) -> tuple[str, ...]:
        return self.task.train.answer.classes

    @torch.no_grad()
    def chances(self, texts: Dataset) -> Tensor:
        """The probability of every class for every text, `[r, c]`."""
        return self.task.scores(self.model, texts).softmax(-1)

    @torch.no_grad()
    def lead(self, texts: Dataset, label: int) -> float:
        """How far the score of a class lies before that of the next best, in nats, for one text."""
        [scores] = self.task.scores(self.model, texts)
        others = torch.arange(len(scores), device=scores.device) != label
        return float(scores[label] - scores[others].max())

    def read(self, words: Sequence[str]) -> Dataset:
        """A typed text as the judge reads it."""
        if not words:
            raise UserError("The text has no words; write a sentence.")
        answer = self.task.train.answer
        texts = pack([Item((words,), 0)], answer, self.input_format, self.tokenizer)
        if texts.cut:
            raise UserError(f"The text is longer than a row of {self.input_format.max_length} tokens; shorten it.")
        return texts.to(next(self.model.parameters()).device)

    def masked(self, texts: Dataset, gaps: Tensor) -> Tensor:
        """The probabilities `[g, c]` for a text with some words masked, in several ways `[g, t]` at once."""
        several = texts.pick(gaps.new_zeros(len(gaps), dtype=torch.long))
        tokens = several.tokens
        masked = replace(tokens, ids=tokens.ids.masked_fill(gaps, tokens.specials.mask))
        return self.chances(replace(several, tokens=masked))

    def assess(self, words: Sequence[str]) -> Judgement:
        """How likely each label is, and how much the likeliest one needs each piece."""
        texts = self.read(words)
        [chances] = self.chances(texts)
        likeliest = int(chances.argmax())
        positions = texts.tokens.maskable[0].nonzero()[:, 0]
        without = self.masked(texts, one_hot(positions, texts.tokens.ids.shape[1]).bool())[:, likeliest]
        pieces: list[int] = texts.tokens.ids[0, positions].tolist()
        return Judgement(
            dict(zip(self.classes, chances.tolist(), strict=True)),
            tuple(self.tokenizer.words[piece] for piece in pieces),
            tuple((chances[likeliest].logit(EVEN) - without.logit(EVEN)).tolist()),
            tuple(word for word in words if self.tokenizer.specials.unknown in self.tokenizer.encode_words([word])),
        )


@dataclass(frozen=True, eq=False)
class Editor:
    """One judge finds the words, a writer fills the gaps, and a second judge, which took no part, assesses the edit."""

    judge: Judge
    other: Judge
    writer: Conditional
    seed: int

    def edit(self, words: Sequence[str], target_label: str) -> Edited:
        """The text with other words in the positions that count against the target label."""
        label, texts = class_named(self.judge.classes, target_label), self.judge.read(words)
        gaps = self._gaps(texts, label)
        best = self._put_back(texts, self._filled(texts, gaps, label), gaps, label) if bool(gaps.any()) else texts
        chances = [float(self.other.chances(one)[0, label]) for one in (texts, best)]
        maskable, changed = texts.tokens.maskable, best.tokens.ids != texts.tokens.ids
        before, after = (self.judge.tokenizer.join(one.tokens.ids[0][maskable[0]].tolist()) for one in (texts, best))
        positions = tuple(changed[0].nonzero()[:, 0].tolist())
        kept = float((~changed)[maskable].float().mean())
        return Edited(before, after, self.judge.classes[label], positions, *chances, kept=kept)

    def _gaps(self, texts: Dataset, target_label: int) -> Tensor:
        """Word after word is masked, each time the one without which the target label is likeliest by the judge."""
        gaps = torch.zeros_like(texts.tokens.maskable)
        while int(gaps.sum()) < MOST and float(self.judge.masked(texts, gaps)[0, target_label]) < 0.5:
            left = (texts.tokens.maskable & ~gaps)[0].nonzero()[:, 0]
            if not len(left):
                break
            more = gaps.repeat(len(left), 1)
            more[torch.arange(len(left)), left] = True
            gaps = more[self.judge.masked(texts, more)[:, target_label].argmax()][None]
        return gaps

    def _filled(self, texts: Dataset, gaps: Tensor, label: int) -> Dataset:
        several = texts.pick(gaps.new_zeros(TRIES, dtype=torch.long))
        rng = generator(self.seed, "edit", *texts.tokens.ids[0].tolist())
        tokens = self.writer.fill(
            several.tokens, gaps.expand(TRIES, -1), gaps.new_full((TRIES,), label, dtype=torch.long), rng
        )
        filled = replace(several, tokens=tokens)
        return filled.pick(self.judge.chances(filled)[:, label].argmax()[None])

    def _put_back(self, texts: Dataset, filled: Dataset, gaps: Tensor, label: int) -> Dataset:
        """The text with those original words back without which the target label hardly gains, one after another."""
        for position in gaps[0].nonzero()[:, 0].tolist():
            ids = filled.tokens.ids.clone()
            ids[0, position] = texts.tokens.ids[0, position]
            other = replace(filled, tokens=replace(filled.tokens, ids=ids))
            if self.judge.lead(other, label) > self.judge.lead(filled, label) - LOSS:
                filled = other
        return filled


def class_named(classes: Sequence[str], name: str) -> int:
    """The number of a class; an unknown one is refused."""
    if name not in classes:
        raise UserError(f"There is no label {name!r}; choose one of: {', '.join(classes)}.")
    return classes.index(name)


def judge(base: Base, tokenizer: Tokenizer, task: Task, labels: int, steps: int, seed: int) -> Judge:
    """Fine-tune a copy of the base on labelled texts, so that it can classify others."""
    check_classes("Edits", task)
    input_format = format_for(base.learner.model.shape)
    base = replace(base, tokenizer=tokenizer, task=task)
    train = numbered(task.load(tokenizer, labels, seed, "train", input_format), base)
    if train.rows_each > 1 or len(task.items(1, seed, "train")[0].texts) > 1:
        raise UserError(f"The task {task.name!r} is about several texts at once; edits are for single texts.")
    run = Finetuner(base, FULL, train, FinetuneConfig(steps=steps), seed)
    for step in range(steps):
        run.learn(step)
    return Judge(run.model, LearnedTask(train, train, run.head, ()), tokenizer, input_format)


def editor(
    base: Base, tokenizer: Tokenizer, task: Task, labels: int, steps: int, seed: int, other: Judge | None = None
) -> Editor:
    """Train two judges and a writer on labelled texts; the second judge, unless there is one, has texts of its own."""
    check_classes("Edits", task)
    check_filling(base.learner.model)
    first = judge(base, tokenizer, task, labels, steps, seed)
    other = other or judge(base, tokenizer, task, labels, steps, seed + 1)
    train = numbered(task.load(tokenizer, labels, seed, "train", first.input_format), base)
    writer = Conditional(base.learner.model, len(first.classes)).learn(train, LESSONS, SHARE, seed)
    return Editor(first, other, writer, seed)


@dataclass(frozen=True)
class Success:
    """How often editing gives an unseen text another label."""

    texts: int
    turned: float
    """Share of the texts that get the label."""
    kept: float
    """Share of the words that stay."""


def success(made: Editor, task: Task, count: int) -> Success:
    """Edit unseen texts for the next label and ask the judge that took no part."""
    names = made.judge.classes
    edits = [made.edit(item.texts[0], names[(item.right + 1) % len(names)]) for item in task.items(count, 0, "test")]
    return Success(len(edits), fmean(one.chance_after > 0.5 for one in edits), fmean(one.kept for one in edits))
