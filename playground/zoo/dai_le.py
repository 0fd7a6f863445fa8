"""Dai and Le: an LSTM language model whose weights are where a classifier starts."""

from playground.models import Architecture
from playground.objectives.catalog.lm import LM
from playground.zoo.entry import Entry

DAI_LE = Entry(
    name="Dai and Le",
    year=2015,
    paper="arXiv:1511.01432",
    idea="Train an LSTM as a language model first; a classifier that starts from its weights learns better.",
    parent="NNLM",
    changed="An LSTM remembers all words so far, and all its weights are kept for the task, not just the word vectors.",
    aliases=("Dai & Le", "LM-LSTM", "semi-supervised sequence learning"),
    unlike_paper={
        "tasks": "only the language model; the paper also starts from a sequence autoencoder (SA-LSTM)",
    },
    data="the texts of each task and, for film reviews, others without labels",
    model=Architecture(kind="lstm", attention="left to right"),
    objective=LM,
)
