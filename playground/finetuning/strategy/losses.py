"""Auxiliary losses of a strategy: penalties that hold weights back, and further losses in the same steps.

Each is a declaration; `begin` gets the run before its first step and returns the loss as a function of the step.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import ClassVar, Protocol

import torch
from torch import Tensor, nn
from torch.nn.functional import mse_loss

from playground.batch import Batch, Tokens
from playground.corpora.corpus import pick
from playground.devices import computes_beside, from_cpu, on_cpu
from playground.errors import UserError
from playground.finetuning.data.dataset import Dataset
from playground.finetuning.data.input_format import InputFormat
from playground.finetuning.data.task import Task
from playground.finetuning.run.base import Base
from playground.knob import knob
from playground.models import total_loss
from playground.rng import generator
from playground.slicing import split_rows
from playground.training.train_state import TrainState

AHEAD = 32
"""Steps whose pre-training examples are drawn together for a GPU."""


@dataclass(frozen=True)
class StepContext:
    """One step: its number from 0, the labelled texts of its batch and their scores."""

    step: int
    batch: Dataset
    scores: Tensor


class TrainerView(Protocol):
    """What an auxiliary loss may use of a `Finetuner`; `learner` holds the copy that is being tuned."""

    base: Base
    learner: TrainState
    train: Dataset
    seed: int
    steps: int
    input_format: InputFormat
    named: Mapping[str, nn.Parameter]
    every: tuple[nn.Parameter, ...]

    def score(self, texts: Dataset, embedded: Tensor | None = None) -> Tensor: ...
    def embed(self, texts: Dataset) -> Tensor: ...
    def draw(self, texts: Dataset, step: int) -> Dataset: ...
    def other_loss(self, number: int, turn: int) -> Tensor: ...
    def rows(self, step: int) -> Tensor: ...


def loss_on(learner: TrainState, tokens: Tokens, seed: int, *path: object) -> Tensor:
    """The pre-training loss of a learner on a text; the seed and `path` name the random draw."""
    rng = generator(seed, *path, device=learner.device)
    return total_loss(learner.model(learner.objective.batch(tokens, rng)), consume=True)[0]


def losses_on(
    run: TrainerView, text: Tokens, rows: Callable[[int], Tensor], name: str, reads: Callable[[int], bool]
) -> Callable[[int], Tensor]:
    """The pre-training loss in each step that `reads`, on some `rows` of a text; the seed and `name` name the draws.

    A GPU would be waited for in every draw, so those of some steps are made on the CPU and copied to it together. What
    a generator proposes depends on its weights in that very step.
    """
    learner, device = run.learner, run.learner.device
    if not computes_beside(device) or learner.objective.proposes:
        return lambda step: loss_on(learner, pick(text, rows(step).to(device)), run.seed, name, step)
    here, objective = on_cpu((text, learner.objective), device)

    def drawn(step: int) -> Batch:
        batch = objective.batch(pick(here, rows(step)), generator(run.seed, name, step))
        return split_rows(batch, len(batch.tokens.ids))[0]  # what a step would ask for is counted

    @lru_cache(maxsize=1)
    def block(number: int) -> dict[int, Batch]:
        steps = range(number * AHEAD, (number + 1) * AHEAD)
        return from_cpu({step: drawn(step) for step in steps if step < run.steps and reads(step)}, device)

    return lambda step: total_loss(learner.model(block(step // AHEAD)[step]), consume=True)[0]


@dataclass(frozen=True)
class ReadingBudget:
    """What a run reads without its auxiliary losses: `steps` of `tokens` each, in rows of `seq_len`."""

    steps: int
    tokens: float
    seq_len: int


class AuxLoss(ABC):
    """A part of the loss; `rehearses` says that it reads pre-training text.

    With `for_body` it has no gradient for the task's head, only for what is below it.
    """

    name: ClassVar[str]
    rehearses: ClassVar[bool] = False
    for_body: ClassVar[bool] = False

    def begin(self, run: TrainerView) -> Callable[[StepContext], Tensor]:
        """The loss as a function of the step; overridden by losses that keep something from the start of the run."""
        return partial(self.loss, run)

    def loss(self, run: TrainerView, now: StepContext) -> Tensor:
        """The loss of a step."""
        raise NotImplementedError

    @abstractmethod
    def tokens_read(self, budget: ReadingBudget) -> float:
        """Tokens that it reads in addition to the batches of the task, over all steps."""

    def alone(self, steps: int) -> int:
        """In how many of the first steps the task's own loss is left out."""
        return 0

    def leaves_out(self, run: TrainerView, step: int) -> bool:
        """Whether a step leaves out the task's own loss."""
        return step < self.alone(run.steps)

    def check(self, learner: TrainState, task: Task) -> None:  # noqa: B027 (most suit every model and task)
        """Refuse a model or a task that it does not suit."""

    def notices(self, base: Base, input_format: InputFormat) -> tuple[str, ...]:
        """Sentences on the texts that it reads in addition: where there are fewer than it asks for, or some are cut."""
        return ()


