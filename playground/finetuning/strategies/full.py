"""Full fine-tuning: everything may change from the first step."""

from playground.finetuning.strategy.plasticity import everything
from playground.finetuning.strategy.strategy import PublishedRate, Strategy

FULL = Strategy(
    name="full",
    aliases=("full fine-tuning", "fine-tuning", "supervised fine-tuning", "SFT"),
    family="full",
    idea="Train the head and every layer of the model at one rate.",
    source="survey, sec. 5.2; arXiv:1810.04805, sec. 3.2",
    plasticity=everything,
    published=PublishedRate(2e-5, "github.com/google-research/bert, README, MRPC"),
)
