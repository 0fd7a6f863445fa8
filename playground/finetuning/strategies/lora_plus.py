"""LoRA+: LoRA in which the matrix that starts at 0 learns faster than the other."""

from playground.finetuning.strategy.plasticity import head_only
from playground.finetuning.strategy.strategy import PublishedRate, Strategy
from playground.models.adapters import LoRA

LORA_PLUS = Strategy(
    name="LoRA plus",
    aliases=("LoRA+",),
    family="added parts",
    idea="As LoRA, but B, which starts at 0, learns 16 times as fast as A.",
    source="arXiv:2402.12354, sec. 4; the head learns at the rate of A",
    plasticity=head_only,
    rate=2e-3,
    published=PublishedRate(
        1e-4, "github.com/nikhil-ghosh-berkeley/loraplus, glue/scripts/run_roberta_lora.sh: of A, 20 times that for B"
    ),
    adapters=(LoRA(loraplus_lr_ratio=16.0),),
)
