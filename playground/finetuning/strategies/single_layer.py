"""A single layer: the head reads one frozen layer; compare the layers by changing its number."""

from playground.finetuning.strategy.head import Head
from playground.finetuning.strategy.plasticity import head_only
from playground.finetuning.strategy.strategy import Strategy

SINGLE_LAYER = Strategy(
    name="single layer",
    aliases=("layer 1", "first layer"),
    family="features",
    idea="Freeze the model and read one layer below the top, here the first.",
    source="arXiv:1903.08855, sec. 4",
    plasticity=head_only,
    rate=1e-2,
    head=Head(reads=1),
)
