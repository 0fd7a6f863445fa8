"""Multi-task first: several tasks together, and the last part of the steps for the one in question alone."""

from playground.finetuning.strategy.multitask import MultiTask
from playground.finetuning.strategy.plasticity import everything
from playground.finetuning.strategy.strategy import PublishedRate, Strategy

MULTI_TASK_FIRST = Strategy(
    name="multi-task then alone",
    aliases=("multi-task pre-training", "T5 schedule"),
    family="several tasks",
    idea="Learn the task and three others together in the first half of the steps, then the task alone.",
    source="arXiv:1910.10683, sec. 3.5.3",
    plasticity=everything,
    published=PublishedRate(1e-3, "github.com/google-research/text-to-text-transfer-transformer, README, constant"),
    aux_losses=(MultiTask(num_tasks=3, task_ratio=0.5),),
)
