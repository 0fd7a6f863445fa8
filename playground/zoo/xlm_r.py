"""XLM-R: RoBERTa for 100 languages, on much more text than Wikipedia has."""

from dataclasses import replace

from playground.models import tiny
from playground.objectives.catalog.xlm_r import MULTILINGUAL_MLM
from playground.zoo.entry import Entry, PublishedSize
from playground.zoo.mbert import NATURAL, sampled
from playground.zoo.roberta import ROBERTA_BASE

XLM_R = Entry(
    name="XLM-R",
    year=2019,
    paper="arXiv:1911.02116",
    idea="With enough text of each language, hidden words alone teach what languages have in common.",
    parent="XLM",
    changed="No translations, no vectors for languages, far more text; small languages are sampled more often "
    "(exponent 0.3).",
    corpus=f"bilingual(second={sampled(NATURAL, 0.3)})",
    aliases=("XLM-RoBERTa", "XLM-R base", "XLM-R large"),
    unlike_paper={
        "special tokens": "no special tokens at the beginning and end of a row",
        "tokenizer": "whole words, not pieces that languages share",
    },
    data="Common Crawl in 100 languages, 2.5 TB",
    published=(
        PublishedSize("XLM-R base", ROBERTA_BASE, 250_002, 278e6, "released weights; sec. 3 says 270M"),
        PublishedSize(
            "XLM-R large",
            replace(ROBERTA_BASE, layers=24, width=1024, heads=16),
            250_002,
            560e6,
            "released weights; sec. 3 says 550M",
        ),
    ),
    model=tiny(ROBERTA_BASE),
    objective=MULTILINGUAL_MLM,
)
