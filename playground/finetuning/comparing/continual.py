"""Tasks one after another: what is left of the earlier ones once later ones have been learnt."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from playground.errors import Refusal
from playground.finetuning.comparing.compare import TEST_TEXTS, spread
from playground.finetuning.data.dataset import Dataset
from playground.finetuning.data.task import Task
from playground.finetuning.report.spreadsheet import csv_text
from playground.finetuning.run.base import Base, replace_model
from playground.finetuning.run.trainer import BLOCK, FinetuneConfig, Finetuner, numbered
from playground.finetuning.strategy.compatibility import Texts, texts_for
from playground.finetuning.strategy.head import AnyHead, WritingHead
from playground.finetuning.strategy.losses import AuxLoss, Budget, EWCPenalty, Replay, StepContext, TermContext, needed
from playground.finetuning.strategy.strategy import Strategy
from playground.models.adapters import AdapterKind, Attached
from playground.models.model import LanguageModel
from playground.rng import generator
from playground.tokenizing import Tokenizer


@dataclass(frozen=True, eq=False)
class Learnt:
    """A task that was learnt: its texts, its head and the modules that belong to it; they stay as they were then."""

    train: Dataset
    test: Dataset
    head: AnyHead
    extras: tuple[tuple[AdapterKind, nn.ModuleList], ...]

    def scores(self, model: LanguageModel, drawn: Dataset) -> Tensor:
        """What the task's own head makes of what a model knows now."""
        head = self.head.on(model) if isinstance(self.head, WritingHead) else self.head
        return head(dict(enumerate(model.hidden_states(drawn.tokens))), drawn)

    def loss(self, model: LanguageModel, drawn: Dataset) -> Tensor:
        """The task's loss on a batch of its texts."""
        return drawn.answer.loss(self.scores(model, drawn), drawn.labels)

    @torch.no_grad()
    def accuracy(self, model: LanguageModel) -> float:
        """How well a model still answers the task, with the task's own modules plugged in."""
        plugged = [Attached(kind, model, modules) for kind, modules in self.extras]
        for extra in plugged:
            extra.attach()
        blocks = torch.arange(len(self.test.labels), device=self.test.labels.device).split(BLOCK)
        scores = torch.cat([self.scores(model, self.test.pick(index)) for index in blocks])
        for extra in plugged:
            extra.detach()
        return self.test.answer.measure(scores, self.test.labels)["accuracy"]


@dataclass(frozen=True)
class Advanced:
    """One finished step on the way through the tasks."""

    strategy: Strategy
    seed: int
    task: int
    step: int


@dataclass(frozen=True)
class ContinualResult:
    """One strategy with one seed after all tasks.

    Row k of the matrix is the accuracy on the tasks 0 to k after task k was learnt; `forgetting` is the rise of the
    pre-training loss by then, in nats.
    """

    strategy: Strategy
    seed: int
    matrix: tuple[tuple[float, ...], ...]
    forgetting: tuple[float, ...]

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

    earlier: tuple[Learnt, ...]
    share: float
    rows: int
    name: ClassVar[str] = "replay of earlier tasks"

    def tokens_read(self, lane: Budget) -> float:
        return int(self.share * lane.steps) * self.rows * lane.seq_len

    def begin(self, start: TermContext) -> Any:
        def loss(moment: StepContext) -> Tensor:
            turn = int((moment.step + 1) * self.share)
            if turn == int(moment.step * self.share):
                return torch.zeros(())
            one = self.earlier[turn % len(self.earlier)]
            rng = generator(start.seed, "replayed task", moment.step)
            index = torch.randint(len(one.train.labels), (self.rows,), generator=rng)
            return one.loss(start.learner.model, one.train.pick(index.to(one.train.labels.device)))

        return loss


@dataclass(frozen=True)
class PullByTasks(AuxLoss):
    """EWC for earlier tasks: weights that they need are held where the last of them left them.

    The sum of the pulls of all tasks is one pull by the sum of their needs (arXiv:1612.00796, sec. 2.1).
    """

    earlier: tuple[Learnt, ...]
    strength: float
    rows: int
    name: ClassVar[str] = "pull by what earlier tasks need"

    def tokens_read(self, lane: Budget) -> float:
        return len(self.earlier) * self.rows * lane.seq_len

    def begin(self, start: TermContext) -> Any:
        model, names, now = start.base.learner.model, tuple(start.named), list(start.named.values())
        old = [p.detach().clone() for p in now]
        needs = [_need(one, model, names, self.rows) for one in self.earlier]
        need = [torch.stack(several).sum(0) for several in zip(*needs, strict=True)]

        def loss(_: StepContext) -> Tensor:
            moved = [(n * (p - o) ** 2).sum() for n, p, o in zip(need, now, old, strict=True) if p.requires_grad]
            return self.strength / 2 * torch.stack(moved).sum() if moved else torch.zeros(())

        return loss


def _need(one: Learnt, model: LanguageModel, names: Sequence[str], rows: int) -> list[Tensor]:
    """How much a learnt task depends on each weight of the model that was left to it."""
    return needed(model, names, (one.loss(model, one.train.pick(row)) for row in _single(one.train, rows)))


def _single(texts: Dataset, rows: int) -> Iterator[Tensor]:
    return iter(torch.arange(min(rows, len(texts.labels)), device=texts.labels.device).split(1))


