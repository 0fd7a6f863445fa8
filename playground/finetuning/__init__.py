"""Fine-tuning: a strategy is a plasticity plan, a penalty and extra modules; strategies run side by side."""

import playground.finetuning.strategies
import playground.finetuning.tasks  # noqa: F401 (first, else these packages take the place of the functions below)
from playground.finetuning.base import Base
from playground.finetuning.compare import FIRST_CHOICE, Comparison, compare
from playground.finetuning.compose import compose, difference
from playground.finetuning.lanes import TrialEvent
from playground.finetuning.plans import Cell
from playground.finetuning.strategy import Strategy, find_strategy, strategies
from playground.finetuning.task import Task, find_task, tasks

__all__ = [
    "FIRST_CHOICE",
    "Base",
    "Cell",
    "Comparison",
    "Strategy",
    "Task",
    "TrialEvent",
    "compare",
    "compose",
    "difference",
    "find_strategy",
    "find_task",
    "strategies",
    "tasks",
]  # fmt: skip
