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
    changed="The decoder sees one vector and not every word; in the paper one encoder reads all languages.",
    corpus="parallel",
    aliases=("language-agnostic sentence representations", "Artetxe and Schwenk", "Artetxe & Schwenk"),
    unlike_paper={
        "network": "the decoder joins the one vector to its states behind the last layer, where the paper feeds it to "
        "the first at each step",
        "data": "one language into one other, so the encoder reads a single language and the decoder needs no language "
        "token; in the paper 93 into English and Spanish",
    },
    data="parallel texts in 93 languages, 223 million pairs of sentences",
    model=Architecture(kind="lstm", max_pooling=True, decoder_layers=2),
    objective=THROUGH_ONE,
)
