"""SentiLR: hidden words, their parts of speech, and whether the text is good or bad."""

from playground.models import Architecture
from playground.objectives.catalog.sentilr import LABEL_AWARE
from playground.zoo.entry import Entry

SENTILR = Entry(
    name="SentiLR",
    year=2019,
    paper="arXiv:1911.02493",
    idea="Connect the sentiment of a text with its words: one is known and helps to predict the other.",
    parent="BERT",
    changed="The label of the text is given or asked for, and hidden words are asked for their part of speech too.",
    corpus="reviews",
    aliases=("SentiLARE",),
    unlike_paper={
        "tasks": "single words are not asked how they are meant, good or bad, as the paper takes it from SentiWordNet",
        "network": "parts of speech are only predicted, where the paper also reads them",
        "stages": "first weights at random, where the paper goes on with a trained model",
    },
    data="reviews of Yelp, with the polarities of SentiWordNet",
    model=Architecture(labels=(("pos", 15), ("polarity", 2))),
    objective=LABEL_AWARE,
)
