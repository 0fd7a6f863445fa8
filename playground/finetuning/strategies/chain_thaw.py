"""Chain-thaw: one layer at a time, and all of them in the end."""

from playground.finetuning.plans import one_at_a_time
from playground.finetuning.strategy import Strategy

CHAIN_THAW = Strategy(
    name="chain-thaw",
    aliases=("one layer at a time",),
    rank=31,
    idea="Train the head first, then each layer alone from the lowest up, then everything together.",
    source="arXiv:1708.00524, sec. 3.3",
    plasticity=one_at_a_time,
)
