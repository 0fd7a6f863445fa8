"""R-Drop: the same text is read twice with different dropout, and both answers must agree."""

from playground.finetuning.strategy.plasticity import everything
from playground.finetuning.strategy.strategy import Strategy
from playground.finetuning.strategy.task_losses import RDrop

R_DROP = Strategy(
    name="R-Drop",
    aliases=("RDrop", "regularized dropout"),
    family="own teacher",
    idea="Read each text twice with different dropout, and learn to give "
    "the right answer, and the same one in both passes.",
    source="arXiv:2106.14448; cross-entropy is the mean of the two passes, as in the authors' README",
    plasticity=everything,
    task_loss=RDrop(),
)
