"""BERT: a stack that looks both ways, trained to fill gaps and to tell neighbours from strangers."""

from dataclasses import replace

from playground.models import Architecture, tiny
from playground.objectives.catalog.bert import MLM_AND_NSP
from playground.zoo.entry import Entry, PublishedSize

BERT_BASE = Architecture(
    layers=12,
    width=768,
    heads=12,
    positions="learned",
    max_position_embeddings=512,
    segments=2,
    norm_first=False,
    norm_eps=1e-12,
    embedding_norm=True,
    attention_bias=True,
    head_transform=True,
    dropout=0.1,
    init="normal",
    labels=(("pair", 2),),
)

BERT = Entry(
    name="BERT",
    year=2018,
    paper="arXiv:1810.04805",
    idea="Hide some words of two texts, predict them from both sides, and say whether the second text follows the "
    "first.",
    parent="GPT",
    changed="Attends to both sides, predicts masked words, and classifies pairs of texts.",
    aliases=("BERT base", "BERT large"),
    data="BooksCorpus and English Wikipedia",
    printed={"objective": "MLM & NSP", "task": "MLM & NSP", "GLUE": "81.9, without WNLI", "FT": "yes"},
    published=(
        PublishedSize("BERT base", BERT_BASE, 30_522, 110e6, "sec. 3"),
        PublishedSize(
            "BERT large",
            replace(BERT_BASE, layers=24, width=1024, heads=16),
            30_522,
            336e6,
            "released weights; sec. 3 says 340M",
        ),
    ),
    model=tiny(BERT_BASE),
    objective=MLM_AND_NSP,
)
