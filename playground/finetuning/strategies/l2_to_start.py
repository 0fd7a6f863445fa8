"""L2-SP: the further a weight moves from its pre-trained value, the more it costs."""

from playground.finetuning.strategy.losses import L2SPPenalty
from playground.finetuning.strategy.plasticity import everything
from playground.finetuning.strategy.strategy import Strategy

L2_TO_START = Strategy(
    name="L2-SP",
    aliases=("L2 to the start", "starting point"),
    family="penalties and replay",
    idea="Train everything, but pull every weight back to where pre-training left it, instead of towards 0.",
    source="arXiv:1802.01483, sec. 3",
    plasticity=everything,
    penalties=(L2SPPenalty(),),
)
