"""ALBERT: one layer used again and again, narrow word vectors, and two texts that may be swapped."""

from dataclasses import replace

from playground.models import tiny
from playground.objectives.catalog.albert import ALBERT as OBJECTIVE
from playground.zoo.bert import BERT_BASE
from playground.zoo.entry import Entry, PublishedSize

ALBERT_BASE = replace(BERT_BASE, embedding_size=128, layer_sharing="all", activation="gelu tanh")
"""BERT with both reductions (sec. 3.1) and the activation of the released code."""

LARGE = replace(ALBERT_BASE, layers=24, width=1024, heads=16)
XLARGE = replace(LARGE, width=2048)
XXLARGE = replace(ALBERT_BASE, width=4096, heads=64, dropout=0.0)

ALBERT = Entry(
    name="ALBERT",
    year=2019,
    paper="arXiv:1909.11942",
    idea="All layers share their weights and word vectors are narrow, so even a wide network has few parameters.",
    parent="BERT",
    changed="Shared layers, narrow word vectors, spans of up to three words hidden, and 'swapped?' for 'neighbours?'.",
    aliases=("ALBERT base", "ALBERT large", "ALBERT xlarge", "ALBERT xxlarge"),
    unlike_paper={"optimiser": "trained with AdamW, where the paper has LAMB"},
    data="BooksCorpus and English Wikipedia; for the best results also the texts of RoBERTa and XLNet",
    printed={"objective": "MLM & SOP"},
    published=(
        PublishedSize("ALBERT base", ALBERT_BASE, 30_000, 12e6, "table 1"),
        PublishedSize("ALBERT large", LARGE, 30_000, 18e6, "table 1"),
        PublishedSize("ALBERT xlarge", XLARGE, 30_000, 58.7e6, "released weights; table 1 says 60M"),
        PublishedSize("ALBERT xxlarge", XXLARGE, 30_000, 223e6, "released weights; table 1 says 235M"),
    ),
    model=tiny(ALBERT_BASE, embedding_size=16),
    objective=OBJECTIVE,
)
