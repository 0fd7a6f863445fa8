"""mBART: spoil texts of several languages, and write each again in its own."""

from dataclasses import replace

from playground.models import tiny
from playground.objectives.catalog.mbart import MULTILINGUAL_DENOISING
from playground.zoo.bart import BART_LARGE
from playground.zoo.entry import Entry, PublishedSize

MBART_LARGE = replace(BART_LARGE, norm_first=True, lm_head_bias=False)
"""BART with a norm at the end of both stacks (sec. 2.1), and so before each sub-layer (released code)."""

MBART = Entry(
    name="mBART",
    year=2020,
    paper="arXiv:2001.08210",
    idea="One encoder and one decoder learn to repair texts of many languages, and then to translate between them.",
    parent="BART",
    changed="Texts of 25 languages, and a language token that says which one to write.",
    corpus="parallel",
    aliases=("mBART large", "mBART25"),
    unlike_paper={
        "languages": "every position has a language embedding, where the paper puts a language token after the text",
        "tokenizer": "whole words, not pieces that languages share",
    },
    data="Common Crawl in 25 languages",
    published=(
        PublishedSize("mBART large", MBART_LARGE, 250_027, 611e6, "released weights; sec. 2.1 says about 680M"),
    ),
    model=tiny(MBART_LARGE, languages=2),
    objective=MULTILINGUAL_DENOISING,
)
