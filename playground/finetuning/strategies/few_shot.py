"""Few-shot prompting: the labelled texts are shown in the prompt, and nothing is trained."""

from playground.finetuning.data.prompting import Prompt
from playground.finetuning.strategy.plasticity import nothing
from playground.finetuning.strategy.strategy import Strategy

FEW_SHOT = Strategy(
    name="few-shot prompting",
    aliases=("few-shot", "in-context"),
    family="prompting",
    idea="Train nothing: the prompt has two labelled texts with their answers before the text and its gap.",
    source="arXiv:2005.14165, sec. 2",
    plasticity=nothing,
    prompt=Prompt(shots=2),
)
