"""SenseBERT: guess a hidden word and the kind of thing it means."""

from dataclasses import replace

from playground.models import tiny
from playground.objectives.catalog.sensebert import SUPERSENSE
from playground.zoo.bert import BERT_BASE
from playground.zoo.entry import Entry, PublishedSize

ONE_TEXT = replace(BERT_BASE, labels=())

WHERE = "BERT's number, in the large size that of its released weights; without the supersenses"

SENSEBERT = Entry(
    name="SenseBERT",
    year=2019,
    paper="arXiv:1908.05646",
    idea="A word means a kind of thing, such as an animal or a food; predict the kind as well as the word.",
    parent="BERT",
    changed="A second question at each hidden word: the class of its meaning in WordNet.",
    aliases=("SenseBERT base", "SenseBERT large"),
    unlike_paper={
        "data": "the corpus knows the one right class of a word, where the paper accepts all that WordNet lists for it",
        "network": "classes are only predicted by a layer of their own, where the paper also adds their vectors to "
        "those of the words that are read",
        "segments": "no [CLS], no [SEP] and no segments",
    },
    data="BooksCorpus and English Wikipedia, with the supersenses of WordNet",
    published=(
        PublishedSize("SenseBERT base", ONE_TEXT, 30_522, 110e6, WHERE),
        PublishedSize("SenseBERT large", replace(ONE_TEXT, layers=24, width=1024, heads=16), 30_522, 336e6, WHERE),
    ),
    model=tiny(ONE_TEXT, segments=0, labels=(("supersense", 28),)),
    objective=SUPERSENSE,
)
