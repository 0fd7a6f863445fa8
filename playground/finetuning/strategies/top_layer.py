"""Top layer only: all but the highest layer stays frozen."""

from playground.finetuning.strategy.plasticity import top_layer
from playground.finetuning.strategy.strategy import Strategy

TOP_LAYER = Strategy(
    name="top layer only",
    aliases=("top layer", "last layer"),
    family="unfreezing",
    idea="Train the head and the highest layer and freeze all below.",
    source="arXiv:1502.02791",
    plasticity=top_layer,
)
