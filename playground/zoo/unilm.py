"""UniLM: one network that fills gaps under four masks, and so can read and write."""

from dataclasses import replace

from playground.models import tiny
from playground.objectives.catalog.bert import MLM_AND_NSP
from playground.objectives.catalog.unilm import UNILM as OBJECTIVE
from playground.zoo.bert import BERT_BASE
from playground.zoo.entry import Entry, PublishedSize
from playground.zoo.phase import Phase

UNILM_LARGE = replace(BERT_BASE, layers=24, width=1024, heads=16, segments=6)
"""BERT large with a segment for each text under each mask (released code)."""

UNILM = Entry(
    name="UniLM",
    year=2019,
    paper="arXiv:1905.03197",
    idea="The same network fills gaps from both sides, from one side, or from a first text and the words to the left.",
    parent="BERT",
    changed="Four attention masks that share every batch, so that one network can both read and write.",
    aliases=("UniLM v1", "UniLM large"),
    data="BooksCorpus and English Wikipedia",
    printed={"objective": "LM, MLM, seq2seq LM", "task": "MLM & NSP", "GLUE": "80.8", "FT": "yes"},
    published=(PublishedSize("UniLM large", UNILM_LARGE, 28_996, 335e6, "released weights; sec. 2 says about 340M"),),
    model=tiny(UNILM_LARGE),
    objective=OBJECTIVE,
    phases=(
        Phase("BERT", 0.5, "BERT is pre-trained as before.", MLM_AND_NSP),
        Phase(
            "four masks",
            0.5,
            "Training continues with four masks, on about as many rows as BERT was trained on, as published.",
        ),
    ),
)
