"""ERNIE (Baidu): hide whole phrases and whole names, so that knowledge must bring them back."""

from dataclasses import replace

from playground.models import Architecture
from playground.objectives.catalog.ernie import ERNIE as OBJECTIVE
from playground.zoo.bert import BERT_BASE
from playground.zoo.entry import Entry, Published

ERNIE_BASE = replace(BERT_BASE, activation="relu", max_position_embeddings=513)
"""BERT with the activation and the positions of the released code."""

ERNIE = Entry(
    name="ERNIE",
    year=2019,
    paper="arXiv:1904.09223",
    idea="Hide a name or a phrase as a whole, so that its other words cannot give it away.",
    parent="BERT",
    changed="What is hidden together is a unit of meaning: a word, a phrase or a name.",
    aliases=("ERNIE (Baidu)", "ERNIE 1.0"),
    unlike_paper={
        "stages": "words, phrases and names are drawn in one step, where the paper trains one after another",
        "next sentence prediction": "one text at a time, so no [CLS], no [SEP], no segments and no dialogues, for "
        "which the paper tells real answers from random ones",
    },
    data="Chinese Wikipedia, Baidu Baike, Baidu news and dialogues of Baidu Tieba",
    published=(Published("ERNIE 1.0", ERNIE_BASE, 18_000, 100e6, "released weights; the paper states no number"),),
    model=Architecture(),
    objective=OBJECTIVE,
)
