"""XLM: language models of two languages, and hidden words in a sentence and its translation."""

from dataclasses import replace

from playground.models import tiny
from playground.objectives.catalog.tlm import XLM as OBJECTIVE
from playground.zoo.bert import BERT_BASE
from playground.zoo.entry import Entry, PublishedSize

XLM_15 = replace(BERT_BASE, width=1024, heads=8, segments=0, languages=15, head_transform=False, labels=())
"""BERT with a vector for the language at every position and no layer in front of the scores (sec. 5.1)."""

XLM = Entry(
    name="XLM",
    year=2019,
    paper="arXiv:1901.07291",
    idea="Put a sentence next to its translation and hide words in both; each language helps to predict the other.",
    parent="BERT",
    changed="Steps on texts of one language alternate with steps on translations; every position knows its language.",
    corpus="parallel",
    aliases=("XLM-15", "XLM CLM + MLM + TLM"),
    unlike_paper={
        "tasks": "one model learns CLM, MLM and TLM; the paper has one for CLM, one for MLM, and one for MLM and TLM",
        "tokenizer": "whole words, not pieces that languages share",
    },
    data="Wikipedia in 15 languages, and translations such as those of MultiUN",
    printed={"objective": "CLM, MLM, TLM", "stacks": "encoder and decoder"},
    published=(PublishedSize("XLM-15", XLM_15, 95_000, 250e6, "arXiv:1911.02116, table of model sizes"),),
    model=tiny(XLM_15, languages=2),
    objective=OBJECTIVE,
)
