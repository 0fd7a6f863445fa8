"""BitFit: only the biases of the model learn."""

from playground.finetuning.strategy.plasticity import apart_only
from playground.finetuning.strategy.strategy import Strategy

BITFIT = Strategy(
    name="BitFit",
    aliases=("biases", "bias only"),
    family="added parts",
    idea="Train the head and the biases, a hundredth of the weights, and freeze every matrix.",
    source="arXiv:2106.10199, sec. 3",
    plasticity=apart_only,
    rate=1e-2,
    own_row="biases",
)
