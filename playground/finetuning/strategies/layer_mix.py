"""A learnt mix of layers: softmax weights over all frozen levels and one scale."""

from playground.finetuning.strategy.head import Head
from playground.finetuning.strategy.plasticity import head_only
from playground.finetuning.strategy.strategy import Strategy

LAYER_MIX = Strategy(
    name="layer mix",
    aliases=("ELMo mix", "scalar mix"),
    family="features",
    idea="Freeze the model and learn a weighted mean of its layers (scalar mix) for the head.",
    source="arXiv:1802.05365, eq. 1",
    plasticity=head_only,
    rate=1e-2,
    head=Head(reads="mix"),
)
