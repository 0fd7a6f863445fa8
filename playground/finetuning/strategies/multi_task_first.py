"""Multi-task first: several tasks together, and the last part of the steps for the one in question alone."""

from playground.finetuning.others import OtherTasks
from playground.finetuning.plans import everything
from playground.finetuning.strategy import Strategy

MULTI_TASK_FIRST = Strategy(
    name="multi-task then alone",
    aliases=("multi-task pre-training", "T5 schedule"),
    rank=47,
    idea="Learn the task and three others together in the first half of the steps, then the task alone.",
    source="arXiv:1910.10683, sec. 3.5.3",
    plasticity=everything,
    published=1e-3,  # sec. 3.1.2, constant, with AdaFactor
    beside=(OtherTasks(number=3, share=0.5),),
)
