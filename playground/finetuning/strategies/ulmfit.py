"""ULMFiT: the language model on the task's texts, then the task, each with rates of its own; its pooling and head."""

from playground.finetuning.strategy.head import Head
from playground.finetuning.strategy.losses import AuxiliaryLM
from playground.finetuning.strategy.plasticity import Constant, Discriminative, FromTheTop, Product, SlantedTriangle
from playground.finetuning.strategy.strategy import PublishedRate, Strategy

ULMFIT = Strategy(
    name="ULMFiT",
    aliases=("ULM-FiT",),
    family="rates",
    idea=(
        "Continue pre-training on the task's texts, then train the classifier and unfreeze from the top. In both "
        "stages lower layers learn more slowly, and all rates rise and "
        "fall. The head pools last, highest and mean state."
    ),
    source="arXiv:1801.06146, sec. 3.2-3.3 and 4.1",
    waiting=Product((Constant(0.4), Discriminative(), SlantedTriangle())),
    plasticity=Product((FromTheTop(0.1), Discriminative(), SlantedTriangle())),
    aux_losses=(AuxiliaryLM(weight=1.0, lm_fraction=1 / 3),),
    head=Head(pool="concat", hidden=50),
    rate=2e-2,
    published=PublishedRate(1e-2, "arXiv:1801.06146, sec. 4.1: the highest rate of the classifier; 0.004 before that"),
)
