"""Continual learning: tasks one after another, and what is left of the earlier ones after later ones."""

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import ClassVar, TypedDict

import torch
from torch import Tensor, nn

from playground.errors import UserError
from playground.finetuning.comparing.budget_matching import with_rate
from playground.finetuning.comparing.compare import TEST_TEXTS
from playground.finetuning.comparing.spec import ComparisonSpec
from playground.finetuning.data.dataset import Dataset
from playground.finetuning.data.input_format import InputFormat
from playground.finetuning.data.task import Task
from playground.finetuning.run.base import Base, replace_model
from playground.finetuning.run.measure import BLOCK
from playground.finetuning.run.trainer import FinetuneConfig, Finetuner, numbered
from playground.finetuning.strategy.head import AnyHead, WritingHead
from playground.finetuning.strategy.losses import (
    AuxLoss,
    EWCPenalty,
    ExperienceReplay,
    ReadingBudget,
    StepContext,
    TrainerView,
    describe_fewer,
    fisher,
)
from playground.finetuning.strategy.strategy import Strategy, Texts, texts_for
from playground.models.adapters import AdapterKind, Attached
from playground.models.model import LanguageModel
from playground.rng import generator
from playground.tokenizing import Tokenizer
from playground.training.parallel.seeds import MeanAndSd, spread, spread_if_measured
from playground.training.parallel.workers import computed_as_worker


@dataclass(frozen=True, eq=False)
class LearnedTask:
    """A task that was learnt: its texts, its head and the modules that belong to it, which do not change any more."""

    train: Dataset
    test: Dataset
    head: AnyHead
    modules: tuple[tuple[AdapterKind, nn.ModuleList], ...]

    def scores(self, model: LanguageModel, texts: Dataset) -> Tensor:
        head = self.head.on(model) if isinstance(self.head, WritingHead) else self.head
        return head(dict(enumerate(model.hidden_states(texts.tokens))), texts)

    def loss(self, model: LanguageModel, texts: Dataset) -> Tensor:
        return texts.answer.loss(self.scores(model, texts), texts.labels)

    @torch.no_grad()
    def accuracy(self, model: LanguageModel) -> float:
        """The accuracy of a model on the task, with the task's own modules attached."""
        attached = [Attached(kind, model, modules) for kind, modules in self.modules]
        for extra in attached:
            extra.attach()
        blocks = torch.arange(len(self.test.labels), device=self.test.labels.device).split(BLOCK)
        scores = torch.cat([self.scores(model, self.test.pick(index)) for index in blocks])
        for extra in attached:
            extra.detach()
        return self.test.answer.measure(scores, self.test.labels)["accuracy"]


@dataclass(frozen=True)
class Advanced:
    """One finished step of a task."""

    strategy: Strategy
    seed: int
    task: int
    step: int


@dataclass(frozen=True)
class ContinualResult:
    """One strategy with one seed after all tasks.

    Row k of the matrix is the accuracy on the tasks 0 to k after task k was learnt; `forgetting` is the rise of the
    pre-training loss by then, in nats (None: the base has no head for it); `notices` say what is left out of the
    texts.
    """

    strategy: Strategy
    seed: int
    matrix: tuple[tuple[float, ...], ...]
    forgetting: tuple[float | None, ...]
    notices: tuple[str, ...] = ()

    @property
    def final(self) -> float:
        """The mean accuracy over all tasks in the end (ACC of GEM, arXiv:1706.08840, sec. 2)."""
        return fmean(self.matrix[-1])

    @property
    def changes(self) -> tuple[float, ...]:
        """What later tasks did to each earlier one; below 0 it was forgotten."""
        return tuple(self.matrix[-1][k] - row[k] for k, row in enumerate(self.matrix[:-1]))

    @property
    def backward(self) -> float:
        """What later tasks did to earlier ones, on average (BWT, arXiv:1706.08840)."""
        return fmean(self.changes)