def carried(strategy: Strategy, earlier: Sequence[Learnt]) -> Strategy:
    """The strategy for a later task: what it does for pre-training it does for the earlier tasks too.

    Where it adds modules to a frozen model there is nothing to protect.
    """
    if not earlier:
        return strategy
    known, more = tuple(earlier), list[AuxLoss]()
    for term in () if strategy.extras else (*strategy.penalties, *strategy.beside):
        more += [ReplayTasks(known, term.replay_ratio, term.rows)] if isinstance(term, Replay) else []
        more += [PullByTasks(known, term.strength, term.rows)] if isinstance(term, EWCPenalty) else []
    return replace(strategy, fresh="", beside=(*strategy.beside, *more))


def continual(
    base: Base,
    tokenizer: Tokenizer,
    tasks: Sequence[Task],
    chosen: Sequence[Strategy],
    *,
    train_size: int = 64,
    seeds: int = 3,
    seed: int = 0,
    setting: FinetuneConfig | None = None,
) -> Iterator[Advanced | ContinualResult]:
    """Every strategy learns all tasks one after another, with every seed; a `Passed` ends each of its lanes."""
    check(tasks, chosen)
    setting = setting or FinetuneConfig()
    base = replace(base, tokenizer=tokenizer, memory={})
    texts = {task.name: texts_for(base.learner, task, chosen, tokenizer, setting.input_format) for task in tasks}
    for number in range(seed, seed + seeds):
        for strategy in chosen:
            yield from _lane(base, tasks, texts, strategy, train_size, number, setting)


def check(tasks: Sequence[Task], chosen: Sequence[Strategy]) -> None:
    """Refuse what is no sequence."""
    names = [task.name for task in tasks]
    if len(names) < 2:
        raise Refusal(f"There is one task, {', '.join(names)}; name at least one more that comes after it.")
    if len(set(names)) < len(names):
        raise Refusal(f"A task comes twice in {', '.join(names)}; name each task once.")
    asks = next((strategy.name for strategy in chosen if strategy.prompt), None)
    if asks:
        raise Refusal(f"{asks} trains nothing, so no task can be forgotten; leave it out.")


def _lane(
    base: Base,
    tasks: Sequence[Task],
    texts: dict[str, Texts],
    strategy: Strategy,
    labels: int,
    seed: int,
    setting: FinetuneConfig,
) -> Iterator[Advanced | ContinualResult]:
    model, earlier = base.learner.model, list[Learnt]()
    matrix, forgetting = [], []
    before = _old_loss(base, model)
    for number, task in enumerate(tasks):
        here = replace(base, learner=replace_model(base.learner, model), task=task, memory={})
        train, test = (numbered(texts[task.name](*draw), here) for draw in _draws(labels, seed))
        run = Finetuner(here, carried(strategy, earlier), train, setting, seed)
        for step in range(setting.steps):
            run.learn(step)
            yield Advanced(strategy, seed, number, step + 1)
        model = run.model.requires_grad_(True)
        for extra in run.extras:
            extra.detach()
        earlier.append(Learnt(run.train, run.prepared(test), run.head.requires_grad_(False), _own(run)))
        matrix.append(tuple(one.accuracy(model) for one in earlier))
        forgetting.append(_old_loss(base, model) - before)
    yield ContinualResult(strategy, seed, tuple(matrix), tuple(forgetting))


def _draws(labels: int, seed: int) -> tuple[tuple[Any, ...], ...]:
    return (labels, seed, "train"), (TEST_TEXTS, seed, "test")


def _own(run: Finetuner) -> tuple[tuple[AdapterKind, nn.ModuleList], ...]:
    return tuple((extra.kind, extra.modules.requires_grad_(False)) for extra in run.extras)


def _old_loss(base: Base, model: LanguageModel) -> float:
    """The pre-training loss on held-out text, in nats."""
    return [*replace_model(base.learner, model).evaluate(base.measured).values()][-1]


def facts(tasks: Sequence[Task], labels: int, passed: Sequence[ContinualResult]) -> dict[str, Any]:
    """What came out, by strategy: the mean matrix, the means over tasks and seeds, and what pre-training lost."""
    lanes: dict[str, list[ContinualResult]] = {}
    for one in passed:
        lanes.setdefault(one.strategy.name, []).append(one)
    return {
        "tasks": [task.name for task in tasks],
        "labels": labels,
        "seeds": max((len(some) for some in lanes.values()), default=0),
        "strategies": [
            {
                "name": name,
                "matrix": [[fmean(cell) for cell in zip(*rows, strict=True)] for rows in _rows(some)],
                "accuracy": spread([one.final for one in some]),
                "backward": spread([one.backward for one in some]),
                "changes": [fmean(change) for change in zip(*(one.changes for one in some), strict=True)],
                "forgetting": spread([one.forgetting[-1] for one in some]),
            }
            for name, some in lanes.items()
        ],
    }


def table(found: dict[str, Any]) -> str:
    """The mean matrices as CSV, a line for every cell."""
    lines = [
        (one["name"], after, task, cell)
        for one in found["strategies"]
        for after, row in zip(found["tasks"], one["matrix"], strict=True)
        for task, cell in zip(found["tasks"], row, strict=False)
    ]
    return csv_text([("strategy", "after", "task", "accuracy"), *lines])


def _rows(some: Sequence[ContinualResult]) -> Iterator[tuple[tuple[float, ...], ...]]:
    """Row k of the matrices of all seeds."""
    return zip(*(one.matrix for one in some), strict=True)
