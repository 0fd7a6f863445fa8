"""Self-distillation: the mean of all earlier weights is the teacher of the next ones."""

from playground.finetuning.strategy.losses import MeanTeacher
from playground.finetuning.strategy.plasticity import everything
from playground.finetuning.strategy.strategy import Strategy

SELF_DISTILLATION = Strategy(
    name="self-distillation",
    aliases=("self distillation",),
    family="own teacher",
    idea="Train everything, and stay near the scores of a teacher: the mean of the earlier weights.",
    source="arXiv:2002.10345",
    plasticity=everything,
    aux_losses=(MeanTeacher(),),
)
