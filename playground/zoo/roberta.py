"""RoBERTa: BERT trained for longer on more text, with other words hidden at every visit."""

from dataclasses import replace

from playground.models import tiny
from playground.objectives.catalog.mlm import MLM
from playground.zoo.bert import BERT_BASE
from playground.zoo.entry import Entry, PublishedSize

ROBERTA_BASE = replace(BERT_BASE, segments=0, norm_eps=1e-5, labels=())
"""BERT without the pair of texts and its label (sec. 4.2 and released code)."""

ROBERTA = Entry(
    name="RoBERTa",
    year=2019,
    paper="arXiv:1907.11692",
    idea="BERT was trained too little: with more text, longer texts and larger batches the same network does better.",
    parent="BERT",
    changed="Different words are masked each time a text is read, and there is no next-sentence prediction.",
    aliases=("RoBERTa base", "RoBERTa large"),
    unlike_paper={
        "special tokens": "no special tokens at the beginning and end of a row",
        "tokenizer": "whole words, not pieces of bytes",
    },
    data="books, English Wikipedia, CC-News, OpenWebText and Stories, 160 GB",
    printed={"objective": "MLM", "task": "MLM", "GLUE": "88.5", "FT": "yes"},
    published=(
        PublishedSize("RoBERTa base", ROBERTA_BASE, 50_265, 125e6, "released code"),
        PublishedSize("RoBERTa large", replace(ROBERTA_BASE, layers=24, width=1024, heads=16), 50_265, 355e6, "sec. 5"),
    ),
    published_recipe={"adam_beta2": 0.98},  # sec. 3.1
    model=tiny(ROBERTA_BASE),
    objective=MLM,
)
