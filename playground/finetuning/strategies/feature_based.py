"""Feature-based: the model stays as it is and a new head learns to read it."""

from playground.finetuning.strategy.plasticity import head_only
from playground.finetuning.strategy.strategy import Strategy

FEATURE_BASED = Strategy(
    name="feature-based",
    aliases=("frozen", "freezing", "features"),
    family="features",
    idea="Freeze the whole model and train only a new head on its hidden states.",
    source="survey, sec. 5.1; arXiv:1903.05987",
    plasticity=head_only,
    rate=1e-2,
)
