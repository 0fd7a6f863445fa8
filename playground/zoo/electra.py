"""ELECTRA: a small generator forges words, the model finds the forgeries."""

from playground.models import Architecture
from playground.objectives.catalog.rtd import RTD
from playground.zoo.entry import Entry

ELECTRA = Entry(
    name="ELECTRA",
    year=2020,
    paper="arXiv:2003.10555",
    idea="Tell forged words from original ones, so that every position teaches.",
    parent="BERT",
    changed="Asks 'original or replaced?' everywhere instead of 'which word?' at the gaps.",
    unlike_paper={
        "weight": "the detector's loss counted 20 times, not 50",
        "mask_ratio": "30 % of the words hidden, not 15 %",
        "generator_ratio": "a generator of half the width, where the small model's has a quarter",
        "segments": "no [CLS], no [SEP] and no segments",
    },
    model=Architecture(rtd_head=True, generator_ratio=0.5, tie_generator="embeddings"),
    objective=RTD.turn({"weight": 20.0, "mask_ratio": 0.3}),
)
