"""InferSent: sentence vectors from judging whether one sentence follows from another."""

from playground.models import Architecture
from playground.objectives.catalog.nli import INFERSENT as READ_APART
from playground.zoo.entry import Entry

INFERSENT = Entry(
    name="InferSent",
    year=2017,
    paper="arXiv:1705.02364",
    idea="Read two sentences separately, each into one vector, and say from both whether the second follows from the "
    "first.",
    parent="GloVe",
    changed="A sentence is one vector, the maximum over the states of an LSTM; pairs with labels teach it.",
    corpus="inference",
    unlike_paper={
        "network": "word vectors trained from scratch, not GloVe's",
    },
    data="Stanford Natural Language Inference",
    model=Architecture(
        kind="lstm", layers=1, max_pooling=True, labels=(("inference apart", 3),), paired=("inference apart",)
    ),
    objective=READ_APART,
)