@dataclass(frozen=True)
class ReplayTasks(AuxLoss):
    """In a share of the steps labelled texts of an earlier task are read again, the tasks in turn."""

    earlier: tuple[LearnedTask, ...]
    share: float
    rows: int
    name: ClassVar[str] = "replay of earlier tasks"

    def tokens_read(self, budget: ReadingBudget) -> float:
        return int(self.share * budget.steps) * self.rows * budget.seq_len

    def loss(self, run: TrainerView, now: StepContext) -> Tensor:
        turn = int((now.step + 1) * self.share)
        if turn == int(now.step * self.share):
            return torch.zeros(())
        one = self.earlier[turn % len(self.earlier)]
        rng = generator(run.seed, "replayed task", now.step, device=one.train.labels.device)
        index = torch.randint(len(one.train.labels), (self.rows,), generator=rng, device=rng.device)
        return one.loss(run.learner.model, one.train.pick(index))


@dataclass(frozen=True)
class PullByTasks(AuxLoss):
    """EWC for earlier tasks: weights that they need are held where the last of them left them.

    The sum of the pulls of all tasks is one pull by the sum of their needs (arXiv:1612.00796, sec. 2.1).
    """

    earlier: tuple[LearnedTask, ...]
    strength: float
    rows: int
    name: ClassVar[str] = "pull by what earlier tasks need"

    def tokens_read(self, budget: ReadingBudget) -> float:
        return len(self.earlier) * self.rows * budget.seq_len

    def notices(self, base: Base, input_format: InputFormat) -> tuple[str, ...]:
        return describe_fewer(min(len(one.train.labels) for one in self.earlier), self.rows, "texts of an earlier task")

    def begin(self, run: TrainerView) -> Callable[[StepContext], Tensor]:
        now = run.named
        old, needs = [p.detach().clone() for p in now.values()], []
        for one in self.earlier:
            rows = torch.arange(min(self.rows, len(one.train.labels)), device=one.train.labels.device).split(1)
            model = run.base.learner.model
            needs.append(fisher(model, tuple(now), (one.loss(model, one.train.pick(row)) for row in rows)))
        need = [torch.stack(several).sum(0) for several in zip(*needs, strict=True)]

        def loss(_: StepContext) -> Tensor:
            triples = zip(need, now.values(), old, strict=True)
            moved = [(n * (p - o) ** 2).sum() for n, p, o in triples if p.requires_grad]
            return self.strength / 2 * torch.stack(moved).sum() if moved else torch.zeros(())

        return loss


def protecting(strategy: Strategy, earlier: Sequence[LearnedTask]) -> Strategy:
    """The strategy for a later task: what it does for pre-training, it does for the earlier tasks too.

    Where it adds modules to a frozen model there is nothing to protect.
    """
    if not earlier:
        return strategy
    known, more = tuple(earlier), list[AuxLoss]()
    for term in () if strategy.adapters else (*strategy.penalties, *strategy.aux_losses):
        more += [ReplayTasks(known, term.replay_ratio, term.rows)] if isinstance(term, ExperienceReplay) else []
        more += [PullByTasks(known, term.strength, term.rows)] if isinstance(term, EWCPenalty) else []
    return replace(strategy, fresh="", aux_losses=(*strategy.aux_losses, *more))


@computed_as_worker
def continual(
    base: Base,
    tokenizer: Tokenizer,
    spec: ComparisonSpec,
    *,
    tasks: Sequence[Task] = (),
    chosen: Sequence[Strategy] = (),
    batch_size: int = FinetuneConfig.batch_size,
) -> Generator[Advanced | ContinualResult]:
    """Every strategy learns all tasks one after another, with every seed; a `ContinualResult` ends each of its trials.

    `tasks` and `chosen` are those that the spec names, where they are known already.
    """
    tasks, chosen = tasks or spec.tasks, chosen or spec.chosen
    spec.check(chosen)
    check(tasks, chosen)
    rows = {"input_format": spec.input_format, "max_length": spec.max_length}
    setting = FinetuneConfig(spec.steps, batch_size, **rows)
    base = replace(base, tokenizer=tokenizer, memory={})
    texts = [(task, texts_for(base.learner, task, chosen, tokenizer, **rows)) for task in tasks]
    for seed in range(spec.seed, spec.seed + spec.seeds):
        for strategy in chosen:
            yield from _trial(base, texts, with_rate(strategy, spec.lr_policy), spec.train_sizes[-1], seed, setting)


