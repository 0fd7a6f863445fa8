"""Prompt tuning: virtual tokens at the input, whose vectors are all that learns."""

from playground.finetuning.strategy.plasticity import head_only
from playground.finetuning.strategy.strategy import PublishedRate, Strategy
from playground.models.adapters import PromptTuning

PROMPT_TUNING = Strategy(
    name="prompt tuning",
    aliases=("soft prompts", "soft prompt"),
    family="added parts",
    idea="Freeze the model and learn the vectors of virtual tokens that come before each text, at the input only.",
    source="arXiv:2104.08691, sec. 2; a task's head reads the words here, there a decoder writes the label; the text "
    "keeps its positions",
    plasticity=head_only,
    rate=1e-2,
    published=PublishedRate(
        0.3, "github.com/google-research/prompt-tuning, prompt_tuning/configs/runs/prompt_finetune.gin, with Adafactor"
    ),
    adapters=(PromptTuning(),),
)
