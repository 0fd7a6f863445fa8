"""StructBERT: hidden words, shuffled words and exchanged texts, all three to be undone."""

from dataclasses import replace

from playground.models import tiny
from playground.objectives.catalog.structbert import STRUCTBERT as OBJECTIVE
from playground.zoo.bert import BERT_BASE
from playground.zoo.entry import Entry, PublishedSize

THREE_WAYS = replace(BERT_BASE, labels=(("pair", 3),))
"""BERT, whose label of a pair has three classes (sec. 2.2)."""

STRUCTBERT = Entry(
    name="StructBERT",
    year=2019,
    paper="arXiv:1908.04577",
    idea="Shuffle words and texts, so that restoring their order teaches how language is structured.",
    parent="BERT",
    changed="A few spans of three words are shuffled, and the second text may also come before the first.",
    aliases=("StructBERT base", "StructBERT large"),
    data="BooksCorpus and English Wikipedia",
    published=(
        PublishedSize("StructBERT base", THREE_WAYS, 30_522, 110e6, "sec. 3"),
        PublishedSize(
            "StructBERT large",
            replace(THREE_WAYS, layers=24, width=1024, heads=16),
            30_522,
            336e6,
            "as BERT's released weights; sec. 3 says 340M",
        ),
    ),
    model=tiny(THREE_WAYS),
    objective=OBJECTIVE,
)
