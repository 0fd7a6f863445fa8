"""SpanBERT: hide spans of words, and guess each word also from the two words around its span."""

from dataclasses import replace

from playground.models import tiny
from playground.objectives.catalog.spanbert import SPAN_BOUNDARY
from playground.zoo.bert import BERT_BASE
from playground.zoo.entry import Entry, PublishedSize

SPANBERT_BASE = replace(BERT_BASE, labels=())
"""BERT without the label of a pair (sec. 3.3); released in both of BERT's sizes, with its vocabulary of both cases."""

WHERE = "released weights, without the head for spans; the paper states no number"

SPANBERT = Entry(
    name="SpanBERT",
    year=2019,
    paper="arXiv:1907.10529",
    idea="Hide whole spans; predict the words inside from the words at the two ends.",
    parent="BERT",
    changed="Spans instead of single words, one long text instead of two, and a second prediction from a span's ends.",
    aliases=("SpanBERT base", "SpanBERT large"),
    unlike_paper={"segments": "no [CLS], no [SEP] and no segments"},
    data="BooksCorpus and English Wikipedia",
    published=(
        PublishedSize("SpanBERT large", replace(SPANBERT_BASE, layers=24, width=1024, heads=16), 28_996, 334e6, WHERE),
        PublishedSize("SpanBERT base", SPANBERT_BASE, 28_996, 108e6, WHERE),
    ),
    model=tiny(SPANBERT_BASE, segments=0, sbo_head=True),
    objective=SPAN_BOUNDARY,
)
