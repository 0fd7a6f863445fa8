"""Word vectors fixed: they are taken over and never change, as the first users of word2vec did it."""

from playground.finetuning.strategy.plasticity import above_embeddings
from playground.finetuning.strategy.strategy import Strategy

EMBEDDINGS_FIXED = Strategy(
    name="embeddings fixed",
    aliases=("word vectors fixed", "static vectors"),
    family="parts taken over",
    idea="Keep the pre-trained word vectors, freeze them, and train new layers that read them.",
    source="survey, sec. 5.2; arXiv:1903.05987",
    plasticity=above_embeddings,
    fresh="layers",
)
