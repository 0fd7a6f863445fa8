"""Slanted triangular rates: a short rise and a long fall."""

from playground.finetuning.strategy.plasticity import SlantedTriangle
from playground.finetuning.strategy.strategy import PublishedRate, Strategy

SLANTED_TRIANGLE = Strategy(
    name="slanted triangular rates",
    aliases=("STLR", "slanted triangular", "slanted triangle"),
    family="rates",
    idea="Raise the learning rate quickly to find a good region, then lower it slowly to settle there.",
    source="arXiv:1801.06146, sec. 3.2, eq. 3",
    plasticity=SlantedTriangle(),
    published=PublishedRate(1e-2, "arXiv:1801.06146, sec. 3.2, eq. 3: the highest rate, for all of ULMFiT"),
)
