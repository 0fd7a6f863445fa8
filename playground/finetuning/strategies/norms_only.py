"""Norms only: the scales and shifts of the norms learn, and every matrix is frozen."""

from playground.finetuning.strategy.plasticity import apart_only
from playground.finetuning.strategy.strategy import Strategy

NORMS_ONLY = Strategy(
    name="norms only",
    aliases=("LN tuning", "LayerNorm tuning", "layer norm tuning"),
    family="added parts",
    idea="Train the head and the weights and biases of all norms, and freeze every matrix.",
    source="arXiv:2312.11420, sec. 3, without its connector and vocabulary; there a model learns to read images",
    plasticity=apart_only,
    rate=1e-2,
    own_row="norms",
)
