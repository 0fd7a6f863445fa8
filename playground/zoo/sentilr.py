"""SentiLR: words are read with their parts of speech and polarities; hidden words are asked for all three."""

from dataclasses import replace

from playground.models import tiny
from playground.objectives.catalog.sentilr import LABEL_AWARE
from playground.zoo.bert import BERT_BASE
from playground.zoo.entry import Entry, PublishedSize

WORDS_AND_TEXT = (("pos", 15), ("word_polarity", 3), ("polarity", 2))

SENTILR_BASE = replace(BERT_BASE, labels=(), label_embeddings=WORDS_AND_TEXT)

SENTILR = Entry(
    name="SentiLR",
    year=2019,
    paper="arXiv:1911.02493",
    idea="Connect the sentiment of a text with its words: one is known and helps to predict the other.",
    parent="BERT",
    changed="The model reads and predicts part of speech and polarity of words; the text's label is read or predicted.",
    corpus="reviews",
    aliases=("SentiLARE", "SentiLR base"),
    unlike_paper={
        "data": "our grammar knows which words are good or bad; the paper takes the sense of SentiWordNet that fits",
        "tasks": "all words are masked with the same ratio; the released code masks twice as many of the polar ones",
        "network": "heads and embeddings of a label are separate, and there are 15 parts of speech; the code ties "
        "them and has 5",
        "segments": "no segments",
        "stages": "random initial weights; the paper starts from a trained model",
    },
    data="reviews of Yelp, with the polarities of SentiWordNet",
    published=(
        PublishedSize("SentiLR base", SENTILR_BASE, 30_522, 110e6, "BERT's number, from whose weights it begins"),
    ),
    model=tiny(SENTILR_BASE, segments=0, labels=WORDS_AND_TEXT),
    objective=LABEL_AWARE,
)