class Pull(AuxLoss):
    """Half the `strength` times the squared distance to the pre-trained weights, weighted by `need`."""

    strength: float

    @abstractmethod
    def need(self, base: Base, names: Sequence[str]) -> list[Tensor]:
        """How much each weight is pulled."""

    def begin(self, run: TrainerView) -> Callable[[StepContext], Tensor]:
        weights = list(run.named.values())
        old, need = [p.detach().clone() for p in weights], self.need(run.base, tuple(run.named))

        def loss(_: StepContext) -> Tensor:
            total = torch.zeros((), device=old[0].device)
            for p, start, weight in zip(weights, old, need, strict=True):
                if p.requires_grad:
                    total = total + (weight * (p - start) ** 2).sum()
            return self.strength / 2 * total

        return loss


@dataclass(frozen=True)
class L2SPPenalty(Pull):
    """Half the strength times the squared distance to the pre-trained weights (L2-SP, arXiv:1802.01483, sec. 3)."""

    strength: float = knob(
        0.1, 0.0, 100.0, unit="nats per squared distance", why="Strength of the pull to the pre-trained weights."
    )
    name: ClassVar[str] = "pull to the start"

    def tokens_read(self, budget: ReadingBudget) -> float:
        return 0.0

    def need(self, base: Base, names: Sequence[str]) -> list[Tensor]:
        named = dict(base.learner.model.named_parameters())
        return [torch.ones_like(named[name]) for name in names]


@dataclass(frozen=True)
class EWCPenalty(Pull):
    """The same, each weight pulled by how much pre-training needs it (EWC, arXiv:1612.00796, eq. 3).

    The need is the diagonal of the empirical Fisher information on single rows of pre-training text: of the answers in
    the text, where the paper's are drawn from the model. It is divided by its mean, so that models can be compared.
    """

    strength: float = knob(
        1.0, 0.0, 1000.0, unit="nats per squared distance", why="Strength of the pull to the pre-trained weights."
    )
    rows: int = knob(32, 1, 256, unit="rows", why="Texts from which the importance of each weight is estimated.")
    name: ClassVar[str] = "pull by Fisher information"
    rehearses: ClassVar[bool] = True

    def tokens_read(self, budget: ReadingBudget) -> float:
        return self.rows * budget.seq_len

    def need(self, base: Base, names: Sequence[str]) -> list[Tensor]:
        def make() -> list[Tensor]:
            text, learner = base.rehearse(), base.learner
            rows = torch.arange(min(self.rows, len(text.ids)), device=text.ids.device).split(1)
            losses = (loss_on(learner, pick(text, row), 0, "fisher", number) for number, row in enumerate(rows))
            return fisher(learner.model, names, losses)

        return base.remember(("fisher", self.rows, tuple(names)), make)

    def notices(self, base: Base, input_format: InputFormat) -> tuple[str, ...]:
        return describe_fewer(len(base.rehearse().ids), self.rows, "rows of pre-training text")


def describe_fewer(there: int, asked: int, what: str) -> tuple[str, ...]:
    """A sentence where fewer are read than were asked for."""
    return (f"{there:,} {what} are read, as there are fewer than the {asked:,} asked for.",) if there < asked else ()


def fisher(model: nn.Module, names: Sequence[str], losses: Iterable[Tensor]) -> list[Tensor]:
    """Mean squared gradient of losses for each weight, divided by the mean of all (Fisher information's diagonal)."""
    named = dict(model.named_parameters())
    parameters = [named[name] for name in names]
    need = [torch.zeros_like(p) for p in parameters]
    for loss in losses:
        gradients = torch.autograd.grad(loss, parameters, allow_unused=True)
        need = [n if g is None else n + g**2 for n, g in zip(need, gradients, strict=True)]
    mean = torch.cat([n.flatten() for n in need]).mean().clamp(min=1e-30)
    return [n / mean for n in need]


