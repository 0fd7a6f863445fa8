"""All layers side by side: the head reads every frozen level, one after the other."""

from playground.finetuning.strategy.head import Head
from playground.finetuning.strategy.plasticity import head_only
from playground.finetuning.strategy.strategy import Strategy

ALL_LAYERS = Strategy(
    name="all layers",
    aliases=("concatenation", "layers side by side"),
    family="features",
    idea="Freeze the model; the head reads the states of all layers, concatenated to one long vector.",
    source="arXiv:1810.04805, sec. 5.3",
    plasticity=head_only,
    rate=1e-2,
    head=Head(reads="all"),
)
