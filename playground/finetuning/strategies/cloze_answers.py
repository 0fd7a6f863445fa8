"""Cloze answers as features: the model is asked as in prompting, and the head reads its answer too."""

from playground.finetuning.strategy.extra_features import ClozeAnswers
from playground.finetuning.strategy.plasticity import head_only
from playground.finetuning.strategy.strategy import Strategy

CLOZE_ANSWERS = Strategy(
    name="cloze answers",
    aliases=("knowledge source", "asked and read"),
    family="features",
    idea="Freeze the model; the head reads its vectors and its own prediction for a gap after the text.",
    source="after LAMA, arXiv:1909.01066, sec. 3; Qiu et al. 2020 (arXiv:2003.08271), sec. 8",
    plasticity=head_only,
    rate=1e-2,
    extra_features=(ClozeAnswers(),),
)
