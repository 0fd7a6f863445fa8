"""MASS: an encoder reads a text with a long gap, a decoder writes what is missing."""

from dataclasses import replace

from playground.models import tiny
from playground.objectives.catalog.span_mask import SPAN_MASK
from playground.zoo.bert import BERT_BASE
from playground.zoo.entry import Entry, PublishedSize

MASS_BASE = replace(
    BERT_BASE,
    layers=6,
    decoder_layers=6,
    segments=0,
    norm_eps=1e-5,
    head_transform=False,
    lm_head_bias=False,
    labels=(),
)
"""The released model for English: an encoder and a decoder of six layers each."""

MASS = Entry(
    name="MASS",
    year=2019,
    paper="arXiv:1905.02450",
    idea="Hide half of a sentence in one piece; the decoder writes it and so depends on what the encoder reads.",
    parent="BERT",
    changed="A decoder writes the hidden span word by word, and sees the rest of the text only through the encoder.",
    aliases=("MASS base",),
    unlike_paper={
        "data": "texts of one language, where the models for translation read two and have a vector for each",
        "special tokens": "no special tokens at the beginning and end of a row",
    },
    data="WMT News Crawl; for the released model of English Wikipedia and books",
    printed={"objective": "Span Mask", "task": "Seq2Seq MLM", "FT": "yes"},
    published=(PublishedSize("MASS base", MASS_BASE, 30_522, 123e6, "released code"),),
    model=tiny(MASS_BASE),
    objective=SPAN_MASK,
)
