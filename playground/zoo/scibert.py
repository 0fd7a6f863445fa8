"""SciBERT: BERT trained from nothing on the papers of science, with a vocabulary of its own."""

from playground.models import tiny
from playground.objectives.catalog.bert import MLM_AND_NSP
from playground.zoo.bert import BERT_BASE
from playground.zoo.entry import Entry, PublishedSize

SCIBERT = Entry(
    name="SciBERT",
    year=2019,
    paper="arXiv:1903.10676",
    idea="A field has words and phrases of its own; a model that reads only that field knows them better.",
    parent="BERT",
    changed="Scientific papers instead of books, and a vocabulary learned from them.",
    corpus="kinds(tokenizer=wordpiece, vocab_size=260)",
    unlike_paper={
        "data": "statements about what things are and have represent science; of other texts the vocabulary has only "
        "single letters",
    },
    data="1.14 million papers of Semantic Scholar, four fifths of them on biology and medicine",
    published=(
        PublishedSize("SciBERT", BERT_BASE, 31_090, 110e6, "BERT's number, whose architecture it has (sec. 2)"),
    ),
    model=tiny(BERT_BASE),
    objective=MLM_AND_NSP,
)
