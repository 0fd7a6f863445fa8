"""Cross-view training: labelled and unlabelled texts alternate, and half a text must say what the whole text says."""

from playground.finetuning.strategy.plasticity import everything
from playground.finetuning.strategy.semi_supervised import CrossViewTraining
from playground.finetuning.strategy.strategy import Strategy

CROSS_VIEWS = Strategy(
    name="cross-view training",
    aliases=("CVT", "views"),
    family="more texts",
    idea="Train everything; in every second step, halves of 512 "
    "unlabelled texts must get the prediction of the whole text.",
    source="after arXiv:1809.08370, sec. 2; there views of single layers answer with heads of their own, here the same "
    "head answers texts of which a half is hidden",
    plasticity=everything,
    aux_losses=(CrossViewTraining(),),
)
