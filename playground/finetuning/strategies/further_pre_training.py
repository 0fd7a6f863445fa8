"""Further pre-training: the model first reads the task's texts, then learns the task."""

from playground.finetuning.strategy.losses import AuxiliaryLM
from playground.finetuning.strategy.plasticity import everything
from playground.finetuning.strategy.strategy import PublishedRate, Strategy

FURTHER_PRE_TRAINING = Strategy(
    name="further pre-training",
    aliases=("task-adaptive pre-training",),
    family="further training",
    idea="Continue pre-training on the task's texts, without labels, in the first third of the steps.",
    source="arXiv:2004.10964, sec. 4",
    plasticity=everything,
    published=PublishedRate(2e-5, "github.com/allenai/dont-stop-pretraining, environments/hyperparameters.py"),
    aux_losses=(AuxiliaryLM(weight=1.0, lm_fraction=1 / 3),),
)
