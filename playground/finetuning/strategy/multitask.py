"""Other tasks beside or before the one in question: the same body reads their texts, with heads of their own."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from playground.errors import UserError
from playground.finetuning.data.dataset import Dataset
from playground.finetuning.data.files import find_task
from playground.finetuning.data.input_format import InputFormat
from playground.finetuning.data.task import Task
from playground.finetuning.run.base import Base
from playground.finetuning.strategy.losses import AuxLoss, ReadingBudget, StepContext, TrainerView, describe_fewer
from playground.knob import knob
from playground.rng import generator
from playground.tokenizing import Tokenizer

CANDIDATES = ("entailment", "sentiment", "similarity", "paraphrase", "topic", "acceptability")
"""Other tasks, those first from which most has been seen to carry over (arXiv:1811.01088, table 1, for entailment)."""


@dataclass(frozen=True)
class OtherTasks(AuxLoss):
    """Labelled texts of other tasks, which have heads of their own."""

    num_tasks: int = knob(1, 1, 6, unit="tasks", why="How many other tasks there are.")
    train_size: int = knob(512, 8, 4096, unit="texts", why="Labelled texts of each of them.")
    name: ClassVar[str] = "other tasks"
    for_body: ClassVar[bool] = True

    def reading(self, steps: int) -> int:
        """In how many of the first steps they are read."""
        return steps

    def texts(self, base: Base, input_format: InputFormat) -> tuple[Dataset, ...]:
        """Their labelled texts for a base; all runs of a comparison share them."""
        return base.remember(
            (self.name, self.num_tasks, self.train_size, input_format),
            lambda: self.load(base.task, base.words, input_format),
        )

    def load(self, task: Task | None, tokenizer: Tokenizer, input_format: InputFormat) -> tuple[Dataset, ...]:
        """The first tasks among the candidates, without the one in question, whose words the vocabulary knows."""
        texts: list[Dataset] = []
        for other in [find_task(name) for name in CANDIDATES if task is None or name != task.name]:
            try:
                texts.append(other.load(tokenizer, self.train_size, 0, "train", input_format))
            except UserError:
                continue
            if len(texts) == self.num_tasks:
                break
        if not texts:
            raise UserError("This model's vocabulary knows the words of no other task, so none can be learned with it.")
        return tuple(texts)

    def notices(self, base: Base, input_format: InputFormat) -> tuple[str, ...]:
        texts = self.texts(base, input_format)
        cut, number = sum(some.cut for some in texts), sum(len(some.labels) for some in texts)
        most = f"longer than {input_format.max_length} tokens; their ends are left out."
        known = f"other tasks with {self.train_size:,} texts in words of the vocabulary"
        return (
            *describe_fewer(len(texts), self.num_tasks, known),
            *([f"{cut:,} of the {number:,} texts of other tasks are {most}"] if cut else []),
        )


@dataclass(frozen=True)
class MultiTask(OtherTasks):
    """A batch of another task in each step, in turn, in the first share of the steps or in all.

    In the first `single_task_fraction` of the steps they alone are learnt.
    """

    task_ratio: float = knob(
        1.0, 0.0, 1.0, unit="share of the steps", why="How long they are trained, at least as long as alone."
    )
    single_task_fraction: float = knob(0.0, 0.0, 0.9, unit="share of the steps", why="How long they are trained alone.")

    def tokens_read(self, budget: ReadingBudget) -> float:
        return budget.tokens * self.reading(budget.steps)

    def alone(self, steps: int) -> int:
        return int(self.single_task_fraction * steps)

    def reading(self, steps: int) -> int:
        return int(max(self.task_ratio, self.single_task_fraction) * steps)

    def loss(self, run: TrainerView, now: StepContext) -> Tensor:
        if now.step >= self.reading(run.steps):
            return torch.zeros(())
        turn, number = divmod(now.step, len(self.texts(run.base, run.input_format)))
        return run.other_loss(number, turn)


@dataclass(frozen=True)
class SampledTasks(OtherTasks):
    """Each step reads one task, drawn with temperature: the one in question or another (arXiv:1910.10683, sec. 3.5.2).

    The probability is the task's share of all texts to the power 1 / `temperature`, divided by the sum of all.
    """

    temperature: float = knob(2.0, 1.0, 1000.0, why="1 draws a task as often as one of its texts; more evens them out.")
    maximum: int = knob(2**21, 1, 2**21, unit="texts", why="A task with more texts counts as if it had this number.")

    def tokens_read(self, budget: ReadingBudget) -> float:
        return 0.0  # a batch of another task is read in the place of one of the task in question

    def mixing_rates(self, sizes: Sequence[int]) -> Tensor:
        """The probabilities of tasks with so many texts."""
        capped = torch.tensor(sizes, dtype=torch.float64).clamp(max=self.maximum)
        scaled = (capped / capped.sum()) ** (1 / self.temperature)
        return scaled / scaled.sum()

    def rates_for(self, train: Dataset, base: Base, input_format: InputFormat) -> Tensor:
        """The probability of the task in question, whose labelled texts are given, and of the others."""
        return self.mixing_rates([len(texts.labels) for texts in (train, *self.texts(base, input_format))])

    def drawn(self, run: TrainerView) -> Tensor:
        """The task of each step, `[s]`: 0 is the one in question, k the k-th of the others."""
        rates, rng = self.rates_for(run.train, run.base, run.input_format), generator(run.seed, "drawn tasks")
        return torch.multinomial(rates, run.steps, replacement=True, generator=rng)

    def leaves_out(self, run: TrainerView, step: int) -> bool:
        return bool(self.drawn(run)[step])

    def loss(self, run: TrainerView, now: StepContext) -> Tensor:
        drawn = self.drawn(run)
        task, before = int(drawn[now.step]), drawn[: now.step]
        return run.other_loss(task - 1, int((before == task).sum())) if task else torch.zeros(())
