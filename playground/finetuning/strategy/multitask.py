"""Other tasks beside or before the one in question: the same body reads their texts, with heads of their own."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from playground.errors import Refusal
from playground.finetuning.data.dataset import Dataset
from playground.finetuning.data.find import find_task
from playground.finetuning.data.input_format import packing_for
from playground.finetuning.data.task import Task
from playground.finetuning.run.base import Base
from playground.finetuning.strategy.losses import AuxLoss, Budget, StepContext, TermContext
from playground.knob import knob
from playground.models import Architecture
from playground.tokenizing import Tokenizer

CANDIDATES = ("entailment", "sentiment", "similarity", "paraphrase", "topic", "acceptability")
"""Other tasks, those first from which most has been seen to carry over (arXiv:1811.01088, table 1, for entailment)."""


@dataclass(frozen=True)
class MultiTask(AuxLoss):
    """Labelled texts of other tasks, one task in each step, in the first share of the steps or in all.

    With `alone` they stand alone in those steps, and the task in question has to wait.
    """

    num_tasks: int = knob(1, 1, 6, unit="tasks", why="How many other tasks there are.")
    train_size: int = knob(512, 8, 4096, unit="texts", why="Labelled texts of each of them: plenty.")
    task_ratio: float = knob(1.0, 0.0, 1.0, unit="share of the steps", why="How long they are read.")
    single_task_fraction: float = knob(0.0, 0.0, 0.9, unit="share of the steps", why="How long they are read alone.")
    name: ClassVar[str] = "other tasks"

    def tokens_read(self, lane: Budget) -> float:
        return lane.tokens * self.reading(lane.steps)

    def reading(self, steps: int) -> int:
        """In how many of the steps they are read."""
        return int(self.task_ratio * steps)

    def texts(self, base: Base, packing: str | None) -> tuple[Dataset, ...]:
        """Their labelled texts for a base; all lanes of a comparison share them."""
        if base.tokenizer is None:
            raise Refusal("Other tasks need the tokenizer of the base; give Base(..., tokenizer=...).")
        tokenizer, shape = base.tokenizer, base.learner.model.shape
        make = lambda: self.load(base.task, tokenizer, shape, packing)  # noqa: E731 (called once per comparison)
        return base.remember((self.name, self.num_tasks, self.train_size, packing), make)

    def load(
        self, task: Task | None, tokenizer: Tokenizer, shape: Architecture, packing: str | None
    ) -> tuple[Dataset, ...]:
        """The first tasks among the candidates, beside the one in question, whose words the vocabulary knows."""
        found: list[Dataset] = []
        for other in [find_task(name) for name in CANDIDATES if task is None or name != task.name]:
            try:
                found.append(other.load(tokenizer, self.train_size, 0, "train", packing_for(shape, packing)))
            except Refusal:
                continue
            if len(found) == self.num_tasks:
                break
        if not found:
            raise Refusal("This model's vocabulary knows the words of no other task, so none can be learnt beside.")
        return tuple(found)

    def begin(self, start: TermContext) -> Callable[[StepContext], Tensor]:
        last = self.reading(start.steps)
        return lambda moment: start.other(moment.step) if moment.step < last else torch.zeros(())
