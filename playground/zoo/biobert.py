"""BioBERT: BERT that goes on to read biology and medicine."""

from playground.models import Architecture
from playground.objectives.catalog.mlm import MLM
from playground.zoo.bert import BERT_BASE
from playground.zoo.entry import Entry, Published

BIOBERT = Entry(
    name="BioBERT",
    year=2019,
    paper="arXiv:1901.08746",
    idea="Let a trained BERT read on in another field; it keeps the language and learns the facts of the field.",
    parent="BERT",
    changed="A second stage of the same training, on texts of biology and medicine.",
    corpus="facts",
    unlike_paper={
        "mask_ratio": "30 % of the words hidden, not 15 %, as for BERT here",
        "next sentence prediction": "no next sentence prediction, and so no [CLS], no [SEP] and no segments",
        "stages": "the second stage alone, from first weights at random, where the paper begins with those of BERT",
        "data": "facts on people and towns stand for those of biology",
    },
    data="abstracts of PubMed and articles of PMC, after BERT's texts",
    published=(
        Published("BioBERT", BERT_BASE, 28_996, 110e6, "BERT's number, from whose weights it begins (sec. 3.2)"),
    ),
    model=Architecture(),
    objective=MLM.turn({"mask_ratio": 0.3}),
)