@dataclass(frozen=True)
class ExperienceReplay(AuxLoss):
    """In a share of the steps pre-training texts are read as well, so that they are not forgotten."""

    replay_ratio: float = knob(
        0.5, 0.0, 1.0, unit="share of the steps", why="How often pre-training texts are replayed."
    )
    rows: int = knob(8, 1, 64, unit="rows", why="Pre-training texts in such a step.")
    name: ClassVar[str] = "replay"
    for_body: ClassVar[bool] = True
    rehearses: ClassVar[bool] = True

    def tokens_read(self, budget: ReadingBudget) -> float:
        return int(self.replay_ratio * budget.steps) * self.rows * budget.seq_len

    def begin(self, run: TrainerView) -> Callable[[StepContext], Tensor]:
        text = run.base.rehearse()

        def rows(step: int) -> Tensor:
            return torch.randint(len(text.ids), (self.rows,), generator=generator(run.seed, "replay", step))

        loss = losses_on(run, text, rows, "replayed", self.reads)
        return lambda now: loss(now.step) if self.reads(now.step) else torch.zeros(())

    def reads(self, step: int) -> bool:
        """Whether old texts come again in a step."""
        return int((step + 1) * self.replay_ratio) > int(step * self.replay_ratio)


@dataclass(frozen=True)
class AuxiliaryLM(AuxLoss):
    """The pre-training loss on the task's own texts.

    Beside the task it is GPT's auxiliary loss (Radford et al. 2018, sec. 3.2, eq. 5); alone in the first steps it is
    further pre-training (arXiv:2004.10964, sec. 4).
    """

    weight: float = knob(0.5, 0.0, 10.0, unit="times the loss", why="Weight relative to the loss of the task.")
    lm_fraction: float = knob(
        0.0,
        0.0,
        0.9,
        unit="share of the steps",
        why="How long only the pre-training objective is trained; 0 trains it in every step, with the task.",
    )
    name: ClassVar[str] = "reading the task's texts"
    for_body: ClassVar[bool] = True

    def check(self, learner: TrainState, task: Task) -> None:
        """Refuse an objective that needs more than the texts of a task."""
        named = {"pair": "a second text", "translation": "a translation"}
        for need in learner.objective.needs:
            if need.startswith((*named, "label:")):
                lacking = named.get(need) or f"the label {need.removeprefix('label:')!r} of every word"
                raise UserError(
                    f"{learner.objective.name} needs {lacking}, which the texts of a task do not have, so "
                    f"{self.name} is not possible. Choose another strategy, or a base such as RoBERTa or GPT."
                )

    def alone(self, steps: int) -> int:
        return int(self.lm_fraction * steps)

    def tokens_read(self, budget: ReadingBudget) -> float:
        return budget.tokens * (self.alone(budget.steps) if self.lm_fraction else budget.steps)

    def begin(self, run: TrainerView) -> Callable[[StepContext], Tensor]:
        def reads(step: int) -> bool:
            return not self.lm_fraction or step < self.alone(run.steps)

        loss = losses_on(run, run.train.tokens, run.rows, "read", reads)
        return lambda now: self.weight * loss(now.step) if reads(now.step) else torch.zeros(())


class WeightAverage:
    """A running mean of parameters (arXiv:2002.10345); what did not change keeps every bit."""

    def __init__(self, parameters: Sequence[nn.Parameter]) -> None:
        self.parameters, self.number = tuple(parameters), 0
        self.mean: list[Tensor] = []

    @torch.no_grad()
    def take(self) -> None:
        self.number += 1
        if not self.mean:
            self.mean = [p.detach().clone() for p in self.parameters]
        self.mean = [mean + (p - mean) / self.number for mean, p in zip(self.mean, self.parameters, strict=True)]

    @contextmanager
    def in_place(self) -> Iterator[None]:
        """The model with the mean as its weights, as long as the context lasts."""
        now = [p.data for p in self.parameters]
        self.put(self.mean)
        try:
            yield
        finally:
            self.put(now)

    def put(self, values: Sequence[Tensor]) -> None:
        for p, value in zip(self.parameters, values, strict=True):
            p.data = value


@dataclass(frozen=True)
class MeanTeacher(AuxLoss):
    """The scores stay near those of the mean of all earlier weights (self-distillation, arXiv:2002.10345)."""

    weight: float = knob(1.0, 0.0, 10.0, unit="times the squared distance", why="Weight of the teacher's scores.")
    name: ClassVar[str] = "following the mean of earlier weights"

    def tokens_read(self, budget: ReadingBudget) -> float:
        return budget.tokens * budget.steps

    def begin(self, run: TrainerView) -> Callable[[StepContext], Tensor]:
        mean = WeightAverage(run.every)

        def loss(now: StepContext) -> Tensor:
            mean.take()
            with torch.no_grad(), mean.in_place():
                targets = run.score(now.batch)
            return self.weight * mse_loss(now.scores, targets)

        return loss
