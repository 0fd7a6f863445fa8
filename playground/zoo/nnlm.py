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
        "network": "a hidden layer as wide as a word vector, and no direct connection from the word vectors to the "
        "scores, which the paper has in some of its networks",
    },
    data="the Brown corpus and news of the Associated Press",
    model=Architecture(kind="window", layers=1, window_radius=3, tie_word_embeddings=False, attention="left to right"),
    objective=WINDOW_LM,
)
