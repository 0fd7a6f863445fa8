"""BioBERT: BERT that goes on to read biology and medicine."""

from playground.models import tiny
from playground.objectives.catalog.bert import MLM_AND_NSP
from playground.objectives.catalog.mlm import MLM
from playground.zoo.bert import BERT_BASE
from playground.zoo.entry import Entry, PublishedSize
from playground.zoo.phase import Phase

BIOBERT = Entry(
    name="BioBERT",
    year=2019,
    paper="arXiv:1901.08746",
    idea="Continue training BERT on texts of another field; it keeps its general language and learns the field.",
    parent="BERT",
    changed="A second stage of the same training, on texts of biology and medicine.",
    corpus="facts",
    unlike_paper={
        "next sentence prediction": "trained on general text only, because the facts are single sentences without "
        "neighbours",
        "data": "facts about people and towns represent those of biology",
    },
    data="abstracts of PubMed and articles of PMC, after BERT's texts",
    published=(
        PublishedSize("BioBERT", BERT_BASE, 28_996, 110e6, "BERT's number, from whose weights it begins (sec. 3.2)"),
    ),
    model=tiny(BERT_BASE),
    objective=MLM,
    phases=(
        Phase("general text", 0.5, "BERT is pre-trained as before.", MLM_AND_NSP, "world"),
        Phase("domain text", 0.5, "Pre-training continues on texts of the domain."),
    ),
)
