"""Adapters: small bottlenecks between frozen layers, and norms of their own, one set for each task."""

from playground.finetuning.strategy.plasticity import head_only
from playground.finetuning.strategy.strategy import PublishedRate, Strategy
from playground.models.adapters import Adapter

ADAPTERS = Strategy(
    name="adapters",
    aliases=("Houlsby adapters", "Houlsby"),
    family="added parts",
    idea="Freeze the model; train a small bottleneck after each of its sub-layers, and a copy of each layer's norms.",
    source="arXiv:1902.00751, sec. 2.1",
    plasticity=head_only,
    rate=1e-2,
    published=PublishedRate(3e-4, "github.com/google-research/adapter-bert, README, MRPC"),
    adapters=(Adapter(),),
)
