"""BERT: a stack that looks both ways, trained to fill gaps."""

from playground.models import Architecture
from playground.objectives.family.mlm import MLM
from playground.zoo.entry import Entry

BERT = Entry(
    name="BERT",
    year=2018,
    paper="arXiv:1810.04805",
    idea="Hide some words and use both sides to guess them.",
    parent="GPT",
    changed="Looks both ways; fills gaps. Here 30 % are hidden, not 15 %: tiny models learn sooner so.",
    model=Architecture(),
    objective=MLM.turn({"rate": 0.3}),
)