def check(tasks: Sequence[Task], chosen: Sequence[Strategy]) -> None:
    """Refuse what is no sequence of tasks."""
    names = [task.name for task in tasks]
    if len(names) < 2:
        raise UserError(f"There is one task, {', '.join(names)}; name at least one more that comes after it.")
    if len(set(names)) < len(names):
        raise UserError(f"A task comes twice in {', '.join(names)}; name each task once.")
    untrained = next((strategy.name for strategy in chosen if strategy.prompt), None)
    if untrained:
        raise UserError(f"{untrained} trains nothing, so no task can be forgotten; leave it out.")


def _trial(
    base: Base, tasks: Sequence[tuple[Task, Texts]], strategy: Strategy, size: int, seed: int, setting: FinetuneConfig
) -> Iterator[Advanced | ContinualResult]:
    model, earlier = base.learner.model, list[LearnedTask]()
    matrix, forgetting, notices = [], [], list(base.notices)
    before = base.pretraining_loss(base.learner)
    for number, (task, texts) in enumerate(tasks):
        here = replace(base, learner=replace_model(base.learner, model), task=task, memory={})
        train, test = numbered(texts(size, seed, "train"), here), numbered(texts(TEST_TEXTS, seed, "test"), here)
        protected = protecting(strategy, earlier)
        run = Finetuner(here, protected, train, setting, seed)
        own = protected.notices(here, train, test, run.input_format)
        notices += [f"{task.name}: {line}" for line in train.notices + test.notices + own]
        for step in range(setting.steps):
            run.learn(step)
            yield Advanced(strategy, seed, number, step + 1)
        model = run.model.requires_grad_(True)
        for extra in run.attached:
            extra.detach()
        modules = tuple((extra.kind, extra.modules.requires_grad_(False)) for extra in run.attached)
        earlier.append(LearnedTask(run.train, run.prepared(test), run.head.requires_grad_(False), modules))
        matrix.append(tuple(one.accuracy(model) for one in earlier))
        after = base.pretraining_loss(replace_model(base.learner, model))
        forgetting.append(None if before is None or after is None else after - before)
    yield ContinualResult(strategy, seed, tuple(matrix), tuple(forgetting), tuple(notices))


class LearnedTasks(TypedDict):
    """What a strategy keeps of every task, as means over the seeds."""

    name: str
    """The strategy."""

    matrix: list[list[float]]
    """In row k the accuracy on the tasks 0 to k, after task k was learned."""

    accuracy: MeanAndSd
    """The mean accuracy over all tasks in the end (ACC)."""

    backward: MeanAndSd
    """What later tasks changed in the accuracy on earlier ones, on average (BWT); below 0 they were forgotten."""

    changes: list[float]
    """The same for each task but the last."""

    forgetting: MeanAndSd | None
    """How far the pre-training loss rose in the end; null where the model has no head for it."""


class SequenceFacts(TypedDict):
    """Tasks that were learnt one after another, in numbers."""

    unit: str
    """The unit of the pre-training loss and of forgetting."""

    steps: int
    """Optimiser steps for each task."""

    tasks: list[str]
    """The tasks in the order in which they were learned."""

    labels: int
    """The number of labelled texts of each task."""

    seeds: int
    """The number of seeds."""

    strategies: list[LearnedTasks]
    notices: list[str]
    """Notices: what was left out or done otherwise than asked for."""


def facts(tasks: Sequence[Task], spec: ComparisonSpec, unit: str, passed: Sequence[ContinualResult]) -> SequenceFacts:
    """The results by strategy; `unit` is that of the pre-training loss."""
    trials: dict[str, list[ContinualResult]] = {}
    for one in passed:
        trials.setdefault(one.strategy.name, []).append(one)
    return {
        "unit": unit,
        "steps": spec.steps,
        "tasks": [task.name for task in tasks],
        "labels": spec.train_sizes[-1],
        "seeds": max((len(some) for some in trials.values()), default=0),
        "strategies": [
            {
                "name": name,
                "matrix": [_means(rows) for rows in zip(*(one.matrix for one in some), strict=True)],
                "accuracy": spread([one.final for one in some]),
                "backward": spread([one.backward for one in some]),
                "changes": _means([one.changes for one in some]),
                "forgetting": spread_if_measured([one.forgetting[-1] for one in some]),
            }
            for name, some in trials.items()
        ],
        "notices": list(dict.fromkeys(line for some in trials.values() for line in some[0].notices)),
    }


def _means(rows: Sequence[Sequence[float]]) -> list[float]:
    return [fmean(column) for column in zip(*rows, strict=True)]
