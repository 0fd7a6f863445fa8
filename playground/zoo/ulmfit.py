"""ULMFiT: an LSTM language model that is fine-tuned with care."""

from playground.models import Architecture
from playground.objectives.catalog.lm import LM
from playground.zoo.entry import Entry
from playground.zoo.recipe import Recipe

ULMFIT = Entry(
    name="ULMFiT",
    year=2018,
    paper="arXiv:1801.06146",
    idea="Train a language model on any text, then on the task's own texts, then as a classifier, layer by layer.",
    parent="Dai and Le",
    changed="One general text for all tasks, an LSTM with strong dropout, and gentle ways to fine-tune it.",
    aliases=("universal language model fine-tuning", "AWD-LSTM"),
    unlike_paper={
        "network": "three layers of one width, where the paper's two lower ones are nearly three times as wide as a "
        "word vector; one dropout rate, where the paper has several; and a separate text in every row, where the "
        "paper carries the states over from one stretch of text to the next",
        "stages": "the strategy 'ULMFiT' fine-tunes in the paper's second and third stage, but the second reads the "
        "labelled texts alone, and the head of the third has no dropout",
        "tasks": "from left to right alone; the paper trains a second model from right to left",
    },
    data="WikiText-103",
    model=Architecture(kind="lstm", layers=3, attention="left to right", dropout=0.1, weight_drop=0.5),
    objective=LM,
    recipe=Recipe(warmup_ratio=0.1, min_lr_ratio=1 / 32),
)
