"""The auxiliary loss: the pre-training question is asked of the task's own texts too."""

from playground.finetuning.strategy.losses import AuxiliaryLM
from playground.finetuning.strategy.plasticity import everything
from playground.finetuning.strategy.strategy import PublishedRate, Strategy

AUXILIARY_LM = Strategy(
    name="auxiliary LM loss",
    aliases=("auxiliary loss", "auxiliary LM"),
    family="further training",
    idea="Train everything on the task and, with half the weight, on the pre-training objective for the same texts.",
    source="Radford et al. 2018, sec. 3.2, eq. 5; arXiv:1902.10547, sec. 3",
    plasticity=everything,
    published=PublishedRate(6.25e-5, "github.com/openai/finetune-transformer-lm, train.py; Weng 2019 says 5e-5"),
    aux_losses=(AuxiliaryLM(weight=0.5),),
)
