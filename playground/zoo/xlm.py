"""XLM: hidden words in a sentence and its translation, each readable off the other language."""

from dataclasses import replace

from playground.models import tiny
from playground.objectives.catalog.tlm import MLM_AND_TLM
from playground.zoo.bert import BERT_BASE
from playground.zoo.entry import Entry, Published

XLM_15 = replace(BERT_BASE, width=1024, heads=8, segments=0, languages=15, head_transform=False, labels=())
"""BERT with a vector for the language at every position and no layer in front of the scores (sec. 5.1)."""

XLM = Entry(
    name="XLM",
    year=2019,
    paper="arXiv:1901.07291",
    idea="Put a sentence next to its translation and hide words in both; each language helps to fill the other.",
    parent="BERT",
    changed="Texts of one language and translations side by side take turns; every position knows its language.",
    corpus="parallel",
    aliases=("XLM-15", "XLM MLM + TLM"),
    unlike_paper={
        "tasks": "hidden words alone; the paper also trains a model that predicts from the left ('multilingual LM')",
        "data": "single sentences of one language, where the paper fills each row with many",
        "tokenizer": "whole words, not pieces that languages share",
    },
    data="Wikipedia in 15 languages, and translations such as those of MultiUN",
    printed={"objective": "CLM, MLM, TLM", "stacks": "encoder and decoder"},
    published=(Published("XLM-15", XLM_15, 95_000, 250e6, "arXiv:1911.02116, table of model sizes"),),
    model=tiny(XLM_15, languages=2),
    objective=MLM_AND_TLM,
)
