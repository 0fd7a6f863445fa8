"""BART: spoil a text, let an encoder read it and a decoder write it again."""

from dataclasses import replace

from playground.models import tiny
from playground.objectives.catalog.bart import BART_MIXTURE
from playground.zoo.bert import BERT_BASE
from playground.zoo.entry import Entry, PublishedSize

BART_LARGE = replace(
    BERT_BASE,
    decoder_layers=12,
    width=1024,
    heads=16,
    max_position_embeddings=1024,
    segments=0,
    norm_eps=1e-5,
    head_transform=False,
    labels=(),
)
"""BERT's parts without the layer in front of the scores (sec. 2.1)."""

BART = Entry(
    name="BART",
    year=2019,
    paper="arXiv:1910.13461",
    idea="Corrupt a text with gaps of unknown length and shuffled sentences, and generate the original.",
    parent="BERT",
    changed="A decoder writes the whole text, so the network can also generate.",
    aliases=("BART base", "BART large"),
    data="as RoBERTa: books, English Wikipedia, news, web texts and stories",
    printed={"objective": "Text Infilling & Sent Shuffling", "task": "DAE", "GLUE": "88.4, without WNLI", "FT": "yes"},
    published=(PublishedSize("BART large", BART_LARGE, 50_265, 406e6, "released code"),),
    model=tiny(BART_LARGE),
    objective=BART_MIXTURE,
)
