"""LASER: one vector for a sentence in whatever language."""

from playground.models import Architecture
from playground.objectives.catalog.translation import THROUGH_ONE
from playground.zoo.entry import Entry

LASER = Entry(
    name="LASER",
    year=2018,
    paper="arXiv:1812.10464",
    idea="Translate through one vector alone; sentences that mean the same then have similar vectors in all languages.",
    parent="CoVe",
    changed="The decoder sees one vector and not every word; one encoder reads all languages.",
    corpus="parallel",
    aliases=("language-agnostic sentence representations", "Artetxe and Schwenk", "Artetxe & Schwenk"),
    unlike_paper={
        "network": "two layers in the encoder, and a decoder no wider than it; the vector of the language to write is "
        "added to that of each word, where the paper concatenates both",
        "data": "two languages, each into the other; in the paper 93 into English and Spanish",
    },
    data="parallel texts in 93 languages, 223 million pairs of sentences",
    model=Architecture(kind="lstm", max_pooling=True, decoder_layers=1, languages=2),
    objective=THROUGH_ONE,
)
