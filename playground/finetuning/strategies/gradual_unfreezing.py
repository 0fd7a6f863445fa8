"""Gradual unfreezing: the head learns first, then one layer after the other thaws from the top."""

from playground.finetuning.strategy.plasticity import FromTheTop
from playground.finetuning.strategy.strategy import PublishedRate, Strategy

GRADUAL_UNFREEZING = Strategy(
    name="gradual unfreezing",
    aliases=("gradual", "unfreezing"),
    family="unfreezing",
    idea="Unfreeze one more layer in each phase, from the head down, so that lower layers forget less.",
    source="arXiv:1801.06146, sec. 3.3",
    plasticity=FromTheTop(),
    published=PublishedRate(1e-2, "arXiv:1801.06146, sec. 3.2, eq. 3: the highest rate, for all of ULMFiT"),
)
