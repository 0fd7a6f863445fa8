"""Static and contextual vectors side by side: what a word is anywhere, and what it is here."""

from playground.finetuning.strategy.extra_features import OtherVectors
from playground.finetuning.strategy.plasticity import head_only
from playground.finetuning.strategy.strategy import Strategy

STATIC_AND_CONTEXTUAL = Strategy(
    name="static and contextual",
    aliases=("CoVe", "[GloVe(x); CoVe(x)]"),
    family="features",
    idea="Freeze the model; the head reads its vectors joined with static ones, and with those of other runs if given.",
    source="CoVe, arXiv:1708.00107, sec. 3",
    plasticity=head_only,
    rate=1e-2,
    extra_features=(OtherVectors(),),
)
