"""WiSE-FT: the way between the pre-trained and the fine-tuned weights."""

from playground.finetuning.strategy.after import WiSEFT
from playground.finetuning.strategy.plasticity import everything
from playground.finetuning.strategy.strategy import Strategy

WISE_FT = Strategy(
    name="WiSE-FT",
    aliases=("WiSE", "weight-space ensembling", "weight interpolation"),
    family="own teacher",
    idea="Train everything, then go part of the way back: interpolate between the pre-trained and the final weights.",
    source="arXiv:2109.01903, sec. 3; there the head starts from a zero-shot classifier and is interpolated too",
    plasticity=everything,
    after=WiSEFT(),
)
