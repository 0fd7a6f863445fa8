"""Projected attention layers: one body for several tasks, and for each task a narrow attention beside every layer."""

from playground.finetuning.strategy.multitask import MultiTask
from playground.finetuning.strategy.plasticity import everything
from playground.finetuning.strategy.strategy import PublishedRate, Strategy
from playground.models.adapters import PAL

PROJECTED_ATTENTION = Strategy(
    name="projected attention layers",
    aliases=("PAL", "PALs"),
    family="several tasks",
    idea="Train one model on the task and three others; each task has its own small attention parallel to every layer.",
    source="arXiv:1902.02671, sec. 3; tasks take turns here, there they are drawn by their size to a falling power; "
    "where norms come first, the small attention reads what the layer's attention reads",
    plasticity=everything,
    published=PublishedRate(2e-5, "github.com/AsaCooperStickland/Bert-n-Pals, README"),
    adapters=(PAL(),),
    aux_losses=(MultiTask(num_tasks=3),),
)
