"""BART: spoil a text, let an encoder read it and a decoder write it again."""

from playground.models import Architecture
from playground.objectives.catalog.bart import BART_INFILLING
from playground.zoo.entry import Entry

BART = Entry(
    name="BART",
    year=2019,
    paper="arXiv:1910.13461",
    idea="Spoil a text with gaps of unknown length and write it out in full.",
    parent="BERT",
    changed="A decoder writes the whole text, so the network can also generate.",
    unlike_paper={
        "sentence permutation": "infilling alone; published are gaps and all sentences in a new order, the objective "
        "'BART mixture'",
    },
    model=Architecture(decoder_layers=2),
    objective=BART_INFILLING,
)
