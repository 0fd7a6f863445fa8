"""InfoWord: find the hidden span of a text among the spans of other texts, and guess hidden words."""

from dataclasses import replace

from playground.models import tiny
from playground.objectives.catalog.infoword import INFOWORD as OBJECTIVE
from playground.zoo.bert import BERT_BASE
from playground.zoo.entry import Entry, PublishedSize

ONE_TEXT = replace(BERT_BASE, labels=())

WHERE = "BERT's number, in the large size that of its released weights; BERT's architecture"

INFOWORD = Entry(
    name="InfoWord",
    year=2019,
    paper="arXiv:1910.08350",
    idea="A text with a gap must say more about its own missing words than about those of any other text.",
    parent="BERT",
    changed="A whole span is recognised among others, in addition to the prediction of single words.",
    aliases=("InfoWord base", "InfoWord large"),
    data="BooksCorpus and English Wikipedia",
    printed={"task": "DIM + MLM", "GLUE": "81.1, without WNLI", "FT": "yes"},
    published=(
        PublishedSize("InfoWord base", ONE_TEXT, 30_522, 110e6, WHERE),
        PublishedSize("InfoWord large", replace(ONE_TEXT, layers=24, width=1024, heads=16), 30_522, 336e6, WHERE),
    ),
    model=tiny(ONE_TEXT),
    objective=OBJECTIVE,
)
