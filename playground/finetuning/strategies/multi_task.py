"""Multi-task fine-tuning: one body learns several tasks at once, each with a head of its own."""

from playground.finetuning.others import OtherTasks
from playground.finetuning.plans import everything
from playground.finetuning.strategy import Strategy

MULTI_TASK = Strategy(
    name="multi-task",
    aliases=("MT-DNN", "joint training"),
    rank=46,
    idea="In every step learn a batch of the task and one of another of three tasks, whose heads are their own.",
    source="MT-DNN, arXiv:1901.11504, sec. 3, algorithm 1",
    plasticity=everything,
    published=5e-5,  # sec. 4.2, with Adamax
    beside=(OtherTasks(number=3),),
)
