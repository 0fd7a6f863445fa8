"""New decoder: only the encoder is pre-trained, as where BERT is put before a decoder that has to begin."""

from playground.finetuning.strategy.plasticity import everything
from playground.finetuning.strategy.strategy import Strategy

NEW_DECODER = Strategy(
    name="new decoder",
    aliases=("BERT to encoder", "encoder kept"),
    family="parts taken over",
    idea="Keep word vectors and encoder, initialise the decoder at random, and train everything.",
    source="after arXiv:1611.02683, sec. 2.1; survey, sec. 5.2",
    plasticity=everything,
    fresh="decoder",
)
