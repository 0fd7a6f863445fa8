"""XLNet: one network, every order of prediction, two streams."""

from dataclasses import replace

from playground.models import Architecture, tiny
from playground.objectives.catalog.plm import PLM_ON_PAIRS
from playground.zoo.entry import Entry, PublishedSize

XLNET_BASE = Architecture(
    layers=12,
    width=768,
    heads=12,
    positions="relative",
    norm_first=False,
    norm_eps=1e-12,
    dropout=0.1,
    init="normal",
    segments=2,
    two_streams=True,
    mem_len=384,
)
"""Transformer-XL's attention with two streams and relative segments (sec. 2.3-2.5 and released code)."""

WHERE = "released weights; the paper says as large as BERT"

XLNET = Entry(
    name="XLNet",
    year=2019,
    paper="arXiv:1906.08237",
    idea="Predict words in random orders, so that both sides are used without a [MASK] token.",
    parent="BERT",
    changed="A random order instead of gaps; a query stream that knows the position but not the word.",
    aliases=("XLNet base", "XLNet large"),
    unlike_paper={
        "order": "[SEP] and [CLS] are always known, where the released code draws when they come",
        "halves": "the first half of a row may have more targets than the second, or fewer",
    },
    data="BooksCorpus, English Wikipedia, Gigaword, ClueWeb and Common Crawl",
    printed={"objective": "PLM", "stacks": "decoder", "task": "PLM", "GLUE": "90.5, an ensemble", "FT": "yes"},
    published=(
        PublishedSize("XLNet large", replace(XLNET_BASE, layers=24, width=1024, heads=16), 32_000, 360e6, WHERE),
        PublishedSize("XLNet base", XLNET_BASE, 32_000, 117e6, WHERE),
    ),
    model=tiny(XLNET_BASE, mem_len=32),
    objective=PLM_ON_PAIRS,
)
