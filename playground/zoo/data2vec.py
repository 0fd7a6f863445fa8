"""data2vec for text: predict the states that a slow copy of the network has of the whole text."""

from playground.models import tiny
from playground.objectives.catalog.data2vec import DATA2VEC as OBJECTIVE
from playground.zoo.entry import Entry, PublishedSize
from playground.zoo.roberta import ROBERTA_BASE

DATA2VEC = Entry(
    name="data2vec",
    year=2022,
    paper="arXiv:2202.03555",
    idea="One objective for speech, images and text: predict the states of the whole input from a part of it.",
    parent="RoBERTa",
    changed="The targets are not words but states of a teacher, a slow copy of the network that reads the whole text.",
    aliases=("data2vec text", "data2vec base"),
    unlike_paper={
        "special tokens": "no special tokens at the beginning and end of a row",
        "network": "the teacher's states are averaged over both layers, published over the top 10 of 12",
        "tokenizer": "whole words, not pieces of bytes",
    },
    data="BooksCorpus and English Wikipedia",
    published=(PublishedSize("data2vec base", ROBERTA_BASE, 50_265, 125e6, "RoBERTa's architecture (released code)"),),
    published_recipe={"adam_beta2": 0.98},  # released configuration
    model=tiny(ROBERTA_BASE, teacher=True, regression_head=True),
    objective=OBJECTIVE,
)
