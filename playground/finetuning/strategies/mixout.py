"""Mixout: in every step many weights are the pre-trained ones again."""

from playground.finetuning.strategy.plasticity import everything
from playground.finetuning.strategy.strategy import Strategy
from playground.finetuning.strategy.task_losses import Mixout

MIXOUT = Strategy(
    name="mixout",
    family="penalties and replay",
    idea="Train everything, but in each step a random 70 % of the units have their pre-trained weights.",
    source="arXiv:1909.11299; the weights out of a unit are drawn together, as in the authors' code",
    plasticity=everything,
    task_loss=Mixout(),
)
