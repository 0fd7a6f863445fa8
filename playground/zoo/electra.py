"""ELECTRA: a small generator forges words, the model finds the forgeries."""

from playground.models import Architecture
from playground.objectives.family.rtd import RTD
from playground.zoo.entry import Entry

ELECTRA = Entry(
    name="ELECTRA",
    year=2020,
    paper="arXiv:2003.10555",
    idea="Tell forged words from original ones, so that every position teaches.",
    parent="BERT",
    changed="Asks 'original or replaced?' everywhere instead of 'which word?' at the gaps. Here the loss counts "
    "20 times, not 50, and the generator has half the width; all embeddings are shared, as published.",
    model=Architecture(detects=True, generator_share=0.5, tied="embeddings"),
    objective=RTD.turn({"weight": 20.0, "rate": 0.3}),
)
