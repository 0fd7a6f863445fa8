"""Multi-task fine-tuning: one body learns several tasks at once, each with a head of its own."""

from playground.finetuning.strategy.multitask import MultiTask
from playground.finetuning.strategy.plasticity import everything
from playground.finetuning.strategy.strategy import PublishedRate, Strategy

MULTI_TASK = Strategy(
    name="multi-task",
    aliases=("MT-DNN", "multi-task fine-tuning", "joint training"),
    family="several tasks",
    idea="Learn a batch of the task and one of another of three tasks in every step; each task has its own head.",
    source="MT-DNN, arXiv:1901.11504, sec. 3, algorithm 1",
    plasticity=everything,
    published=PublishedRate(5e-5, "github.com/namisan/mt-dnn, scripts/run_mt_dnn.sh, with Adamax"),
    aux_losses=(MultiTask(num_tasks=3),),
)
