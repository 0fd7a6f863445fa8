"""Zero-shot prompting: the model is asked, and nothing is trained."""

from playground.finetuning.data.prompting import Prompt
from playground.finetuning.strategy.plasticity import nothing
from playground.finetuning.strategy.strategy import Strategy

ZERO_SHOT = Strategy(
    name="zero-shot prompting",
    aliases=("zero-shot",),
    family="prompting",
    idea="Train nothing: write a gap after the text and see which class's word the model prefers there.",
    source="Radford et al. 2019, sec. 3; arXiv:2005.14165, sec. 2",
    plasticity=nothing,
    prompt=Prompt(shots=0),
)
