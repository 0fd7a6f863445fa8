"""LoRA: a low-rank update beside frozen matrices, which can be added to them afterwards."""

from playground.finetuning.strategy.plasticity import head_only
from playground.finetuning.strategy.strategy import PublishedRate, Strategy
from playground.models.adapters import LoRA

LORA = Strategy(
    name="LoRA",
    aliases=("low-rank adaptation",),
    family="added parts",
    idea="Freeze the model and learn low-rank updates of some of its matrices, by default of queries and values.",
    source="arXiv:2106.09685, sec. 4; use_rslora: arXiv:2312.03732",
    plasticity=head_only,
    rate=1e-2,
    published=PublishedRate(5e-4, "github.com/microsoft/LoRA, examples/NLU, RoBERTa base on MNLI"),
    adapters=(LoRA(),),
)
