"""PEGASUS: take the most important sentences out of a text and let a decoder write them."""

from dataclasses import replace

from playground.models import Architecture, tiny
from playground.objectives.catalog.gap_sentences import GAP_SENTENCES
from playground.zoo.entry import Entry, PublishedSize

PEGASUS_BASE = Architecture(
    layers=12,
    decoder_layers=12,
    width=768,
    heads=12,
    positions="sinusoidal",
    activation="relu",
    lm_head_bias=False,
    dropout=0.1,
    init="normal",
)
"""Norms first, positions that are computed, and a vocabulary of 32,000 in the base size (sec. 6.1, released code)."""

LARGE = replace(PEGASUS_BASE, layers=16, decoder_layers=16, width=1024, heads=16)

PEGASUS = Entry(
    name="PEGASUS",
    year=2019,
    paper="arXiv:1912.08777",
    idea="Leave out the sentences that repeat most of the others; writing them is much like writing a summary.",
    parent="BART",
    changed="Whole sentences are left out, chosen by what they share with the rest, and only they are written.",
    corpus="summaries",
    aliases=("PEGASUS base",),
    unlike_paper={
        "optimiser": "trained with AdamW, where the paper has Adafactor",
        "tasks": "no hidden words in the encoder, which the base size has in addition to the missing sentences",
        "tokenizer": "whole words, not pieces of words",
    },
    data="C4, or HugeNews, 1.5 billion news and articles like news",
    published=(
        PublishedSize("PEGASUS base", PEGASUS_BASE, 32_000, 223e6, "sec. 6"),
        PublishedSize("PEGASUS large", LARGE, 96_103, 568e6, "sec. 6"),
    ),
    model=tiny(PEGASUS_BASE),
    objective=GAP_SENTENCES,
)
