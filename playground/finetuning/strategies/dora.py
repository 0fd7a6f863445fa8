"""DoRA: LoRA for the direction of each row of a matrix, and a learned length for each."""

from playground.finetuning.strategy.plasticity import head_only
from playground.finetuning.strategy.strategy import PublishedRate, Strategy
from playground.models.adapters import LoRA

DORA = Strategy(
    name="DoRA",
    aliases=("weight-decomposed low-rank adaptation",),
    family="added parts",
    idea="Freeze the model; learn the length of each row of some matrices, and its direction by a low-rank update.",
    source="arXiv:2402.09353, sec. 4; targets are those of LoRA, there also keys and the MLP",
    plasticity=head_only,
    rate=1e-2,
    published=PublishedRate(2e-4, "github.com/NVlabs/DoRA, commonsense_reasoning/llama2_7B_DoRA.sh"),
    adapters=(LoRA(use_dora=True),),
)
