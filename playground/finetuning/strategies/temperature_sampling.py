"""Temperature sampling: each step learns one of several tasks, and small tasks come more often than their size."""

from playground.finetuning.strategy.multitask import SampledTasks
from playground.finetuning.strategy.plasticity import everything
from playground.finetuning.strategy.strategy import PublishedRate, Strategy

TEMPERATURE_SAMPLING = Strategy(
    name="temperature sampling",
    aliases=("temperature-scaled mixing", "multi-task with temperature"),
    family="several tasks",
    idea="Learn one task in each step, this one or another of three, "
    "sampled by the square root of its number of texts.",
    source="arXiv:1910.10683, sec. 3.5.2; here a task is drawn for each step, there for each example of a batch",
    plasticity=everything,
    published=PublishedRate(1e-3, "github.com/google-research/text-to-text-transfer-transformer, README, constant"),
    aux_losses=(SampledTasks(num_tasks=3, train_size=128),),
)
