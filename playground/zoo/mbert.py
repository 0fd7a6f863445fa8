"""mBERT: one BERT for 104 languages, which never learns that they have anything in common."""

from playground.models import tiny
from playground.objectives.catalog.bert import MLM_AND_NSP
from playground.zoo.bert import BERT_BASE
from playground.zoo.entry import Entry, PublishedSize

NATURAL = 0.2
"""The share of the second language, were its texts taken as they are."""


def sampled(share: float, exponent: float) -> float:
    """The share of the smaller of two languages when texts are drawn by their shares to the power of an exponent."""
    small, large = share**exponent, (1 - share) ** exponent
    return round(small / (small + large), 2)


MBERT = Entry(
    name="mBERT",
    year=2018,
    paper="Devlin 2018, Multilingual BERT, released with BERT's code",
    idea="Train one BERT on texts of many languages; what it learns in one helps in others without any translation.",
    parent="BERT",
    changed="One vocabulary and one network for 104 languages; small ones are drawn more often (exponent 0.7).",
    corpus=f"bilingual(second={sampled(NATURAL, 0.7)})",
    aliases=("multilingual BERT", "BERT multilingual"),
    unlike_paper={
        "tokenizer": "whole words, not pieces that languages share",
    },
    data="Wikipedia in 104 languages, small ones drawn more often than their share",
    published=(
        PublishedSize("mBERT", BERT_BASE, 119_547, 178e6, "released weights; its page says 110M, which is BERT's"),
    ),
    model=tiny(BERT_BASE),
    objective=MLM_AND_NSP,
)
