"""New encoder: only the decoder is pre-trained, as a language model that is given what to write about."""

from playground.finetuning.strategy.plasticity import everything
from playground.finetuning.strategy.strategy import Strategy

NEW_ENCODER = Strategy(
    name="new encoder",
    aliases=("LM to decoder", "decoder kept"),
    family="parts taken over",
    idea="Keep word vectors and decoder, initialise the encoder at random, and train everything.",
    source="after arXiv:1611.02683, sec. 2.1; survey, sec. 5.2",
    plasticity=everything,
    fresh="encoder",
)
