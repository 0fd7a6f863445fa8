"""Fine-tuning: a strategy is a plasticity plan, a penalty and extra modules; strategies run side by side."""

import playground.finetuning.strategies
import playground.finetuning.tasks  # noqa: F401 (first, else these packages take the place of the functions below)
from playground.finetuning.comparing.compare import Comparison, compare
from playground.finetuning.comparing.spec import FIRST_CHOICE, ComparisonSpec
from playground.finetuning.data.dataset import Item
from playground.finetuning.data.files import find_task, tasks
from playground.finetuning.data.task import Split, Task
from playground.finetuning.data.task_types import Classes
from playground.finetuning.run.base import Base
from playground.finetuning.run.trials import TrialEvent
from playground.finetuning.strategy.compose import compose, difference
from playground.finetuning.strategy.find import find_strategy, strategies
from playground.finetuning.strategy.plasticity import PaintedCell
from playground.finetuning.strategy.strategy import Strategy

__all__ = [
    "FIRST_CHOICE",
    "Base",
    "Classes",
    "Comparison",
    "ComparisonSpec",
    "Item",
    "PaintedCell",
    "Split",
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
