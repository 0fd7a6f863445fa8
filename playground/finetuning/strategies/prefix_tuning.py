"""Prefix tuning: virtual words before the text, which only their keys and values make, behind a gate."""

from playground.finetuning.strategy.plasticity import head_only
from playground.finetuning.strategy.strategy import PublishedRate, Strategy
from playground.models.adapters import PrefixTuning

PREFIX_TUNING = Strategy(
    name="prefix tuning",
    aliases=("prefix", "virtual words"),
    family="added parts",
    idea="Freeze the model and learn vectors that every layer can attend to, behind a gate that starts closed.",
    source="arXiv:2101.00190, sec. 4, without the network that makes the vectors while they are learned (sec. 4.3); "
    "the gate: arXiv:2303.16199, sec. 3.2",
    plasticity=head_only,
    rate=1e-2,
    published=PublishedRate(5e-5, "github.com/XiangLi1999/PrefixTuning, README"),
    adapters=(PrefixTuning(),),
)
