"""context2vec: two LSTMs say what all the words around a gap ask for."""

from playground.models import Architecture
from playground.objectives.catalog.context2vec import CONTEXT2VEC as TOLD_FROM_CONTEXT
from playground.zoo.entry import Entry

CONTEXT2VEC = Entry(
    name="context2vec",
    year=2016,
    paper="Melamud et al. 2016, context2vec: Learning generic context embedding with bidirectional LSTM",
    idea="One LSTM reads the words before a word, another the words after it; together they tell it from random words.",
    parent="word2vec",
    changed="The context is a whole sentence in order, read by two LSTMs, and no longer a bag of a few words.",
    aliases=("context to vec",),
    unlike_paper={
        "network": "one table of vectors for words that are read and words that are predicted; the paper has two",
    },
    data="ukWaC, web pages in English",
    model=Architecture(kind="lstm", layers=1, two_streams=True),
    objective=TOLD_FROM_CONTEXT,
)
