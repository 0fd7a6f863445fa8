"""Replay: old texts are read again beside the new task."""

from playground.finetuning.strategy.losses import ExperienceReplay
from playground.finetuning.strategy.plasticity import everything
from playground.finetuning.strategy.strategy import Strategy

REPLAY = Strategy(
    name="replay",
    aliases=("rehearsal",),
    family="penalties and replay",
    idea="Train everything, and in half of the steps also train on a few "
    "pre-training texts with the pre-training objective.",
    source="arXiv:1906.01076, sec. 3",
    plasticity=everything,
    aux_losses=(ExperienceReplay(),),
)
