"""Self-ensemble: the mean of the weights of many steps instead of the last ones."""

from playground.finetuning.strategy.after import LastSteps
from playground.finetuning.strategy.plasticity import everything
from playground.finetuning.strategy.strategy import Strategy

SELF_ENSEMBLE = Strategy(
    name="self-ensemble",
    aliases=("weight averaging",),
    family="own teacher",
    idea="Train everything and keep the mean of the weights over the second half of the steps.",
    source="arXiv:2002.10345",
    plasticity=everything,
    after=LastSteps(),
)
