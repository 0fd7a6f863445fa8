"""XLM: hidden words in a sentence and its translation, each readable off the other language."""

from dataclasses import replace

from playground.models import Architecture
from playground.objectives.catalog.tlm import TLM
from playground.zoo.bert import BERT_BASE
from playground.zoo.entry import Entry, Published

XLM_15 = replace(BERT_BASE, width=1024, heads=8, segments=0, languages=15, head_transform=False, labels=())
"""BERT with a vector for the language at every position and no layer in front of the scores (sec. 5.1)."""

XLM = Entry(
    name="XLM",
    year=2019,
    paper="arXiv:1901.07291",
    idea="Put a sentence beside its translation and hide words in both; each language helps to fill the other.",
    parent="BERT",
    changed="Translations stand side by side, and every position knows its language.",
    corpus="parallel",
    aliases=("XLM-15", "XLM MLM + TLM"),
    unlike_paper={
        "tasks": "pairs of translations in every step; in the paper batches of plain text in one language by turns "
        "with them, whose words are hidden ('multilingual MLM') or predicted from the left ('multilingual LM')",
        "tokenizer": "whole words, not pieces that languages share",
    },
    data="Wikipedia in 15 languages, and translations such as those of MultiUN",
    published=(Published("XLM-15", XLM_15, 95_000, 250e6, "arXiv:1911.02116, table of model sizes"),),
    model=Architecture(languages=2),
    objective=TLM,
)
