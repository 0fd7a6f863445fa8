"""Mask and infill: the words that give a text its label are hidden, and others are filled in for another label.

After arXiv:1908.08039, sec. 3: a conditional model fills the gaps. Here the words to hide are those without which a
judge is least sure of the present label.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean

import torch
from torch import Tensor

from playground.errors import Refusal
from playground.finetuning.comparing.continual import Learnt
from playground.finetuning.data.dataset import Dataset, Item, pack
from playground.finetuning.data.input_format import LONGEST, InputFormat, packing_for
from playground.finetuning.data.task import Task
from playground.finetuning.data.task_types import Classes
from playground.finetuning.run.base import Base
from playground.finetuning.run.trainer import FinetuneConfig, Finetuner, numbered
from playground.finetuning.strategies.full import FULL
from playground.finetuning.strategy.cbert import Conditional, check_filling
from playground.finetuning.strategy.semi_supervised import check_classes
from playground.models.model import LanguageModel
from playground.rng import generator
from playground.tokenizing import Tokenizer

LESSONS = 200
"""Steps in which the writer learns to fill gaps for a label."""

SHARE = 0.3
"""Share of the words that are hidden in a lesson."""

MOST = 4
"""Words of a text that are hidden at most."""

TRIES = 16
"""Ways in which the gaps are filled; the one that the judge likes best is taken."""


EVEN = 1e-6
"""Chances are taken to be so far from 0 and from 1 at least, so that their odds are numbers."""

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
    """A fine-tuned copy of the base that says how likely each label is, and the words it was taught in."""

    model: LanguageModel
    task: Learnt
    tokenizer: Tokenizer
    packing: InputFormat
    answer: Classes

    @torch.no_grad()
    def chances(self, texts: Dataset) -> Tensor:
        """The chance of every class for every text, `[r, c]`."""
        return self.task.scores(self.model, texts).softmax(-1)

    @torch.no_grad()
    def lead(self, texts: Dataset, label: int) -> float:
        """How far the score of a class lies before that of the next best, in nats, for one text."""
        [scores] = self.task.scores(self.model, texts)
        others = torch.arange(len(scores), device=scores.device) != label
        return float(scores[label] - scores[others].max())

    def read(self, words: Sequence[str]) -> Dataset:
        """A text that somebody wrote, as the judge reads it."""
        if not words:
            raise Refusal("The text has no words; write a sentence.")
        texts = pack([Item((list(words)[:LONGEST],), 0)], self.answer, self.packing, self.tokenizer)
        return texts.to(next(self.model.parameters()).device)

    def hidden(self, texts: Dataset, gaps: Tensor) -> Tensor:
        """What it says of a text with some words hidden, in several ways at once, `[g, c]`."""
        several = texts.pick(torch.zeros(len(gaps), dtype=torch.long))
        tokens = several.tokens
        hidden = replace(tokens, ids=tokens.ids.masked_fill(gaps, tokens.specials.mask))
        return self.chances(replace(several, tokens=hidden))

    def says(self, words: Sequence[str]) -> "Said":
        """How likely each label is, and what becomes of the likeliest one where a word is hidden."""
        texts = self.read(words)
        [chances] = self.chances(texts)
        likeliest = int(chances.argmax())
        places = texts.tokens.maskable[0].nonzero()[:, 0]
        gaps = torch.nn.functional.one_hot(places, texts.tokens.ids.shape[1]).bool()
        without = self.hidden(texts, gaps)[:, likeliest].logit(EVEN)
        pieces: list[int] = texts.tokens.ids[0, places].tolist()
        return Said(
            dict(zip(self.answer.names, chances.tolist(), strict=True)),
            tuple(self.tokenizer.words[piece] for piece in pieces),
            tuple((chances[likeliest].logit(EVEN) - without).tolist()),
            tuple(word for word in words if self.tokenizer.specials.unknown in self.tokenizer.encode_words([word])),
        )


@dataclass(frozen=True)
class Said:
    """How likely each label of a text is; by how many nats each piece, hidden, lowers the likeliest; unknown words.

    Nats are those of the odds, which still tell words apart where the label is all but certain.
    """

    chances: dict[str, float]
    pieces: tuple[str, ...]
    holds: tuple[float, ...]
    unknown: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Editor:
    """One judge finds the words, a writer fills the gaps, and a second judge, which took no part, says how it went."""

    judge: Judge
    other: Judge
    writer: Conditional
    seed: int

    @property
    def answer(self) -> Classes:
        """The labels there are."""
        return self.judge.answer

    def edit(self, words: Sequence[str], wanted: str) -> Edited:
        """The text with other words in the places that speak against the wanted label."""
        label = class_named(self.answer, wanted)
        texts = self.judge.read(words)
        gaps = self._gaps(texts, label)
        best = self._put_back(texts, self._filled(texts, gaps, label), gaps, label) if bool(gaps.any()) else texts
        chances = [float(self.other.chances(one)[0, label]) for one in (texts, best)]
        same = (best.tokens.ids == texts.tokens.ids)[texts.tokens.maskable]
        before, after = (
            self.judge.tokenizer.join(one.tokens.ids[0][texts.tokens.maskable[0]].tolist()) for one in (texts, best)
        )
        places = tuple((best.tokens.ids != texts.tokens.ids)[0].nonzero()[:, 0].tolist())
        return Edited(before, after, self.answer.names[label], places, *chances, kept=float(same.float().mean()))

    def _gaps(self, texts: Dataset, wanted: int) -> Tensor:
        """Word after word is hidden, each time the one without which the judge finds the wanted label likeliest."""
        gaps = torch.zeros_like(texts.tokens.maskable)
        while int(gaps.sum()) < MOST and float(self.judge.hidden(texts, gaps)[0, wanted]) < 0.5:
            open_places = (texts.tokens.maskable & ~gaps)[0].nonzero()[:, 0]
            if not len(open_places):
                break
            more = gaps.repeat(len(open_places), 1)
            more[torch.arange(len(open_places)), open_places] = True
            gaps = more[self.judge.hidden(texts, more)[:, wanted].argmax()][None]
        return gaps

    def _filled(self, texts: Dataset, gaps: Tensor, label: int) -> Dataset:
        """The best of several ways to fill the gaps."""
        several = texts.pick(torch.zeros(TRIES, dtype=torch.long))
        rng = generator(self.seed, "edit", *texts.tokens.ids[0].tolist())
        wanted = torch.full((TRIES,), label)
        tokens = self.writer.fill(several.tokens, gaps.expand(TRIES, -1), wanted, rng)
        filled = replace(several, tokens=tokens)
        return filled.pick(self.judge.chances(filled)[:, label].argmax()[None])

    def _put_back(self, texts: Dataset, filled: Dataset, gaps: Tensor, label: int) -> Dataset:
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


def judge(base: Base, tokenizer: Tokenizer, task: Task, labels: int, steps: int, seed: int) -> Judge:
    """Fine-tune a copy of the base on labelled texts, so that it can say what it holds of any other."""
    check_classes("Edits", task)
    assert isinstance(task.answer, Classes)
    packing = packing_for(base.learner.model.shape)
    base = replace(base, tokenizer=tokenizer, task=task)
    train = numbered(task.load(tokenizer, labels, seed, "train", packing), base)
    if train.ways > 1 or len(task.items(1, seed, "train")[0].texts) > 1:
        raise Refusal(f"The task {task.name!r} is about several texts at once; edits are for single texts.")
    run = Finetuner(base, FULL, train, FinetuneConfig(steps=steps), seed)
    for step in range(steps):
        run.learn(step)
    return Judge(run.model, Learnt(train, train, run.head, ()), tokenizer, packing, task.answer)


def editor(
    base: Base, tokenizer: Tokenizer, task: Task, labels: int, steps: int, seed: int, other: Judge | None = None
) -> Editor:
    """Train two judges and a writer on labelled texts; the second judge, unless there is one, has texts of its own."""
    check_classes("Edits", task)
    check_filling(base.learner.model)
    first = judge(base, tokenizer, task, labels, steps, seed)
    other = other or judge(base, tokenizer, task, labels, steps, seed + 1)
    train = task.load(tokenizer, labels, seed, "train", first.packing)
    writer = Conditional(base.learner.model, len(first.answer.names)).learn(train, LESSONS, SHARE, seed)
    return Editor(first, other, writer, seed)


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
