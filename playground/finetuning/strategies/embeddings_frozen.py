"""Embeddings frozen: all layers learn, but the word vectors wait for those of another language to take their place."""

from playground.finetuning.strategy.plasticity import above_embeddings
from playground.finetuning.strategy.strategy import Strategy

EMBEDDINGS_FROZEN = Strategy(
    name="embeddings frozen",
    aliases=("body only", "third of four steps"),
    family="parts taken over",
    idea="Train the head and every layer, but no word vectors, so that those of another language still fit the layers.",
    source="arXiv:1910.11856, sec. 3 (step 3)",
    plasticity=above_embeddings,
)
