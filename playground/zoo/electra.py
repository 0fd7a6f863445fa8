"""ELECTRA: a small generator forges words, the model finds the forgeries."""

from dataclasses import replace

from playground.models import tiny
from playground.objectives.catalog.rtd import RTD
from playground.zoo.bert import BERT_BASE
from playground.zoo.entry import Entry, PublishedSize

ELECTRA_BASE = replace(BERT_BASE, rtd_head=True, generator_ratio=1 / 3, labels=())
"""BERT with a yes-or-no head and a generator of a third of the width (app. B)."""

SMALL = replace(ELECTRA_BASE, width=256, heads=4, embedding_size=128, generator_ratio=0.25)
LARGE = replace(ELECTRA_BASE, layers=24, width=1024, heads=16, generator_ratio=0.25)

ELECTRA = Entry(
    name="ELECTRA",
    year=2020,
    paper="arXiv:2003.10555",
    idea="Tell replaced words from original ones, so that every position is scored.",
    parent="BERT",
    changed="Asks 'original or replaced?' everywhere instead of 'which word?' at the gaps.",
    aliases=("ELECTRA small", "ELECTRA base", "ELECTRA large"),
    unlike_paper={
        "segments": "no [CLS], no [SEP] and no segments",
    },
    data="BooksCorpus and English Wikipedia; for the large size the texts of XLNet",
    printed={"objective": "Discriminator (o/r)", "task": "RTD + MLM", "GLUE": "88.6", "FT": "yes"},
    published=(
        PublishedSize("ELECTRA small", SMALL, 30_522, 13.5e6, "released weights; table 1 says 14M"),
        PublishedSize("ELECTRA base", ELECTRA_BASE, 30_522, 110e6, "table 1"),
        PublishedSize("ELECTRA large", LARGE, 30_522, 335e6, "table 2"),
    ),
    model=tiny(SMALL, embedding_size=32, segments=0),
    objective=RTD,
)
