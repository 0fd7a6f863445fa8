"""Embeddings kept: only the word vectors are taken over, as with word2vec and GloVe."""

from playground.finetuning.strategy.plasticity import everything
from playground.finetuning.strategy.strategy import Strategy

EMBEDDINGS_KEPT = Strategy(
    name="embeddings kept",
    aliases=("word vectors",),
    family="parts taken over",
    idea="Keep the pre-trained word vectors as a start and train all layers above them from scratch.",
    source="survey, sec. 5.2; arXiv:1903.05987",
    plasticity=everything,
    fresh="layers",
)
