"""Prefix tuning: virtual words before the text, which only their keys and values make."""

from playground.finetuning.plans import head_only
from playground.finetuning.strategy import Strategy
from playground.models.extras import Prefix

PREFIX_TUNING = Strategy(
    name="prefix tuning",
    aliases=("prefix", "virtual words"),
    rank=23,
    idea="Freeze the model and learn a few places that every layer can look at.",
    source="arXiv:2101.00190, sec. 4",
    plasticity=head_only,
    rate=1e-2,
    published=5e-5,  # sec. 5.3, the default
    extras=(Prefix(),),
)
