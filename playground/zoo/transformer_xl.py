"""Transformer-XL: a language model whose attention knows distances, so that it can read on over a cut."""

from dataclasses import replace

from playground.models import Architecture, tiny
from playground.objectives.catalog.lm import LM
from playground.zoo.entry import Entry, PublishedSize

TXL_12_LAYERS = Architecture(
    layers=12,
    width=512,
    heads=8,
    positions="relative",
    norm_first=False,
    activation="relu",
    dropout=0.1,
    init="normal",
    attention="left to right",
    mem_len=512,
)

TXL_24_LAYERS = replace(TXL_12_LAYERS, layers=24, width=1024, mlp_ratio=3, dropout=0.15, mem_len=768)

TRANSFORMER_XL = Entry(
    name="Transformer-XL",
    year=2019,
    paper="arXiv:1901.02860",
    idea="Use relative positions instead of absolute ones, so that a row can attend to the row before it.",
    aliases=("TXL", "Transformer-XL 12 layers", "Transformer-XL 24 layers"),
    unlike_paper={
        "network": "for words, no vectors that are narrower for rare words (adaptive softmax)",
    },
    data="WikiText-103 and 1 Billion Word Benchmark by words, enwik8 and text8 by characters",
    published=(
        PublishedSize("Transformer-XL, 12 layers", TXL_12_LAYERS, 204, 41e6, "table 2, enwik8, by characters"),
        PublishedSize("Transformer-XL, 24 layers", TXL_24_LAYERS, 204, 277e6, "table 2, enwik8, by characters"),
    ),
    model=tiny(TXL_12_LAYERS, mem_len=32),
    objective=LM,
)
