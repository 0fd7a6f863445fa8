"""Sequential unfreezing: three stages from the new weights to the oldest."""

from playground.finetuning.strategy.plasticity import three_stages
from playground.finetuning.strategy.strategy import PublishedRate, Strategy

THREE_STAGES = Strategy(
    name="sequential unfreezing",
    aliases=("three stages", "Chronopoulou"),
    family="unfreezing",
    idea="Train the head first, then all but the embeddings, then all.",
    source="arXiv:1902.10547, sec. 3",
    plasticity=three_stages,
    published=PublishedRate(5e-4, "github.com/alexandra-chron/siatl, model_configs/SCV2_aux_ft_gu.yaml"),
)
