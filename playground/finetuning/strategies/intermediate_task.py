"""Intermediate task: another task with plenty of labels comes before the one in question."""

from playground.finetuning.strategy.multitask import MultiTask
from playground.finetuning.strategy.plasticity import everything
from playground.finetuning.strategy.strategy import Strategy

INTERMEDIATE_TASK = Strategy(
    name="intermediate task",
    aliases=("STILTs", "TANDA", "TransBERT"),
    family="further training",
    idea="Learn another task with 512 labels (entailment if it fits) in the first half of the steps, then the task.",
    source="STILTs, arXiv:1811.01088, sec. 2",
    plasticity=everything,
    aux_losses=(MultiTask(task_ratio=0.5, single_task_fraction=0.5),),
)
