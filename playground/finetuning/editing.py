"""Mask and infill: the words that give a text its label are hidden, and others are filled in for another label.

After arXiv:1908.08039, sec. 3: a conditional model fills the gaps. Here the words to hide are those without which a
judge is least sure of the present label.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean

import torch
from torch import Tensor

from playground.finetuning.answers import Classes
from playground.finetuning.base import Base
from playground.finetuning.conditional import Conditional, check_filling
from playground.finetuning.labelled import Item, Labelled, pack
from playground.finetuning.packing import LONGEST, Packing, packing_for
from playground.finetuning.sequence import Learnt
from playground.finetuning.strategies.full import FULL
from playground.finetuning.task import Task
from playground.finetuning.tune import Setting, Tuning, numbered
from playground.finetuning.unlabelled import check_classes
from playground.models.model import LanguageModel
from playground.refusal import Refusal
from playground.seeds import generator
from playground.tokenizing import Tokenizer

LESSONS = 200
"""Steps in which the writer learns to fill gaps for a label."""

SHARE = 0.3
"""Share of the words that are hidden in a lesson."""

MOST = 4
"""Words of a text that are hidden at most."""

TRIES = 16
"""Ways in which the gaps are filled; the one that the judge likes best is taken."""


LOSS = 0.5
"""How much of its lead, in nats, the wanted label may lose when a word is put back."""


@dataclass(frozen=True)
class Edited:
    """A text before and after, the places that changed, and how likely the wanted label is by another judge."""

    before: str
    after: str
    wanted: str
    places: tuple[int, ...]
    chance_before: float
    chance_after: float
    kept: float


@dataclass(frozen=True, eq=False)
class Judge:
    """A fine-tuned copy of the base that says how likely each label is."""

    model: LanguageModel
    task: Learnt

    @torch.no_grad()
    def chances(self, texts: Labelled) -> Tensor:
        """The chance of every class for every text, `[r, c]`."""
        return self.task.scores(self.model, texts).softmax(-1)

    @torch.no_grad()
    def lead(self, texts: Labelled, label: int) -> float:
        """How far the score of a class lies before that of the next best, in nats, for one text."""
        [scores] = self.task.scores(self.model, texts)
        others = torch.arange(len(scores), device=scores.device) != label
        return float(scores[label] - scores[others].max())


@dataclass(frozen=True, eq=False)
class Editor:
    """One judge finds the words, a writer fills the gaps, and a second judge, which took no part, says how it went."""

    tokenizer: Tokenizer
    packing: Packing
    answer: Classes
    judge: Judge
    other: Judge
    writer: Conditional
    seed: int

    def edit(self, words: Sequence[str], wanted: str) -> Edited:
        """The text with other words in the places that speak against the wanted label."""
        label = class_named(self.answer, wanted)
        texts = self._packed(words)
        gaps = self._gaps(texts, label)
        best = self._put_back(texts, self._filled(texts, gaps, label), gaps, label) if bool(gaps.any()) else texts
        chances = [float(self.other.chances(one)[0, label]) for one in (texts, best)]
        same = (best.tokens.ids == texts.tokens.ids)[texts.tokens.maskable]
        before, after = (
            self.tokenizer.join(one.tokens.ids[0][texts.tokens.maskable[0]].tolist()) for one in (texts, best)
        )
        places = tuple((best.tokens.ids != texts.tokens.ids)[0].nonzero()[:, 0].tolist())
        return Edited(before, after, self.answer.names[label], places, *chances, kept=float(same.float().mean()))

    def _packed(self, words: Sequence[str]) -> Labelled:
        if not words:
            raise Refusal("The text has no words; write a sentence.")
        return pack([Item((list(words)[:LONGEST],), 0)], self.answer, self.packing, self.tokenizer)

    def _gaps(self, texts: Labelled, wanted: int) -> Tensor:
        """Word after word is hidden, each time the one without which the judge finds the wanted label likeliest."""
        gaps = torch.zeros_like(texts.tokens.maskable)
        while int(gaps.sum()) < MOST and float(self._hidden(texts, gaps)[0, wanted]) < 0.5:
            open_places = (texts.tokens.maskable & ~gaps)[0].nonzero()[:, 0]
            if not len(open_places):
                break
            more = gaps.repeat(len(open_places), 1)
            more[torch.arange(len(open_places)), open_places] = True
            gaps = more[self._hidden(texts, more)[:, wanted].argmax()][None]
        return gaps

    def _hidden(self, texts: Labelled, gaps: Tensor) -> Tensor:
        """What the judge says of the text with some words hidden, `[g, c]`."""
        several = texts.pick(torch.zeros(len(gaps), dtype=torch.long))
        tokens = several.tokens
        hidden = replace(tokens, ids=tokens.ids.masked_fill(gaps, tokens.specials.mask))
        return self.judge.chances(replace(several, tokens=hidden))

    def _filled(self, texts: Labelled, gaps: Tensor, label: int) -> Labelled:
        """The best of several ways to fill the gaps."""
        several = texts.pick(torch.zeros(TRIES, dtype=torch.long))
        rng = generator(self.seed, "edit", *texts.tokens.ids[0].tolist())
        wanted = torch.full((TRIES,), label)
        tokens = self.writer.fill(several.tokens, gaps.expand(TRIES, -1), wanted, rng)
        filled = replace(several, tokens=tokens)
        return filled.pick(self.judge.chances(filled)[:, label].argmax()[None])

    def _put_back(self, texts: Labelled, filled: Labelled, gaps: Tensor, label: int) -> Labelled:
        """What need not have changed is what it was: word after word, where the judge finds that it hardly matters."""
        for place in gaps[0].nonzero()[:, 0].tolist():
            ids = filled.tokens.ids.clone()
            ids[0, place] = texts.tokens.ids[0, place]
            other = replace(filled, tokens=replace(filled.tokens, ids=ids))
            if self.judge.lead(other, label) > self.judge.lead(filled, label) - LOSS:
                filled = other
        return filled


def class_named(answer: Classes, name: str) -> int:
    """The number of a class; one that there is not is refused."""
    if name not in answer.names:
        raise Refusal(f"There is no label {name!r}; choose one of: {', '.join(answer.names)}.")
    return answer.names.index(name)


def editor(base: Base, tokenizer: Tokenizer, task: Task, labels: int, steps: int, seed: int) -> Editor:
    """Train two judges and a writer on labelled texts; the second judge has texts of its own."""
    check_classes("Edits", task)
    check_filling(base.learner.model)
    assert isinstance(task.answer, Classes)
    packing = packing_for(base.learner.model.shape)
    train = task.load(tokenizer, labels, seed, "train", packing)
    if train.ways > 1 or len(task.items(1, seed, "train")[0].texts) > 1:
        raise Refusal(f"The task {task.name!r} is about several texts at once; edits are for single texts.")
    base = replace(base, tokenizer=tokenizer, task=task)
    judge = _judge(base, train, steps, seed)
    other = _judge(base, task.load(tokenizer, labels, seed + 1, "train", packing), steps, seed + 1)
    writer = Conditional(base.learner.model, len(task.answer.names)).learn(train, LESSONS, SHARE, seed)
    return Editor(tokenizer, packing, task.answer, judge, other, writer, seed)


def _judge(base: Base, train: Labelled, steps: int, seed: int) -> Judge:
    train = numbered(train, base)
    run = Tuning(base, FULL, train, Setting(steps=steps), seed)
    for step in range(steps):
        run.learn(step)
    return Judge(run.model, Learnt(train, train, run.head, ()))


@dataclass(frozen=True)
class Success:
    """Of so many unseen texts, each turned to another label: the share that got it, and the share of words kept."""

    texts: int
    turned: float
    kept: float


def success(made: Editor, task: Task, count: int) -> Success:
    """Turn unseen texts to the next label and ask the judge that took no part."""
    names = made.answer.names
    edits = [made.edit(item.texts[0], names[(item.right + 1) % len(names)]) for item in task.items(count, 0, "test")]
    return Success(len(edits), fmean(one.chance_after > 0.5 for one in edits), fmean(one.kept for one in edits))
