"""LP-FT: a linear probe first, so that a random head does not distort what was learned before."""

from playground.finetuning.strategy.plasticity import ProbeFirst
from playground.finetuning.strategy.strategy import Strategy

LP_FT = Strategy(
    name="LP-FT",
    aliases=("linear probing then fine-tuning", "linear probe first", "LPFT"),
    family="unfreezing",
    idea="Train the head alone first, then everything: a trained head changes the layers below it less.",
    source="arXiv:2202.10054, sec. 3; one rate and one optimiser for both halves here, there each half has its own",
    plasticity=ProbeFirst(),
)
