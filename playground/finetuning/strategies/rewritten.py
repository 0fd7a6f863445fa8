"""Data augmentation: a gap-filling copy of the model writes the labelled texts again, given their labels."""

from playground.finetuning.strategy.cbert import Rewritten
from playground.finetuning.strategy.plasticity import everything
from playground.finetuning.strategy.strategy import Strategy

REWRITTEN = Strategy(
    name="rewritten texts",
    aliases=("CBERT", "data augmentation", "conditional MLM"),
    family="more texts",
    idea="Train everything on each text and on a copy of which a label-aware model has replaced a third.",
    source="CBERT, arXiv:1812.06705, sec. 3",
    plasticity=everything,
    aux_losses=(Rewritten(),),
)
