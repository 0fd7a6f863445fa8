"""Decoder first: what writes learns alone before the pre-trained encoder may follow."""

from playground.finetuning.strategy.plasticity import decoder_first
from playground.finetuning.strategy.strategy import Strategy

DECODER_FIRST = Strategy(
    name="decoder first",
    aliases=("two-stage NMT", "head first"),
    family="unfreezing",
    idea="Train the decoder and the head in the first half of the steps, then all; without a decoder the head alone.",
    source="Imamura and Sumita 2019 (D19-5603); after BART, arXiv:1910.13461, sec. 3.4",
    plasticity=decoder_first,
)
