"""NNLM: the first neural language model, which predicts a word from the few before it."""

from playground.models import Architecture
from playground.objectives.catalog.window_lm import WINDOW_LM
from playground.zoo.entry import Entry

NNLM = Entry(
    name="NNLM",
    year=2003,
    paper="Bengio et al. 2003, A neural probabilistic language model",
    idea="Give every word a vector, and predict the next word from the vectors of the last few words.",
    aliases=("neural probabilistic language model", "neural network language model"),
    unlike_paper={
        "network": "one layer of attention over the last four words, where the paper lays their vectors side by side "
        "under one hidden layer with a tanh, with or without a direct way past it to the scores; and the same vectors "
        "for the words that are read and those that are predicted",
    },
    data="the Brown corpus and news of the Associated Press",
    model=Architecture(layers=1, attention="left to right"),
    objective=WINDOW_LM,
)
