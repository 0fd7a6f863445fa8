"""WKLM: find the names that were exchanged for others of their kind."""

from dataclasses import replace

from playground.models import tiny
from playground.objectives.catalog.wklm import ENTITY_REPLACEMENT
from playground.zoo.bert import BERT_BASE
from playground.zoo.entry import Entry, PublishedSize

WKLM_BASE = replace(BERT_BASE, rtd_head=True, labels=())
"""BERT with a yes-or-no head for names."""

WKLM = Entry(
    name="WKLM",
    year=2019,
    paper="arXiv:1912.09637",
    idea="A name replaced by another of its kind still reads well; only knowledge shows that it is wrong there.",
    parent="BERT",
    changed="Asks for every name whether it is the right one, and hides few words, none of them in a name.",
    aliases=("Pretrained Encyclopedia", "WKLM base"),
    unlike_paper={
        "segments": "no [CLS], no [SEP] and no segments",
        "network": "each word of a name is classified from its own state; the paper reads the words around the name",
    },
    data="English Wikipedia, its links as names with their kinds in Wikidata",
    printed={"task": "MLM + ERD", "FT": "yes"},
    published=(
        PublishedSize("WKLM base", WKLM_BASE, 30_522, 110e6, "BERT's number, whose architecture it has (sec. 2)"),
    ),
    model=tiny(WKLM_BASE, segments=0),
    objective=ENTITY_REPLACEMENT,
)
