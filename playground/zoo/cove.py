"""CoVe: the encoder of a translator, kept for other tasks."""

from playground.models import Architecture
from playground.objectives.catalog.translation import TRANSLATION
from playground.zoo.entry import Entry

COVE = Entry(
    name="CoVe",
    year=2017,
    paper="arXiv:1708.00107",
    idea="Learn to translate; the encoder's states, which describe each word in its sentence, then serve other tasks "
    "as well.",
    parent="GloVe",
    changed="An LSTM reads the word vectors in both directions, so that a word's vector depends on its sentence.",
    corpus="parallel",
    aliases=("context vectors", "MT-LSTM"),
    unlike_paper={
        "network": "word vectors trained from scratch, not GloVe's, one table for both languages; and a decoder that "
        "is not fed what it attended to at the previous word",
    },
    data="pairs of English and German sentences; the largest model seven million of WMT 2017",
    model=Architecture(kind="lstm", decoder_layers=2),
    objective=TRANSLATION,
)
