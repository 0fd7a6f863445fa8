"""BERT: a stack that looks both ways, trained to fill gaps."""

from playground.models import Architecture
from playground.objectives.catalog.mlm import MLM
from playground.zoo.entry import Entry

BERT = Entry(
    name="BERT",
    year=2018,
    paper="arXiv:1810.04805",
    idea="Hide some words and use both sides to guess them.",
    parent="GPT",
    changed="Looks both ways; fills gaps.",
    unlike_paper={
        "mask_ratio": "30 % of the words hidden, not 15 %, for tiny models learn sooner so",
        "next sentence prediction": "no next sentence prediction, and so no [CLS], no [SEP] and no segments; the "
        "objective 'MLM + NSP' has them",
    },
    model=Architecture(),
    objective=MLM.turn({"mask_ratio": 0.3}),
)
