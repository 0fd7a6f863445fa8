"""Embeddings only: the head reads the frozen word vectors, without any layer above them."""

from playground.finetuning.strategy.head import Head
from playground.finetuning.strategy.plasticity import head_only
from playground.finetuning.strategy.strategy import Strategy

EMBEDDINGS_ONLY = Strategy(
    name="embeddings only",
    aliases=("bag of vectors", "layer 0"),
    family="features",
    idea="Freeze the model and read the mean of its word vectors, which know nothing of the context.",
    source="arXiv:1903.05987",
    plasticity=head_only,
    rate=1e-2,
    head=Head(reads=0),
)
