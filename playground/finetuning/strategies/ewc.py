"""EWC: weights that pre-training needs are held fast, the others may move."""

from playground.finetuning.strategy.losses import EWCPenalty
from playground.finetuning.strategy.plasticity import everything
from playground.finetuning.strategy.strategy import Strategy

EWC = Strategy(
    name="EWC",
    aliases=("elastic weight consolidation", "Fisher"),
    family="penalties and replay",
    idea="Train everything, but pull each weight back the more strongly, the more the pre-training loss depends on it.",
    source="arXiv:1612.00796, eq. 3",
    plasticity=everything,
    penalties=(EWCPenalty(),),
)
