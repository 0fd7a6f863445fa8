"""VeRA: the matrices of LoRA are random and stay so; two vectors for each updated matrix learn."""

from playground.finetuning.strategy.plasticity import head_only
from playground.finetuning.strategy.strategy import Strategy
from playground.models.adapters import VeRA

VERA = Strategy(
    name="VeRA",
    aliases=("vector-based random matrix adaptation",),
    family="added parts",
    idea="As LoRA, but both matrices are random, frozen and shared by all layers; only vectors that scale them learn.",
    source="arXiv:2310.11454, sec. 3",
    plasticity=head_only,
    rate=1e-2,
    adapters=(VeRA(),),
)
