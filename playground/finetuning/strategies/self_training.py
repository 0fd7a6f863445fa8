"""Self-training: texts without labels are learnt with the model's own answers, where it is sure."""

from playground.finetuning.strategy.plasticity import everything
from playground.finetuning.strategy.semi_supervised import PseudoLabels
from playground.finetuning.strategy.strategy import Strategy

SELF_TRAINING = Strategy(
    name="self-training",
    aliases=("pseudo-labels", "semi-supervised"),
    family="more texts",
    idea="Train everything, and later also on 512 unlabelled texts, "
    "with the model's own confident predictions as labels.",
    source="Lee 2013; after arXiv:1809.08370, sec. 1",
    plasticity=everything,
    aux_losses=(PseudoLabels(),),
)
