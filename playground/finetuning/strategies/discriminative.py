"""Discriminative rates: the lower a layer, the slower it learns."""

from playground.finetuning.strategy.plasticity import Discriminative
from playground.finetuning.strategy.strategy import PublishedRate, Strategy

DISCRIMINATIVE = Strategy(
    name="discriminative rates",
    aliases=("discriminative", "layer-wise rates"),
    family="rates",
    idea="Give every layer a learning rate 2.6 times lower than the one above it.",
    source="arXiv:1801.06146, sec. 3.2",
    plasticity=Discriminative(),
    published=PublishedRate(1e-2, "arXiv:1801.06146, sec. 3.2, eq. 3: the highest rate, for all of ULMFiT"),
)
