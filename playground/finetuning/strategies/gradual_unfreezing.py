"""Gradual unfreezing: the head learns first, then one layer after the other thaws from the top."""

from playground.finetuning.plans import from_the_top
from playground.finetuning.strategy import Strategy

GRADUAL_UNFREEZING = Strategy(
    name="gradual unfreezing",
    aliases=("gradual", "unfreezing"),
    rank=3,
    idea="Thaw one more layer in each phase, from the head down, so that lower layers forget less.",
    source="arXiv:1801.06146, sec. 3.3",
    plasticity=from_the_top,
    published=1e-2,  # ULMFiT, sec. 4.1, the classifier
)
