"""Slanted triangular rates: a short rise and a long fall."""

from playground.finetuning.plans import SlantedTriangle
from playground.finetuning.strategy import Strategy

SLANTED_TRIANGLE = Strategy(
    name="slanted triangular rates",
    aliases=("STLR", "slanted triangular", "slanted triangle"),
    rank=34,
    idea="Raise the learning rate quickly to find the region, then lower it slowly to settle there.",
    source="arXiv:1801.06146, sec. 3.2, eq. 3",
    plasticity=SlantedTriangle(),
    published=1e-2,  # sec. 3.2: the highest rate
)
