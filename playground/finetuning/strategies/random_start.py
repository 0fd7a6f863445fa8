"""Random start: the control that every claim of a benefit is held against."""

from playground.finetuning.strategy.plasticity import everything
from playground.finetuning.strategy.strategy import Strategy

RANDOM_START = Strategy(
    name="random start",
    aliases=("scratch", "random initialisation", "from scratch"),
    family="control",
    idea="Train the same model from scratch on the task only, without anything learned in pre-training.",
    source="after arXiv:1511.01432, sec. 4",
    plasticity=everything,
    fresh="everything",
)
