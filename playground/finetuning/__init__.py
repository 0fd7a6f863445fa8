"""Fine-tuning: a strategy is a plasticity plan, a penalty and extra modules; strategies run side by side."""

import playground.finetuning.strategies
import playground.finetuning.tasks  # noqa: F401 (first, else these packages take the place of the functions below)
from playground.finetuning.compare import Comparison, Lane, compare
from playground.finetuning.strategy import Strategy, find_strategy, strategies
from playground.finetuning.task import Task, find_task, tasks

__all__ = ["Comparison", "Lane", "Strategy", "Task", "compare", "find_strategy", "find_task", "strategies", "tasks"]
