"""Chain-thaw: one layer at a time, and all of them in the end."""

from playground.finetuning.strategy.plasticity import one_at_a_time
from playground.finetuning.strategy.strategy import PublishedRate, Strategy

CHAIN_THAW = Strategy(
    name="chain-thaw",
    aliases=("one layer at a time",),
    family="unfreezing",
    idea="Train the head first, then each layer alone from the lowest up, then everything together.",
    source="arXiv:1708.00524, sec. 3.3; every phase has a new optimiser as in the released code, which also clips "
    "gradients and ends each phase with its best weights",
    plasticity=one_at_a_time,
    published=PublishedRate(1e-4, "github.com/bfelbo/DeepMoji, deepmoji/finetuning.py; its first phase has 1e-3"),
)
